// One test for each outcome that the API promises: put your client in place of whoami. Without exec, they start a sandbox of their own.
// Install: npm install --save-dev jest ./svc-sandbox-*.tgz   (the file of npm pack: there is no release yet)
// Run:     npx --no-install svc-sandbox exec key-states --fail-on warning -- npx jest
// Script:  "test:sandbox": "svc-sandbox exec key-states --fail-on warning -- jest"   (for package.json)
const { env } = process;
let own;

beforeAll(async () => {
  if (env.SVC_BASE_URL !== undefined) return;
  const { startServer } = require("svc-sandbox/node");
  own = await startServer({ scenario: "key-states" });
});
afterAll(() => own?.close());

/** The key of a ref: `none` is no key. */
const keyOf = (ref) => {
  if (own === undefined) return env[`SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`];
  return ref === "none" ? undefined : own.sandbox.secret(ref);
};

/**
 * Use your client here. After a rejection it stops. After a 429 it waits and sends once more, if its caller can wait: a second
 * 429, or a longer wait, is the day's limit, and it stops. After an outage it tries again, with pauses or when the API says.
 */
async function whoami(key, sleep, canWait = true) {
  const headers = key === undefined ? {} : { "x-api-key": key };
  for (let outages = 0, limits = 0; ; ) {
    let after;
    try {
      const signal = AbortSignal.timeout(3000);
      const response = await fetch(`${own?.url ?? env.SVC_BASE_URL}/v1/relying-party/me`, {
        headers,
        signal,
      });
      after = timeToWait(response.headers);
      const body = await response.json();
      if (response.status >= 500) throw new Error(`The API returned ${response.status}.`);
      after ??= 60_000;
      if (response.status !== 429 || !canWait || ++limits === 2 || after > 120_000) {
        return { status: response.status, ...body };
      }
    } catch (error) {
      if (++outages === 3) throw error;
      after ??= 1000 * outages;
    }
    await sleep(after);
  }
}

/** Milliseconds from `Retry-After`, which may be absent, a number of seconds, or a date. */
function timeToWait(headers) {
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  return /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(headers.get("date"));
}

/** Calls the sandbox's control plane. */
async function control(method, call, body = {}) {
  const headers = { "content-type": "application/json" };
  const init = method === "GET" ? { headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch((own?.controlUrl ?? env.SVC_CONTROL_URL) + call, init);
  return response.json();
}

/** Moves the sandbox's clock instead of waiting. Your client has a real pause. */
const sleep = (ms) => control("POST", "/clock/advance", { by: `${ms}ms` });

/** Each key of the scenario, with its status, and its environment or its error. The specification leaves the code of a 429 open. */
const rows = [
  ["active", 200, "test"],
  ["live", 200, "live"],
  ["legacy", 200, "test"],
  ["retiring", 200, "test"],
  ["replacement", 200, "test"],
  ["none", 401, "unauthorized"],
  ["malformed", 401, "unauthorized"],
  ["unknown", 401, "unauthorized"],
  ["revoked", 401, "unauthorized"],
  ["expired", 401, "unauthorized"],
  ["rotated", 401, "unauthorized"],
  ["organization-inactive", 403, "access_denied"],
  ["live-not-approved", 403, "live_access_not_approved"],
  ["live-suspended", 403, "live_access_not_approved"],
  ["wrong-scope", 403, "insufficient_scope"],
  ["rate-limited-minute", 429, null],
  ["rate-limited", 429, null],
];

beforeEach(() => control("POST", "/reset"));

/** The status of each request: a retry after a fault is no other one. */
async function statuses() {
  return (await control("GET", "/requests?faults=false")).data.map((request) => request.status);
}

test.each(rows)(
  "the key %s gets %i",
  async (ref, status, word) => {
    const response = await whoami(keyOf(ref), sleep, status !== 429);
    expect(response.status).toBe(status);
    if (word !== null) expect(response.data?.environment ?? response.error.code).toBe(word);
    expect((await statuses()).length).toBeLessThanOrEqual(1);
  },
  20_000,
);

test("a used-up minute is waited for", async () => {
  expect((await whoami(keyOf("rate-limited-minute"), sleep)).status).toBe(200);
  expect(await statuses()).toEqual([429, 200]);
}, 20_000);

test("a key that has worked works in the next test", async () => {
  expect((await whoami(keyOf("active"), sleep)).status).toBe(200);
}, 20_000);
