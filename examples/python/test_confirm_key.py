import unittest

from confirm_key import confirm_key
from sandbox import Sandbox


class ConfirmKey(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox("key-states")
        cls.addClassCleanup(cls.sandbox.close)

    def setUp(self):
        self.sandbox.reset()

    def confirm(self, ref):
        # Moves the sandbox's clock instead of waiting.
        return confirm_key(self.sandbox.base_url, self.sandbox.keys[ref], wait=self.sandbox.advance)

    def test_a_good_key_is_confirmed(self):
        confirmed = self.confirm("active")
        self.assertEqual(confirmed["result"], "confirmed")
        # Use the id and the type: the name may change.
        self.assertEqual(confirmed["organization"]["type"], "bank")
        self.assertEqual((confirmed["environment"], confirmed["usage"]["today"]), ("test", 1))

    def test_a_key_that_has_ended_is_rejected_and_sent_once(self):
        for ref in ("revoked", "expired", "rotated"):
            with self.subTest(ref):
                self.assertEqual(self.confirm(ref), {"result": "rejected"})
                self.assertEqual(self.sandbox.statuses(ref), [401])

    def test_a_key_that_may_not_is_refused_with_a_code(self):
        codes = {
            "wrong-scope": "insufficient_scope",
            "live-not-approved": "live_access_not_approved",
            "live-suspended": "live_access_not_approved",
            "organization-inactive": "access_denied",
        }
        for ref, code in codes.items():
            with self.subTest(ref):
                self.assertEqual(self.confirm(ref), {"result": "refused", "code": code})

    def test_a_used_up_minute_is_waited_for(self):
        self.assertEqual(self.confirm("rate-limited-minute")["result"], "confirmed")
        self.assertEqual(self.sandbox.statuses("rate-limited-minute"), [429, 200])

    def test_a_limit_that_stays_used_up_ends_the_attempts(self):
        self.assertEqual(self.confirm("rate-limited"), {"result": "limited"})
        self.assertEqual(self.sandbox.statuses("rate-limited"), [429, 429, 429])

    def test_a_key_ends_when_its_overlap_does(self):
        self.assertEqual(self.confirm("retiring")["result"], "confirmed")
        self.sandbox.advance(31 * 60)
        self.assertEqual(self.confirm("retiring"), {"result": "rejected"})


if __name__ == "__main__":
    unittest.main()
