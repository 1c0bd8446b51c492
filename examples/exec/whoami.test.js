// One test for each path that the API promises. Run them with a sandbox: npm run test:sandbox
import { setTimeout } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";

const { env } = process;
if (env.SVC_BASE_URL === undefined)
  throw new Error("These tests need a sandbox. Run them with: npm run test:sandbox");

/** Use your client here. It tries again after an outage, with pauses or when the API says, and never after a rejection. */
async function whoami(key) {
  const headers = key === undefined ? {} : { "x-api-key": key };
  for (let pause = 1000; ; pause *= 2) {
    let wait = pause;
    try {
      const signal = AbortSignal.timeout(3000);
      const response = await fetch(`${env.SVC_BASE_URL}/v1/relying-party/me`, { headers, signal });
      wait = timeToWait(response.headers) ?? pause;
      const body = await response.json();
      if (response.status < 500) return { status: response.status, ...body };
      throw new Error(`The API returned ${response.status}.`);
    } catch (error) {
      if (pause > 2000) throw error;
      await setTimeout(wait);
    }
  }
}

/** Milliseconds from `Retry-After`, which may be absent, a number of seconds, or a date. */
function timeToWait(headers) {
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  return /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(headers.get("date"));
}

/** Calls the sandbox's control plane. */
async function control(method, call) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(env.SVC_CONTROL_URL + call, { method, headers });
  return response.json();
}

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

test.each(rows)(
  "the key %s gets %i",
  async (ref, status, word) => {
    const response = await whoami(env[`SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`]);
    expect(response.status).toBe(status);
    if (word !== null) expect(response.data?.environment ?? response.error.code).toBe(word);
    // One request, or one after each fault.
    expect((await control("GET", "/requests?faults=false")).data).toHaveLength(1);
  },
  20_000,
);
