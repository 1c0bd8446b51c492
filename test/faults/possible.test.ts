import fc from "fast-check";
import { expect, test } from "vitest";
import { nextRequest } from "../../src/api/next-request.js";
import { createSandbox, type Fault, parseScenario, type Scenario, ScenarioError } from "../../src/index.js";
import { faultProblems } from "../../src/scenario/checks/fault-rules.js";
import { successesOf } from "../../src/scenario/checks/rule-input.js";
import { type ModelFault, mayGet, scenarioOfSenders } from "../model/fault-model.js";
import { continued, snapshot } from "../support/continued.js";
import { sandboxWith, send } from "../support/faulty.js";
import { runs } from "../support/property-seed.js";

const scenario: Scenario = scenarioOfSenders;

/** The fields of the problems, and their first message and hint. */
function problemsOf(faults: readonly Fault[], more: Partial<Scenario> = {}) {
  try {
    createSandbox({ scenario: { ...scenario, faults: [...faults], ...more } });
    return { fields: [], words: "" };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const [first] = error.problems;
    expect(error.problems.map(({ code }) => code)).toEqual(error.problems.map(() => "fault_contradiction"));
    return { fields: error.problems.map(({ field }) => field), words: `${first?.message}: ${first?.hint}` };
  }
}

const status = { status: 503 } as const;
const impossible: readonly [fault: Fault, field: string, words: RegExp][] = [
  ...(["401.missing", "401.malformed", "401.unknown"] as const).flatMap(
    (outcome): [Fault, string, RegExp][] => [
      [{ when: { key: "main", outcome }, then: status }, "when.outcome", /has no key.*: remove key/],
      [{ when: { organization: "bank", outcome }, then: status }, "when.outcome", /: remove organization/],
    ],
  ),
  [{ when: { every: 2, requests: [1, 3] }, then: status }, "when.requests", /every: 2 selects none/],
  [{ when: { until: "-1d" }, then: status }, "when.until", /not -1d: write a later time/],
  [{ when: { until: "0s" }, then: status }, "when.until", /must end after it starts \(0s\)/],
  [{ when: { after: "10m", until: "5m" }, then: status }, "when.until", /must end after it starts/],
];

test.each(impossible)("a fault whose fields contradict each other is refused: %j", (fault, field, words) => {
  const ofScenario = problemsOf([{ then: { slow: 9 } }, fault]);
  expect(ofScenario).toEqual({ fields: [`faults[1].${field}`], words: expect.stringMatching(words) });
  const timeline: Scenario["timeline"] = [{ at: "1h", faults: [fault] }];
  expect(problemsOf([], { timeline }).fields).toEqual([`timeline[0].faults[0].${field}`]);
  // When a story comes to its step, only a run shows: `verify` and the dry run of `validate`.
  const story = problemsOf([], { story: [{ faults: [fault] }] }).fields;
  expect(story).toEqual(field === "when.until" ? [] : [`story[0].faults[0].${field}`]);
  const sandbox = createSandbox({ scenario });
  expect(() => sandbox.faults.set([fault])).toThrow(
    expect.objectContaining({
      code: "validation_failed",
      details: { fields: { [`faults[0].${field}`]: expect.stringMatching(words) } },
    }),
  );
});

const possible: readonly Fault[] = [
  { when: { key: "main", outcome: "200.retiring" }, then: status },
  { when: { key: "main", outcome: "404.unknown_path" }, then: status },
  { when: { key: "old", outcome: "200.test" }, then: status },
  { when: { key: "new", outcome: "200.replacement" }, then: status },
  { when: { key: "legacy", outcome: "403.live_suspended" }, then: status },
  { when: { organization: "bank", outcome: "200.replacement" }, then: status },
  { when: { outcome: "204.gone" }, then: { truncate: true, latency: "1ms" } },
  { when: { outcome: "204.gone" }, then: { truncate: true } },
  { when: { key: "main", organization: "insurer" }, then: status },
  { when: { key: "main", outcome: "200.live" }, then: status },
  { when: { key: "revoked", outcome: "200.live" }, then: status },
  { when: { organization: "bank", outcome: "200.legacy" }, then: status },
  { when: { outcome: "204.gone" }, then: { truncate: true, status: 503 } },
  { when: { outcome: "200.full" }, then: { malformed: true } },
  { when: { every: 2, requests: [1, 2] }, then: status },
  { when: { probability: 0 }, then: status },
  { then: { latency: { median: "0s", p99: "1s" } } },
  { when: { until: "2020-01-01T00:00:00Z" }, then: status },
  { when: { requests: [1] }, then: status, requests_matched: 5 },
];

test.each(possible)("a fault that may hit no request is fine: %j", (fault) => {
  expect(problemsOf([fault])).toEqual({ fields: [], words: "" });
});

test("two faults for the same requests are fine: the first counts", () => {
  const first: Fault = { when: { key: "main" }, then: { hang: true } };
  expect(problemsOf([first, { ...first, then: status }])).toEqual({ fields: [], words: "" });
});

test("what a sandbox lists can be set again, whatever has become of its keys", () => {
  const sandbox = createSandbox({ scenario });
  sandbox.faults.set([...possible]);
  sandbox.keys.rotate("main", { as: "main-2" });
  sandbox.keys.revoke("new");
  sandbox.clock.advance("1h");
  const faults = sandbox.faults.set([
    ...sandbox.faults.list(),
    { when: { key: "main-2", outcome: "200.replacement", until: "5m" }, then: status },
  ]);
  expect(sandbox.faults.set(faults)).toEqual(faults);
  sandbox.clock.advance("1h");
  // One of them is over.
  const left = faults.slice(0, -1);
  expect(sandbox.faults.set([...sandbox.faults.list()])).toEqual(left);
  expect(continued(sandbox).faults.list()).toEqual(left);
});

