import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";

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

test("keys lists the response of each key at the given endpoint", async () => {
  const outcomes = async (...flags: string[]) => {
    const { stdout } = await runCli(["keys", scenario, "--format", "json", ...flags]);
    return new Set(JSON.parse(stdout).map((row: { outcome: string }) => row.outcome));
  };
  expect(await outcomes()).not.toContain("200.listAttestations");
  expect(await outcomes("--endpoint", "listAttestations")).toContain("200.listAttestations");
});
