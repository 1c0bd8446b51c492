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

  test.each<[string, TimelineStep[], string, string[]]>([
    [
      "a step that sets faults",
      [{ at: "10m", faults: [fault({})] }],
      "live",
      ["+0m 200.live", "+10m fault.status or a fault"],
    ],
    [
      "a step that sets assumptions",
      [{ at: "10m", assumptions: { me_scope: "consents:read" } }],
      "live",
      ["+0m 200.live", "+10m 403.insufficient_scope"],
    ],
    [
      "a step for its organization",
      [{ at: "5m", organization: { ref: "bank", status: "inactive" } }],
      "short",
      ["+0m 200.test", "+5m 403.access_denied", "+30m 401.expired"],
    ],
    [
      "a change of the live access, for a live key",
      [{ at: "5m", organization: { ref: "bank", live_access: "suspended" } }],
      "live",
      ["+0m 200.live", "+5m 403.live_suspended"],
    ],
    [
      "a change of the live access, not for a test key",
      [{ at: "5m", organization: { ref: "bank", live_access: "suspended" } }],
      "short",
      ["+0m 200.test", "+30m 401.expired"],
    ],
    [
      "a rotation",
      [{ at: "5m", rotate: { key: "live", overlap: "10m" } }],
      "live",
      ["+0m 200.live", "+5m 200.retiring", "+15m 401.rotated"],
    ],
    [
      "a step that is rejected",
      [{ at: "5m", revoke: { key: "live", actor: "member" } }],
      "live",
      ["+0m 200.live"],
    ],
  ])("changes with %s", (_, timeline, ref, expected) => {
    const sandbox = open({ timeline });
    const before = sandbox.snapshot();
    expect(coming(sandbox, ref)).toEqual(expected);
    // To ask changes nothing.
    expect(sandbox.snapshot()).toEqual(before);
  });

  test.each<[Fault[], string]>([
    [[fault({ every: 2 })], "+0m 200.live or a fault (unsure)"],
    [[fault({ every: 1_000_000 })], "+0m 200.live or a fault (unsure)"],
    [[fault({ probability: 0.5 })], "+0m 200.live or a fault (unsure)"],
    [[fault({ requests: [3] })], "+0m 200.live or a fault (unsure)"],
    [[{ ...fault({ requests: [3] }), requests_matched: 3 }], "+0m 200.live"],
    [[fault({ key: "main" })], "+0m 200.live"],
    [[{ then: { latency: "1s" } }], "+0m 200.live or a fault"],
    [[fault({})], "+0m fault.status or a fault"],
  ])("has whether faults may hit a request: %j", (faults, expected) => {
    expect(coming(open({ faults }), "live")).toEqual([expected]);
  });

  test.each([
    ["2026-03-02T09:00:00Z", "429.per_day"],
    // Both limits end with the day.
    ["2026-03-02T23:59:30Z", "429.per_minute"],
  ])(
    "at %s, of a key that allows nothing, is one phase, with the outcome of a request: %s",
    (now, outcome) => {
      const keys = { closed: { environment: "test", limits: { per_minute: 0, per_day: 0 } } } as const;
      const scenario: Scenario = { version: 1, organizations: { bank: { type: "bank", keys } } };
      const sandbox = createSandbox({ scenario, now, frozen: true });
      expect(phasesOf(sandbox, "closed").slice(1)).toMatchObject([{ outcome, until: null }]);
      expect(nextRequest(stateOf(sandbox), "closed")).toMatchObject({ outcome, until: null });
    },
  );

  test("is unknown after a hundred steps", () => {
    const timeline = Array.from({ length: 150 }, (_, index): TimelineStep => {
      const status = index % 2 === 0 ? "inactive" : "active";
      return { at: `${index + 1}m`, organization: { ref: "bank", status } };
    });
    const phases = coming(open({ timeline }), "live");
    expect(phases.length).toBe(102);
    expect(phases.at(-1)).toBe("+101m null (unsure)");
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
  fc
    .record({ minute_window: fc.constantFrom("fixed", "sliding"), count_rejected: fc.boolean() })
    .map((assumptions) => ({ assumptions })),
  someFaults.map((faults) => ({ faults })),
) as fc.Arbitrary<Omit<TimelineStep, "at">>;

const timelines = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 240 }), action), { maxLength: 6 })
  .map((steps) =>
    steps
      .toSorted(([one], [other]) => one - other)
      .map(([at, does]): TimelineStep => ({ at: `${at}m`, ...does })),
  );

const scenarios = fc.record({
  timeline: timelines,
  faults: someFaults,
  assumptions: fc.record({
    minute_window: fc.constantFrom("fixed", "sliding"),
    count_rejected: fc.boolean(),
  }),
}) as fc.Arbitrary<Partial<Scenario>>;

/** What a request with a key gets if nothing but the clock has changed since the start. */
function sendAt(given: Partial<Scenario>, ref: string, at: number) {
  const sandbox = open(given);
  sandbox.clock.set(at);
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
          const { outcome, fault } = sendAt(given, ref, at);
          if (!phase.sure && fault !== null) expect(phase.mayFault).toBe(true);
          else expect(outcome).toBe(phase.outcome);
        }
      }
    }),
    runs(500),
  );
});