test("a saved sandbox has the steps that are left, although a step has created their key", () => {
  const outcome = "200.live";
  const timeline: Scenario["timeline"] = [
    { at: "1m", create_key: { organization: "bank", environment: "test", name: "Late", ref: "late" } },
    {
      at: "1h",
      faults: [{ when: { key: "late", outcome }, then: status }],
      expect: { error: "validation_failed" },
    },
  ];
  const sandbox = createSandbox({ scenario: { ...scenario, timeline } });
  sandbox.clock.advance("1m");
  expect(snapshot(continued(sandbox))).toEqual(snapshot(sandbox));
});

test("a step's times are compared from the step on, and only if both are known", () => {
  const when = { after: "2026-03-02T09:50:00Z", until: "10m" };
  const steps = (at: string): Partial<Scenario> => ({ timeline: [{ at, faults: [{ when, then: status }] }] });
  expect(problemsOf([], steps("1h")).fields).toEqual([]);
  expect(problemsOf([], steps("2026-03-02T10:00:00Z")).fields).toEqual([]);
  expect(problemsOf([], steps("30m")).fields).toEqual(["timeline[0].faults[0].when.until"]);
  const story: Scenario["story"] = [{ advance: "1h" }, { faults: [{ when, then: status }] }];
  expect(problemsOf([], { story }).fields).toEqual([]);
});

const counting = fc.record({
  when: fc.record(
    {
      key: fc.constantFrom("main", "other"),
      every: fc.integer({ min: 1, max: 3 }),
      requests: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
      probability: fc.constantFrom(0.5, 1),
    },
    { requiredKeys: [] },
  ),
  then: fc.constantFrom<Fault["then"]>({ status: 503 }, { reset: true }, { hang: true }, { slow: 9 }),
});

/** Whether a fault with this condition fires on each matching request. */
function alwaysFires({ every = 1, requests, probability = 1 }: ModelFault["when"]): boolean {
  return every === 1 && requests === undefined && probability === 1;
}

const nameOfFault = (fault: { readonly then: object } | undefined) =>
  `fault.${Object.keys(fault?.then ?? {})[0]}`;

/** Whether a fault with this condition may fire on any request after so many matching ones, by trying them. */
function mayFireAfter(when: ModelFault["when"], count: number): boolean {
  const { every = 1, requests, probability = 1 } = when;
  const later = Array.from({ length: 12 }, (_, index) => count + 1 + index);
  return probability > 0 && later.some((n) => n % every === 0 && (requests?.includes(n) ?? true));
}

test("the next request names exactly the faults that it or a later one like it may get", () => {
  const sent = fc.array(fc.constantFrom("main", "other"), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(counting, { minLength: 1, maxLength: 4 }), sent, (faults, keys) => {
      fc.pre(
        faults.every(({ when: { every = 1, requests = [every] } }) => requests.some((n) => n % every === 0)),
      );
      const sandbox = sandboxWith(...(faults as Fault[]));
      const counts = faults.map(() => 0);
      for (const key of keys) {
        const matches = faults.map(({ when }) => when.key === undefined || when.key === key);
        const ahead = faults.filter(({ when }, at) => matches[at] && mayFireAfter(when, counts[at] ?? 0));
        // No fault comes after one that hits each request.
        const certainAt = ahead.findIndex(({ when }) => alwaysFires(when));
        const mayHit = certainAt === -1 ? ahead : ahead.slice(0, certainAt + 1);
        const names = new Set(mayHit.map(nameOfFault));
        const { faultOutcomes, sentence } = nextRequest(sandbox, key);
        const words = names.size > 0 ? "200, or a fault" : "200";
        expect([faultOutcomes.toSorted(), sentence]).toEqual([[...names].sort(), words]);

        const results = [...mayGet(faults, matches, counts)];
        const { fault } = send(sandbox, { key });
        const gotIt = results.map((at) => (at === null ? null : nameOfFault(faults[at])));
        expect(gotIt).toContain(fault);
        if (fault !== null) expect(names).toContain(fault);
        for (const [at, isMatching] of matches.entries()) if (isMatching) counts[at] = (counts[at] ?? 0) + 1;
      }
    }),
    runs(300),
  );
});

test("parsed text has the place of a fault whose fields contradict each other", () => {
  const text = [
    "version: 1",
    "organizations: { bank: { type: bank, keys: { main: { environment: test } } } }",
    "faults:",
    "  - { when: { key: main, outcome: 401.missing }, then: { status: 503 } }",
  ].join("\n");
  expect(() => parseScenario(text)).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ line: 4, column: 35 })] }),
  );
});

test("many faults next to many endpoints are checked in one pass over each", () => {
  const endpoints = Object.fromEntries(Array.from({ length: 4000 }, (_, n) => [`e${n}`, { path: `/e${n}` }]));
  let reads = 0;
  const counted = new Proxy(endpoints, {
    ownKeys(target) {
      reads += 1;
      return Reflect.ownKeys(target);
    },
  });
  const faults = Array.from({ length: 100 }, (): Fault => ({ when: { outcome: "200.e1" }, then: status }));
  const none = { has: () => false, all: () => [] };
  const refs = { key: none, organization: none };
  const successes = successesOf({ endpoints: counted });
  expect(faultProblems(faults, { refs, successes, now: 0 })).toEqual([]);
  expect(reads).toBe(1);
});
