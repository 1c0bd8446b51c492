import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";

const scenario = "announced-endpoints";

test("explain shows the checks of the given endpoint, and by default of the first released one", async () => {
  const explained = async (...flags: string[]) => {
    const { stdout } = await runCli(["explain", "wrong-scope", "key-states", "--json", ...flags]);
    const { method, path, outcome, why } = JSON.parse(stdout);
    return [method, path, outcome, why];
  };
  expect(await explained()).toEqual([
    "GET",
    "/v1/relying-party/me",
    "403.insufficient_scope",
    "needs attestations:read, has consents:read",
  ]);
  expect(await explained("--endpoint", "getRelyingPartyContext")).toEqual(await explained());
  const { stdout } = await runCli(["explain", "none", scenario, "--endpoint", "createConsentRequest"]);
  expect(stdout).toMatch(/^POST \/v1\/relying-party\/consent-requests with no key/m);
});

test("explain asks a running sandbox about an endpoint, by its flag or its variable", async () => {
  const { url, controlUrl, sandbox } = await served({ scenario });
  const explained = async (word: string, flags: string[], env = {}) => {
    const argv = ["explain", word, "--endpoint", "createConsentRequest", "--json", ...flags];
    const { url: from, key, method, path, outcome, why } = JSON.parse((await runCli(argv, { env })).stdout);
    return { from, key, method, path, outcome, why };
  };
  const call = { from: url, method: "POST", path: "/v1/relying-party/consent-requests", why: null };
  const right = { ...call, key: "lending", outcome: "201.createConsentRequest" };
  expect(await explained("lending", ["--url", url])).toEqual(right);
  expect(await explained(sandbox.secret("lending"), [], { SVC_CONTROL_URL: controlUrl })).toEqual(right);
  const narrow = await explained("statistics", ["--url", url]);
  expect(narrow).toMatchObject({ outcome: "403.insufficient_scope", why: expect.stringMatching(/consents/) });
  sandbox.keys.revoke("lending");
  expect(await explained("lending", ["--url", url])).toMatchObject({ outcome: "401.revoked" });
  const none = { ...call, key: null, outcome: "401.missing" };
  expect(await explained("none", ["--url", url])).toEqual(none);
  const misspelt = await runCli(["explain", "none", "--endpoint", "createConsent", "--url", url, "--json"]);
  expect([misspelt.code, JSON.parse(misspelt.stderr).error.code]).toEqual([2, "unknown_ref"]);
});

test("keys lists the response of each key at the given endpoint", async () => {
  const outcomes = async (...flags: string[]) => {
    const { stdout } = await runCli(["keys", scenario, "--format", "json", ...flags]);
    return new Set(JSON.parse(stdout).map((row: { outcome: string }) => row.outcome));
  };
  expect(await outcomes()).not.toContain("200.listAttestations");
  expect(await outcomes("--endpoint", "listAttestations")).toContain("200.listAttestations");
});
