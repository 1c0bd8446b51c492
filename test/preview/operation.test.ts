import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Scenario, type ScenarioError } from "../../src/index.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const at = "2026-01-01";
const base: Scenario = {
  version: 1,
  preview: true,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: { main: { environment: "test", scopes: ["consents:write", "attestations:read"] } },
    },
  },
};

async function responses(scenario: Scenario) {
  const sandbox = createSandbox({ scenario: scenario as never });
  const headers = { "x-api-key": sandbox.secret("main" as never), "content-type": "application/json" };
  const send = async (path: string, body?: object) => {
    const given = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
    const response = await sandbox.fetch(`https://any.example/${path}`, given);
    return { status: response.status, link: response.headers.get("link"), body: await response.json() };
  };
  const purpose = { code: "monitoring", text: "To monitor a loan." };
  const asked = { farmer_id: sandbox.farmers.at(0).farmer_id, purpose, permissions: ["land"] };
  return {
    me: await send("v1/relying-party/me"),
    created: await send("v1/relying-party/consent-requests", asked),
    moved: await send("v2/relying-party/consent-requests", asked),
  };
}

test("an announced change with an operation changes the responses of this endpoint only, and moves its path", async () => {
  const plain = await responses(base);
  const operation = "createConsentRequest";
  const changes = {
    renamed: { at, operation, members: { in: "data.purpose", on: 201, rename: { text: "reason" } } },
    moved: { at, operation, move: { to: "/v2/relying-party/consent-requests", sunset: "2027-01-01" } },
  } as const;
  const changed = await responses({ ...base, changes });
  expect(changed.me).toEqual(plain.me);
  const purpose = { code: "monitoring", reason: "To monitor a loan." };
  expect(changed.created.body).toEqual({ data: { ...plain.created.body.data, purpose } });
  expect([plain.moved.status, changed.moved.status]).toEqual([404, 201]);
  expect(changed.created.link).toContain("/v2/relying-party/consent-requests");
});

const problemsOf = (more: Partial<Scenario>) => {
  try {
    createSandbox({ scenario: { ...base, ...more } as never });
  } catch (error) {
    return (error as ScenarioError).problems.map(({ code, path, hint }) => [code, path, hint]);
  }
  return [];
};
const fault = { when: { path_id: "201.createConsentReqest" }, then: { status: 503 } } as const;
const meant = "did you mean 201.createConsentRequest?";

test.each<[Partial<Scenario>, ...(string | undefined)[]]>([
  [{ faults: [fault] }, "faults[0].when.path_id", meant],
  [{ timeline: [{ at: "1m", faults: [fault] }] }, "timeline[0].faults[0].when.path_id", meant],
  [{ story: [{ faults: [fault] }] }, "story[0].faults[0].when.path_id", meant],
  [{ story: [{ request: {}, expect: { path: "200.getRelyingPartyContext" } }] }, "story[0].expect.path"],
  [
    { changes: { one: { at, operation: "listAttestation" } } },
    "changes.one.operation",
    "did you mean listAttestations?",
  ],
  [
    { preview: false, faults: [{ when: { path_id: "200.listAttestations" }, then: { status: 503 } }] },
    "faults[0].when.path_id",
  ],
])("a name that no endpoint of the sandbox has is a problem: %j", (more, path, hint = expect.any(String)) => {
  expect(problemsOf(more)).toEqual([["bad_choice", path, hint]]);
});

test("validate shows its line, and a running sandbox rejects it", async () => {
  const cwd = temporaryFolder();
  const lines = [
    "version: 1",
    "extends: key-states",
    "faults:",
    "  - when: { path_id: 201.nothing }",
    "    then: { status: 503 }",
    "",
  ];
  writeFileSync(join(cwd, "own.yaml"), lines.join("\n"));
  const { code, stderr } = await runCli(["validate", "own.yaml"], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining("own.yaml:4:")]);
  const sandbox = createSandbox({ scenario: base as never });
  expect(() => sandbox.faults.set([fault])).toThrow(expect.objectContaining({ code: "validation_failed" }));
  expect(sandbox.faults.list()).toEqual([]);
});
