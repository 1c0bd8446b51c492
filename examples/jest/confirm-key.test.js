const { createSandbox } = require("svc-sandbox");
const { confirmKey } = require("./confirm-key.js");

const baseUrl = "https://api.example";
// Frozen: the clock moves only when a test moves it.
const sandbox = createSandbox({ scenario: "key-states", frozen: true });

beforeEach(() => sandbox.reset());

/** Moves the sandbox's clock instead of waiting. */
const wait = async (milliseconds) => void sandbox.clock.advance(milliseconds);

const confirm = (apiKey) => confirmKey({ baseUrl, apiKey, wait, fetch: sandbox.fetch });

test("a good key is confirmed", async () => {
  expect(await confirm(sandbox.secret("active"))).toMatchObject({
    result: "confirmed",
    organization: { name: "Harvest Cooperative Bank", type: "bank" },
    environment: "test",
    usage: { today: 1 },
  });
});

test.each(["revoked", "expired", "rotated"])("a key that is %s is rejected, and sent once", async (ref) => {
  expect(await confirm(sandbox.secret(ref))).toEqual({ result: "rejected" });
  expect(sandbox.requests.total()).toBe(1);
});

test.each([
  ["wrong-scope", "insufficient_scope"],
  ["live-not-approved", "live_access_not_approved"],
  ["live-suspended", "live_access_not_approved"],
  ["organization-inactive", "access_denied"],
])("the key %s gets %s", async (ref, code) => {
  expect(await confirm(sandbox.secret(ref))).toEqual({ result: "refused", code });
});

test("after a 429 the client waits for the next minute", async () => {
  expect(await confirm(sandbox.secret("rate-limited-minute"))).toMatchObject({ result: "confirmed" });
  expect(sandbox.requests.list().map(({ status }) => status)).toEqual([429, 200]);
});

test("the client gives up when the limit stays used up", async () => {
  expect(await confirm(sandbox.secret("rate-limited"))).toEqual({ result: "limited" });
  expect(sandbox.requests.total()).toBe(3);
});

test("after a rotation both keys work until the overlap ends", async () => {
  const { secret } = sandbox.keys.rotate("active", { overlap: "60m" });
  expect(await confirm(sandbox.secret("active"))).toMatchObject({ result: "confirmed" });
  sandbox.clock.advance("61m");
  expect(await confirm(sandbox.secret("active"))).toEqual({ result: "rejected" });
  expect(await confirm(secret)).toMatchObject({ result: "confirmed" });
});
