import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { lifelines, type Phase } from "../../src/api/lifelines.js";
import { nextRequest } from "../../src/api/next-request.js";
import { readApiRequest } from "../../src/api/read-request.js";
import { createSandbox, type Fault, type Sandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { mePath } from "../support/doors.js";
import { runs } from "../support/property-seed.js";

type TimelineStep = NonNullable<Scenario["timeline"]>[number];

const start = Date.parse("2026-03-02T09:00:00Z");
const minute = 60_000;

/** A bank with keys in each state, and what is given. */
function open(given: Partial<Scenario> = {}): Sandbox {
  return createSandbox({
    scenario: {
      version: 1,
      clock: { now: "2026-03-02T09:00:00Z", frozen: true },
      organizations: {
        bank: {
          type: "bank",
          live_access: "approved",
          keys: {
            main: { environment: "test" },
            live: { environment: "live" },
            short: { environment: "test", expires: "30m" },
            old: { environment: "test", state: "retiring", replaced_by: "main", overlap_ends: "45m" },
            gone: { environment: "test", state: "expired", expires: "2026-03-01T09:00:00Z" },
            spent: {
              environment: "live",
              limits: { per_minute: 3, per_day: 9 },
              usage: { this_minute: 3, today: 3 },
            },
            idle: {
              environment: "live",
              limits: { per_minute: 3, per_day: 5 },
              usage: { this_minute: 0, today: 5 },
            },
          },
        },
        other: { type: "bank", keys: { theirs: { environment: "test" } } },
      },
      ...given,
    },
  });
}

function phasesOf(sandbox: Sandbox, ref: string): readonly Phase[] {
  const state = stateOf(sandbox);
  // What is due has run.
  sandbox.clock.now();
  return lifelines(state, [state.registry.key(ref)])[0]?.phases ?? [];
}

/** Each coming phase in short: `+30m 401.expired`, and whether a fault may hit a request. */
function coming(sandbox: Sandbox, ref: string): readonly string[] {
  const shown: string[] = [];
  for (const { from, outcome, sure, mayFault } of phasesOf(sandbox, ref)) {
    const after = (Date.parse(from ?? "") - start) / minute;
    if (!(after >= 0)) continue;
    shown.push(`+${after}m ${outcome}${mayFault ? " or a fault" : ""}${sure ? "" : " (unsure)"}`);
  }
  return shown;
}

const fault = (when: NonNullable<Fault["when"]>): Fault => ({ when, then: { status: 503 } });

describe("the life of a key", () => {
  test.each([
    ["main", ["+0m 200.replacement"]],
    ["short", ["+0m 200.test", "+30m 401.expired"]],
    ["old", ["+0m 200.retiring", "+45m 401.rotated"]],
    ["spent", ["+0m 429.per_minute", "+1m 200.live"]],
    ["idle", ["+0m 429.per_day", "+900m 200.live"]],
  ])("of %s ends and resets when its times say", (ref, expected) => {
    expect(coming(open(), ref)).toEqual(expected);
  });

  test("before now is unknown, but for its end", () => {
    expect(phasesOf(open(), "gone")).toEqual([
      { from: null, until: "2026-03-01T09:00:00.000Z", outcome: null, sure: false, mayFault: false },
      { from: "2026-03-01T09:00:00.000Z", until: null, outcome: "401.expired", sure: true, mayFault: false },
    ]);
    const sandbox = open();
    sandbox.keys.create({ organization: "bank", environment: "live", name: "New", ref: "new" });
    sandbox.clock.advance("10m");
    expect(phasesOf(sandbox, "new")[0]).toMatchObject({ from: "2026-03-02T09:00:00.000Z", outcome: null });
  });

  test.each<[string, TimelineStep, string, string[]]>([
    ["that sets faults", { at: "10m", faults: [fault({})] }, "live", ["+0m 200.live", "+10m null (unsure)"]],
    [
      "for its organization",
      { at: "5m", organization: { ref: "bank", status: "inactive" } },
      "short",
      ["+0m 200.test", "+5m null (unsure)"],
    ],
    ["for itself", { at: "5m", revoke: { key: "live" } }, "live", ["+0m 200.live", "+5m null (unsure)"]],
    [
      "that makes a key, whose ref nobody knows yet",
      { at: "5m", create_key: { organization: "bank", environment: "test", name: "New" } },
      "short",
      ["+0m 200.test", "+5m null (unsure)"],
    ],
    ["for another key", { at: "5m", revoke: { key: "live" } }, "short", ["+0m 200.test", "+30m 401.expired"]],
    [
      "after its end",
      { at: "40m", organization: { ref: "bank", status: "inactive" } },
      "short",
      ["+0m 200.test", "+30m 401.expired"],
    ],
  ])("is unknown from a step of the timeline on that may change it: %s", (_, step, ref, expected) => {
    const sandbox = open({ timeline: [step] });
    const before = sandbox.requests.total();
    expect(coming(sandbox, ref)).toEqual(expected);
    // To ask changes nothing.
    expect(coming(sandbox, ref)).toEqual(expected);
    expect(sandbox.requests.total()).toBe(before);
  });

  test.each<[Fault[], string]>([
    [[fault({ every: 2 })], "+0m 200.live or a fault (unsure)"],
    [[fault({ every: 1_000_000 })], "+0m 200.live or a fault (unsure)"],
    [[fault({ probability: 0.5 })], "+0m 200.live or a fault (unsure)"],
    [[fault({ requests: [3] })], "+0m 200.live or a fault (unsure)"],
    [[{ ...fault({ requests: [3] }), requests_matched: 3 }], "+0m 200.live"],
    [[fault({ key: "main" })], "+0m 200.live"],
    [[{ then: { latency: "1s" } }], "+0m 200.live or a fault"],
    [[{ when: { every: 2 }, then: { latency: "1s" } }], "+0m 200.live or a fault"],
    [[fault({ every: 2 }), { then: { reset: true } }], "+0m null or a fault (unsure)"],
    [[fault({})], "+0m fault.status or a fault"],
  ])("has whether faults may hit a request: %j", (faults, expected) => {
    expect(coming(open({ faults }), "live")).toEqual([expected]);
  });

  test.each([
    ["zero", ["429.per_minute", "429.per_day"]],
    ["once", ["200.test", "200.test"]],
  ])(
    "of %s has the outcome of the next request at each time, also when both limits end together",
    (ref, outcomes) => {
      const keys = {
        zero: { environment: "test", limits: { per_minute: 0, per_day: 0 } },
        once: { environment: "test", limits: { per_minute: 1, per_day: 1 } },
      } as const;
      const scenario: Scenario = { version: 1, organizations: { bank: { type: "bank", keys } } };
      const open = () => createSandbox({ scenario, now: "2026-03-02T23:59:30Z", frozen: true });
      const phases = phasesOf(open(), ref).slice(1);
      const asked: string[] = [];
      for (const at of ["2026-03-02T23:59:30.000Z", "2026-03-03T00:00:00.000Z"]) {
        const sandbox = open();
        sandbox.clock.set(at);
        const { outcome } = nextRequest(stateOf(sandbox), ref);
        asked.push(outcome);
        const phase = phases.findLast(({ from }) => from !== null && from <= at);
        expect(phase?.outcome).toBe(outcome);
      }
      expect(asked).toEqual(outcomes);
    },
  );

  test("of a key whose only request was a minute ago has the limit of the day until it ends", async () => {
    const keys = { once: { environment: "test", limits: { per_minute: 1, per_day: 1 } } } as const;
    const scenario: Scenario = { version: 1, organizations: { bank: { type: "bank", keys } } };
    const sandbox = createSandbox({ scenario, now: "2026-03-02T23:58:30Z", frozen: true });
    sendAt(sandbox, "once");
    sandbox.clock.advance("1m");
    expect(phasesOf(sandbox, "once").slice(1)).toMatchObject([
      { outcome: "429.per_day", until: "2026-03-03T00:00:00.000Z" },
      { outcome: "200.test", until: null },
    ]);
    expect(sendAt(sandbox, "once").outcome).toBe("429.per_day");
  });
});

const refs = ["main", "live", "short", "old", "gone", "spent", "idle", "theirs"];

const faultAt: fc.Arbitrary<Fault> = fc
  .record({
    key: fc.option(fc.constantFrom("main", "live", "spent"), { nil: undefined }),
    after: fc.option(fc.constantFrom("3m", "31m", "2h"), { nil: undefined }),
    until: fc.option(fc.constantFrom("150m", "3h"), { nil: undefined }),
    every: fc.option(fc.constantFrom(2, 3), { nil: undefined }),
    effect: fc.constantFrom<Fault["then"]>({ status: 503 }, { reset: true }, { latency: "1s" }),
  })
  .map(({ effect, ...when }) => {
    const set = Object.fromEntries(Object.entries(when).filter(([, value]) => value !== undefined));
    return Object.keys(set).length === 0 ? { then: effect } : { when: set, then: effect };
  });

/** Two faults with one condition would be an error. */
const someFaults = fc.uniqueArray(faultAt, { maxLength: 2, selector: ({ when }) => JSON.stringify(when) });

const action = fc.oneof(
  fc.constantFrom("main", "live", "short", "old").map((key) => ({ revoke: { key } })),
  fc
    .record({ key: fc.constantFrom("main", "live"), overlap: fc.constantFrom("0s", "20m") })
    .map((rotate) => ({ rotate })),
  fc.constantFrom("main", "live", "spent").map((key) => ({ expire: { key, expires: "25m" } })),
  fc
    .record({
      live_access: fc.constantFrom("approved", "suspended"),
      status: fc.constantFrom("active", "inactive"),
    })
    .map((change) => ({ organization: { ref: "bank", ...change } })),
  someFaults.map((faults) => ({ faults })),
) as fc.Arbitrary<Omit<TimelineStep, "at">>;

const timelines = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 240 }), action), { maxLength: 6 })
  .map((steps) =>
    steps
      .toSorted(([one], [other]) => one - other)
      .map(([at, does]): TimelineStep => ({ at: `${at}m`, ...does })),
  );

