// One test for each of the 17 paths. Run them with a sandbox: svc-sandbox exec key-states -- npx vitest run
import { expect, test } from "vitest";

const { env } = process;

/** Use your client here. */
async function whoami(key) {
  const headers = key === undefined ? {} : { "x-api-key": key };
  return fetch(`${env.SVC_BASE_URL}/v1/relying-party/me`, { headers });
}

test.each([
  ["active", 200, "test"],
  ["live", 200, "live"],
  ["legacy", 200, "test"],
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
  // The specification leaves the code of a 429 open.
  ["rate-limited-minute", 429],
  ["rate-limited", 429],
  // Send the old key before its replacement: a client that sends it later still uses it.
  ["retiring", 200, "test"],
  ["replacement", 200, "test"],
])("the key %s gets %i", async (ref, status, word) => {
  const response = await whoami(env[`SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`]);
  expect(response.status).toBe(status);
  const { data, error } = await response.json();
  if (word !== undefined) expect(data?.environment ?? error.code).toBe(word);
});
