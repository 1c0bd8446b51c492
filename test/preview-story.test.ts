import { expect, test } from "vitest";
import { coreSender } from "../src/api/core-sender.js";
import { actionLine } from "../src/cli/action-line.js";
import { actionSentences } from "../src/cli/action-sentences.js";
import { createSandbox } from "../src/index.js";
import { runtimeOf } from "../src/library/current-sandbox.js";
import type { ToldStep } from "../src/sandbox/story/story.js";
import { tellNext } from "../src/sandbox/story/tell.js";
import type { World } from "../src/sandbox/world.js";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { openTestWorld } from "./support/doors.js";

const head = `
version: 1
preview: true
clock: { now: 2026-03-02T09:00:00Z, frozen: true }
population: { farmers: 10 }
organizations:
  bank: { type: bank, keys: { main: { environment: test, scopes: [attestations:read, consents:read, consents:write] } } }
  insurer: { type: insurer, keys: { other: { environment: test, scopes: [attestations:read, consents:read] } } }
`;
const ask = (farmer: number, permissions = "[land]") => `
  - request:
      method: POST
      path: /v1/relying-party/consent-requests
      body: { farmer_id: "{farmer.${farmer}}", purpose: { code: monitoring, text: Why. }, permissions: ${permissions} }
    expect: { status: 201, path: 200.test }`;

async function tell(world: World, steps = Number.POSITIVE_INFINITY): Promise<ToldStep[]> {
  const told: ToldStep[] = [];
  while (told.length < steps) {
    const step = await tellNext(world, coreSender(world));
    if (step === undefined) break;
    told.push(step);
  }
  return told;
}

test("a farmer of a story decides about the newest request that allows it, and is refused where there is none", async () => {
  const world = openTestWorld(
    parseScenario(`${head}story:
  - consent: { farmer: 2, do: grant }
    expect: { error: consent_not_open }
${ask(2)}
${ask(2)}
  - consent: { farmer: 2, do: grant, organization: insurer }
    expect: { error: consent_not_open }
  - consent: { farmer: 2, do: grant, organization: bank }
  - consent: { farmer: 2, do: reject }
  - consent: { farmer: 2, do: reject }
    expect: { error: consent_not_open }
  - consent: { farmer: 2, do: revoke }
`),
  );
  const told = await tell(world);
  expect(told.flatMap(({ differences }) => differences)).toEqual([]);
  expect(told.map(({ performed }) => performed?.consent?.status ?? performed?.refusal?.code)).toEqual([
    "consent_not_open",
    undefined,
    undefined,
    "consent_not_open",
    "granted",
    "rejected",
    "consent_not_open",
    "revoked",
  ]);
  const statuses = world.consents.all.map(({ record }) => record.decisions.map(({ action }) => action));
  expect(statuses).toEqual([["reject"], ["grant", "revoke"]]);
});

test("farmers, consents and attestations are named by their number in the path and the body of a request", async () => {
  const world = openTestWorld(
    parseScenario(`${head}story:${ask(2, "[land, loans]")}
  - consent: { farmer: 2, do: grant }
  - advance: 1m
  - request: { path: "/v1/relying-party/attestations/{attestation.2}?x={consent.1}" }
    expect: { path: 200.test, body: { data: { type: loans, validity: active } } }
  - request: { path: "/v1/relying-party/attestations?consent_request_id={consent.1}&limit=1" }
    expect: { path: 200.test, body: { page: { total: 2 } } }
  - request: { path: "/v1/relying-party/{other.1}", body: "{consent.01} {nothing}" }
    expect: { path: 404.unknown_path }
`),
  );
  const told = await tell(world);
  expect(told.flatMap(({ differences }) => differences)).toEqual([]);
  const id = world.consents.all[0]?.id;
  expect(told[0]?.request?.body).toContain(world.farmers.at(2).farmer_id);
  expect(told[3]?.request?.path).toMatch(
    new RegExp(`^/v1/relying-party/attestations/attestation_\\w{20}\\?x=${id}$`),
  );
  expect(told[5]?.request).toMatchObject({ path: "/v1/relying-party/{other.1}", body: `${id} {nothing}` });
});

test.each([
  ["{consent.1}", "there is no consent"],
  ["{attestation.3}", "there is no attestation"],
])("a story that names %s before it is there fails at this step, and says so", async (placeholder, message) => {
  const world = openTestWorld(
    parseScenario(`${head}story:
  - request: { path: "/v1/relying-party/attestations/${placeholder}" }
`),
  );
  await expect(tell(world)).rejects.toMatchObject({
    code: "unknown_ref",
    message: expect.stringContaining(message),
  });
  expect(world.journal.total()).toBe(0);
});

test("without the preview nothing stands for an id: a path is sent as it is", () => {
  const { preview: _, ...released } = parseScenario(head);
  const world = openTestWorld(released);
  const { answer } = {
    answer: coreSender(world)({ method: "GET", path: "/v1/{consent.1}", headers: {}, body: undefined }),
  };
  expect([answer.status, world.journal.list()[0]?.path]).toEqual([404, "/v1/{consent.1}"]);
});

test("the timeline lets a farmer decide at its own instant", async () => {
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
  expect(runtimeOf(sandbox).world().timeline.next).toBe(2);
});

test("what a farmer does is said in words", () => {
  const action = { consent: { farmer: 2, do: "grant", organization: "bank" } } as const;
  expect(actionLine(action, null)).toBe("consent: the farmer 2 grants the request of bank");
  expect(actionSentences(action, { refusal: null })).toBe(
    "The farmer number 2 grants the consent request of bank.",
  );
  expect(
    actionSentences({ consent: { farmer: 2, do: "revoke" } }, { refusal: { code: "consent_not_open" } }),
  ).toBe("The farmer number 2 tries to revoke the consent request. It is refused: consent_not_open.");
});
