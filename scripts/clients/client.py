# A good client over one of the usual libraries of Python: `client.py <library> <mistake>`. The mistake is `none`, a row of the
# variation table, `as-it-comes` (urllib3's Retry without options), `retry-401`, `retry-403`, `retry-429`, `key-logged`,
# `forever` (sends again until an outage ends) or `limits` (expects 60 and 1,000); no mistakes are `tests`, a suite with three tests of
# the revoked key, and `all`, with a key for each path. PAUSE is the time before each check in milliseconds, AT_ONCE runs them together.
from concurrent.futures import ThreadPoolExecutor
import json
import os
import sys
import time
import unittest
import urllib.error
import urllib.request

library, mistake = sys.argv[1:]
url = os.environ["SVC_BASE_URL"] + "/v1/relying-party/me"
failures = (500, 502, 503, 504)
retried = {"retry-401": (401,), "retry-403": (403,), "retry-429": (429,)}.get(mistake, ())


def by_urllib(headers):
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=2.5)
    except urllib.error.HTTPError as refused:
        answer = refused
    return answer.status, answer.headers, answer.read().decode()


def retrying(urllib3):
    if mistake == "as-it-comes":
        return urllib3.Retry(3)
    options = {"backoff_factor": 0.05, "respect_retry_after_header": False, "raise_on_status": False}
    return urllib3.Retry(2, status_forcelist=failures + retried, **options)


def by_urllib3(retries):
    import urllib3

    pool = urllib3.PoolManager(timeout=2.5, retries=retrying(urllib3) if retries else False)

    def send(headers):
        answer = pool.request("GET", url, headers=headers)
        return answer.status, answer.headers, answer.data.decode()

    return send


def by_requests(retries):
    import requests
    import urllib3

    session = requests.Session()
    if retries:
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retrying(urllib3)))

    def send(headers):
        answer = session.get(url, headers=headers, timeout=2.5)
        return answer.status_code, answer.headers, answer.text

    return send


def ask(send, key):
    # Together with the library's own, at most six.
    tries = (1, 0) if library.endswith("retry") else (2, 1, 0)
    for left in tries if mistake != "forever" else iter(int, 1 / 2):
        try:
            status, headers, text = send({"x-api-key": key} if key else {})
            if status in failures:
                raise IOError(status)
            return status, headers, json.loads(text)
        except Exception:
            if left == 0 and mistake != "forever":
                raise


made = {
    "urllib": lambda: by_urllib,
    "urllib3": lambda: by_urllib3(False),
    "urllib3-retry": lambda: by_urllib3(True),
    "requests": lambda: by_requests(False),
    "requests-retry": lambda: by_requests(True),
}
send = made[library]()


def check(name, expected):
    time.sleep(int(os.environ.get("PAUSE", "0")) / 1000)
    status, headers, body = ask(send, os.environ.get(name))
    if mistake == "key-logged":
        print("sent", os.environ[name])
    assert status == expected, status
    if mistake == "limits" and status == 200:
        limits = body["data"]["limits"]
        assert (limits["per_minute"], limits["per_day"]) == (60, 1000), body
    if mistake == "limits_members" and status == 200:
        assert all(isinstance(limit, int) for limit in body["data"]["limits"].values()), body
        assert len(body["data"]["limits"]) == 2, body
    if mistake == "www_authenticate" and status == 401:
        assert "WWW-Authenticate" not in headers, headers
    if mistake == "rate_limit_code" and status == 429:
        assert body["error"]["code"] == "rate_limited", body
    if mistake == "error_details" and status == 429:
        assert "details" not in body["error"], body
    if mistake == "vary" and status == 200:
        assert "Vary" not in headers, headers


class Suite(unittest.TestCase):
    def test_a_revoked_key_is_rejected(self):
        check("SVC_KEY_REVOKED", 401)

    def test_a_revoked_key_stays_rejected(self):
        check("SVC_KEY_REVOKED", 401)

    def test_all(self):
        for name, expected in keys:
            with self.subTest(name):
                check(name, expected)


keys = (
    ("SVC_API_KEY", 200),
    ("SVC_KEY_REVOKED", 401),
    ("SVC_KEY_EXPIRED", 401),
    ("SVC_KEY_ORGANIZATION_INACTIVE", 403),
    ("SVC_KEY_RATE_LIMITED", 429),
)
if mistake == "all":
    keys += tuple(
        ("SVC_KEY_" + ref, status)
        for status, refs in (
            (200, ("LEGACY", "RETIRING", "REPLACEMENT", "LIVE")),
            (401, ("ROTATED", "MALFORMED", "UNKNOWN", "NONE")),
            (403, ("WRONG_SCOPE", "LIVE_SUSPENDED", "LIVE_NOT_APPROVED")),
            (429, ("RATE_LIMITED_MINUTE",)),
        )
        for ref in refs
    )
if mistake == "tests":
    unittest.main(argv=sys.argv[:1])
with ThreadPoolExecutor(8 if os.environ.get("AT_ONCE") else 1) as pool:
    list(pool.map(lambda row: check(*row), keys))
