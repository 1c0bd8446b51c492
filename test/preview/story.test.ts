import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, parseScenario } from "../../src/index.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const head = `
version: 1
preview: true
clock: { now: 2026-03-02T09:00:00Z, frozen: true }
population: { farmers: 10 }
organizations:
  bank: { type: bank, keys: { main: { environment: test, scopes: [attestations:read, consents:read, consents:write] } } }
  insurer: { type: insurer, keys: { other: { environment: test, scopes: [attestations:read, consents:read] } } }
`;
const ask = (permissions = "[land]") => `
  - request:
      method: POST
      path: /v1/relying-party/consent-requests
      body: { farmer_id: "{farmer.2}", purpose: { code: monitoring, text: Why. }, permissions: ${permissions} }
    expect: { status: 201, path: 201.createConsentRequest }`;

/** Runs a story as a test; answers its exit code and what was printed. */
async function verify(story: string): Promise<readonly [code: number | null, text: string]> {
  const file = join(temporaryFolder(), "story.yaml");
  writeFileSync(file, story);
  const { code, stdout, stderr } = await runCli(["verify", file]);
  return [code, stdout + stderr];
}

test("a farmer of a story decides about the newest request that allows it, and is refused without one", async () => {
  const status = (consent: number, expected: string) => `
  - request: { path: "/v1/relying-party/consent-requests/{consent.${consent}}" }
    expect: { status: 200, body: { data: { status: ${expected} } } }`;
  const [code, text] = await verify(`${head}story:
  - consent: { farmer: 2, do: grant }
    expect: { error: consent_not_open }
${ask()}
${ask()}
  - consent: { farmer: 2, do: grant, organization: insurer }
    expect: { error: consent_not_open }
  - consent: { farmer: 2, do: grant, organization: bank }
${status(1, "pending")}
${status(2, "granted")}
  - consent: { farmer: 2, do: reject }
${status(1, "rejected")}
  - consent: { farmer: 2, do: reject }
    expect: { error: consent_not_open }
  - consent: { farmer: 2, do: revoke }
${status(2, "revoked")}
`);
  expect([code, text]).toEqual([0, expect.any(String)]);
});

test("the path and the body of a request name farmers, consents and attestations by their number", async () => {
  const [code, text] = await verify(`${head}story:${ask("[land, loans]")}
  - consent: { farmer: 2, do: grant }
  - advance: 1m
  - request: { path: "/v1/relying-party/attestations/{attestation.2}?x={consent.1}" }
    expect: { path: 200.getAttestation, body: { data: { type: loans, validity: active } } }
  - request: { path: "/v1/relying-party/attestations?consent_request_id={consent.1}&limit=1" }
    expect: { path: 200.listAttestations, body: { page: { total: 2 } } }
  - request: { path: "/v1/relying-party/{other.1}", body: "{consent.1} {nothing}" }
    expect: { path: 404.unknown_path }
`);
  expect([code, text]).toEqual([0, expect.any(String)]);
});

test("a text is sent with the headers' type or as text, and anything else as JSON", async () => {
  const post = "method: POST, path: /v1/relying-party/consent-requests";
  const [code, text] = await verify(`${head}story:
  - request: { ${post}, body: "{}" }
    expect: { status: 400 }
  - request: { ${post}, body: {} }
    expect: { status: 422 }
  - request: { ${post}, headers: { Content-Type: application/json }, body: "{}" }
    expect: { status: 422 }
`);
  expect([code, text]).toEqual([0, expect.any(String)]);
});

test("a story that names an attestation too early fails at this step with a message", async () => {
  const [code, text] = await verify(`${head}story:
  - request: { path: "/v1/relying-party/attestations/{attestation.3}" }
`);
  expect(code).toBeGreaterThan(0);
  expect(text).toContain("there is no such attestation");
});

test("a farmer decides at the time of a timeline step", () => {
  const sandbox = createSandbox({
    scenario: parseScenario(`${head}
consents:
  - { organization: bank, farmer: 2, created_at: -1h, permissions: [land] }
timeline:
  - { at: 30m, consent: { farmer: 2, do: grant } }
  - { at: 40m, consent: { farmer: 2, do: grant }, expect: { error: consent_not_open } }
`),
  });
  expect(sandbox.consents.list()[0]?.status).toBe("pending");
  sandbox.clock.advance("5h");
  expect(sandbox.consents.list()[0]?.history.at(-1)).toEqual({
    status: "granted",
    at: "2026-03-02T09:30:00.000Z",
    by: "farmer",
  });
});
