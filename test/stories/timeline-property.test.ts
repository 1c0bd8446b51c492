import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { continued } from "../support/continued.js";
import { mePath } from "../support/doors.js";
import { runs } from "../support/property-seed.js";

const minute = 60_000;
const hours = 10;

type TimelineStep = NonNullable<Scenario["timeline"]>[number];
const refs = ["one", "two", "live", "made-1", "made-2"];

/** What a step does; some of it is rejected, since the key it is about has ended or was never made. */
const action: fc.Arbitrary<Omit<TimelineStep, "at">> = fc.oneof(
  fc.record({ key: fc.constantFrom(...refs) }).map((revoke) => ({ revoke })),
  fc
    .record({ key: fc.constantFrom(...refs), overlap: fc.constantFrom("0s", "30m", "3h") })
    .map((rotate) => ({ rotate })),
  fc
    .record({
      live_access: fc.constantFrom("approved", "suspended"),
      status: fc.constantFrom("active", "inactive"),
    })
    .map((change) => ({ organization: { ref: "bank", ...change } })),
  fc.constantFrom("made-1", "made-2").map((ref) => ({
    create_key: { organization: "bank", environment: "live", name: ref, ref, expires: "2h" },
  })),
) as fc.Arbitrary<Omit<TimelineStep, "at">>;

const timeline = fc
  .array(fc.tuple(fc.integer({ min: 0, max: hours * 60 }), action), { maxLength: 12 })
  .map((steps) =>
    steps
      .toSorted(([one], [other]) => one - other)
      .map(([at, does]): TimelineStep => ({ at: `${at}m`, ...does })),
  );

/** How far the clock is moved on at a time, in milliseconds, and whether somebody looks at the sandbox then. */
const moves = fc.array(
  fc.record({ by: fc.integer({ min: 0, max: 90 * minute }), looks: fc.boolean(), calls: fc.boolean() }),
  { maxLength: 30 },
);

function open(steps: readonly TimelineStep[]): { sandbox: Sandbox; told: string[] } {
  const sandbox = createSandbox({
    scenario: {
      version: 1,
      clock: { now: "2026-03-02T09:00:00Z", frozen: true },
      organizations: {
        bank: {
          type: "bank",
          live_access: "approved",
          keys: { one: { environment: "test" }, two: { environment: "test" }, live: { environment: "live" } },
        },
      },
      // What refers to a key that no step has made is rejected when a scenario is read; here it comes by chance.
      timeline: steps.filter(
        ({ revoke, rotate }) => !/^made/.test(revoke?.key ?? rotate?.key ?? ""),
      ) as TimelineStep[],
    },
  });
  const told: string[] = [];
  stateOf(sandbox).journal.subscribe((event) => {
    if (event.type !== "timeline.step") return;
    const { at, index, performed } = event.result;
    told.push(`${at} ${index} ${performed.error?.code}`);
  });
  return { sandbox, told };
}

function end(sandbox: Sandbox): unknown {
  sandbox.clock.set(Date.parse("2026-03-02T09:00:00Z") + hours * 60 * minute);
  // Calls count.
  const keys = sandbox.keys.list().map(({ usage: _, ...key }) => key);
  return { keys, organizations: sandbox.organizations.list() };
}

test("the same things happen at the same instants, no matter how the clock is moved and read", async () => {
  await fc.assert(
    fc.asyncProperty(timeline, moves, async (steps, moved) => {
      const [jumped, walked] = [open(steps), open(steps)];
      const latest = Date.parse("2026-03-02T09:00:00Z") + hours * 60 * minute;
      for (const { by, looks, calls } of moved) {
        const { sandbox } = walked;
        if (Date.parse(sandbox.clock.now()) + by > latest) break;
        sandbox.clock.advance(by);
        if (looks) sandbox.keys.list();
        if (calls) {
          await sandbox.fetch(`https://any.example${mePath}`, {
            headers: { "x-api-key": sandbox.secret("one") },
          });
        }
      }
      expect(end(walked.sandbox)).toEqual(end(jumped.sandbox));
      expect(walked.told).toEqual(jumped.told);
      const instants = walked.told.map((one) => one.split(" ")[0]);
      expect(instants).toEqual(instants.toSorted());
    }),
    runs(100),
  );
});

test("a snapshot in the middle ends like its sandbox", () => {
  fc.assert(
    fc.property(timeline, fc.integer({ min: 0, max: hours * 60 }), (steps, at) => {
      const { sandbox } = open(steps);
      sandbox.clock.advance(at * minute);
      const again = continued(sandbox);
      expect(end(again)).toEqual(end(sandbox));
    }),
    runs(60),
  );
});