const scenarios = fc.record({ timeline: timelines, faults: someFaults }) as fc.Arbitrary<Partial<Scenario>>;

/** What a request with a key gets. */
function sendAt(sandbox: Sandbox, ref: string) {
  const headers = ["x-api-key", sandbox.secret(ref)];
  const request = readApiRequest({ method: "GET", path: mePath, query: "", headers });
  return handle(stateOf(sandbox), request);
}

/** The first instant of a phase, one inside and the last one; none if it is over. */
function instantsOf({ from, until }: Phase, place: number): readonly number[] {
  const first = Math.max(start, Date.parse(from ?? "2026-03-02T09:00:00Z"));
  const last = until === null ? first + 600 * minute : Date.parse(until) - 1;
  return last < start ? [] : [first, first + Math.floor(place * (last - first)), last];
}

test("inside of each phase, a request gets its outcome if nobody has done anything before", () => {
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(scenarios, fc.constantFrom(...refs), place, (given, ref, inside) => {
      const phases = phasesOf(open(given), ref);
      expect(phases.at(-1)?.until).toBe(null);
      for (const phase of phases) {
        if (phase.outcome === null) continue;
        for (const at of instantsOf(phase, inside)) {
          // Nothing but the clock has changed since the start.
          const sandbox = open(given);
          sandbox.clock.set(at);
          const { outcome, fault } = sendAt(sandbox, ref);
          if (!phase.sure && fault !== null) expect(phase.mayFault).toBe(true);
          else expect(outcome).toBe(phase.outcome);
        }
      }
    }),
    runs(500),
  );
});
