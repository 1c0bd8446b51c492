import { expect, onTestFinished, test, vi } from "vitest";
import { createSandbox, type Scenario, ScenarioError } from "../../src/index.js";
import { dryRunProblems } from "../../src/node/dry-run.js";
import { startInNode } from "../../src/node/platform.js";
import { prepareReplacement, restartSandbox } from "../../src/sandbox/start-sandbox.js";
import { warningsOf } from "../../src/scenario/warnings.js";

// What would break a sandbox later is a problem before: of the scenario, or at its start, if only the start shows it.

type Keys = NonNullable<NonNullable<Scenario["organizations"]>[string]["keys"]>;

const withKeys = (keys: Keys, members: Partial<Scenario> = {}): Scenario => ({
  version: 1,
  organizations: { bank: { type: "bank", keys } },
  ...members,
});

const far = "2099-01-01T00:00:00Z";
const sixKeys: Keys = {};
for (const name of ["a", "b", "c", "d", "e", "f"]) sixKeys[name] = { environment: "test", expires: far };

/** The codes of the problems that a function throws. */
function codesOf(start: () => unknown): readonly string[] {
  try {
    start();
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems.map(({ code }) => code);
    throw error;
  }
  return [];
}

const next = { environment: "test" } as const;

test.each<[what: string, code: string, scenario: Scenario]>([
  ["six active keys that end in 2099", "too_many_active_keys", withKeys(sixKeys)],
  [
    "an overlap until 2099",
    "overlap_out_of_range",
    withKeys({
      main: { environment: "test", state: "retiring", replaced_by: "next", overlap_ends: far },
      next,
    }),
  ],
  [
    "a rotated key that expired before its overlap ended",
    "state_contradiction",
    withKeys({ main: { environment: "test", state: "rotated", expires: "2020-01-01T00:00:00Z" } }),
  ],
  [
    "a fault that ends before it starts",
    "fault_contradiction",
    withKeys({ next }, { faults: [{ when: { after: far, until: "1h" }, then: { status: 503 } }] }),
  ],
  [
    "a fault of a step that ends before the step",
    "fault_contradiction",
    withKeys(
      { next },
      {
        timeline: [
          {
            at: "1h",
            faults: [{ when: { after: "10m", until: "2020-01-01T00:00:00Z" }, then: { reset: true } }],
          },
        ],
      },
    ),
  ],
])("%s is a problem at each start of a scenario that does not set its clock", (_what, code, scenario) => {
  const named = { name: "scenario.yaml", scenario };
  expect(codesOf(() => createSandbox({ scenario }))).toEqual([code]);
  expect(codesOf(() => createSandbox({ scenario, now: "2026-03-02T09:00:00Z" }))).toEqual([code]);
  expect(codesOf(() => startInNode(named))).toEqual([code]);
  const other = startInNode({ name: "other", scenario: { version: 1 } });
  expect(codesOf(() => prepareReplacement(other, named))).toEqual([code]);
  // `validate` shows these.
  expect(dryRunProblems(named).map((problem) => problem.code)).toEqual([code]);
});

test("six keys of which one has ended at the start are no problem, nor are they with a clock that the scenario sets", () => {
  const [first] = Object.keys(sixKeys) as [string];
  const ended = { ...sixKeys, [first]: { environment: "test", expires: "2020-01-01T00:00:00Z" } } as const;
  expect(codesOf(() => createSandbox({ scenario: withKeys(ended) }))).toEqual([]);
  expect(codesOf(() => createSandbox({ scenario: withKeys(sixKeys), now: far }))).toEqual([]);
  expect(dryRunProblems({ name: "ended", scenario: withKeys(ended) })).toEqual([]);
});

const scopes: Pick<Scenario, "assumptions"> = {
  assumptions: { scopes: ["consents:write"], me_scope: null },
};

test.each<[what: string, problem: readonly [code: string, field: string], scenario: Scenario]>([
  [
    "a population whose keys have a scope that does not exist",
    ["unknown_scope", "population"],
    { version: 1, ...scopes, population: { organizations: 1 } },
  ],
  [
    "a key without scopes, where the default one does not exist",
    ["unknown_scope", "organizations.bank.keys.main.scopes"],
    withKeys({ main: { environment: "test" } }, scopes),
  ],
])("%s is a problem of the scenario", (_what, [code, field], scenario) => {
  try {
    createSandbox({ scenario });
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    expect(error.problems).toMatchObject([{ code, field }]);
    return;
  }
  expect.unreachable();
});

test("R37 a replacement without scopes has those of the key that it replaces", () => {
  const keys: Keys = {
    main: { environment: "test", scopes: ["consents:write"], state: "rotated", replaced_by: "main-2" },
    "main-2": { environment: "test" },
  };
  const sandbox = createSandbox({ scenario: withKeys(keys, scopes) });
  expect(sandbox.keys.get("main-2").scopes).toEqual(["consents:write"]);
});

test("a population without keys needs no scope", () => {
  const population = { organizations: 1, keys_per_organization: 0 };
  expect(codesOf(() => createSandbox({ scenario: { version: 1, ...scopes, population } }))).toEqual([]);
});

test("an endpoint is named whose scope only a default would give, which no key of the rotation has", () => {
  const keys: Keys = {
    main: { environment: "test", scopes: ["consents:write"], state: "rotated", replaced_by: "main-2" },
    "main-2": { environment: "test" },
  };
  const endpoints = { listThings: { path: "/v1/things", scope: "attestations:read" } };
  const warningsOfKind = Object.values(warningsOf(withKeys(keys, { endpoints }))).flat();
  expect(warningsOfKind.map(({ code }) => code)).toContain("scope_unheld");
});

test("a reset with a time is checked as a start with it, and one without always works", () => {
  const scenario = withKeys(sixKeys);
  const sandbox = startInNode({ scenario, name: "six" }, { now: "2100-01-01T00:00:00Z", frozen: true });
  const early = { now: "2026-01-01T00:00:00Z" };
  const before = sandbox.clock.now();
  expect(codesOf(() => restartSandbox(sandbox, early))).toEqual(["too_many_active_keys"]);
  expect(sandbox.clock.now()).toBe(before);
  restartSandbox(sandbox);
  expect(sandbox.clock.now()).toBe(before);
});

test("a sandbox that could start when it was created starts with its first use, however late that is", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 2, 2, 9) });
  onTestFinished(() => void vi.useRealTimers());
  const sandbox = createSandbox({
    scenario: withKeys({ main: { environment: "test", state: "active", expires: "2026-03-02T09:30:00Z" } }),
  });
  vi.setSystemTime(Date.UTC(2026, 2, 2, 10));
  expect(sandbox.keys.get("main").state).toBe("expired");
});
