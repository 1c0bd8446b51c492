import { expect, test } from "vitest";
import { startFrozen } from "../../test/support/doors.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { listUpcoming, nextChangeAt } from "./upcoming.js";

const start = Date.parse("2026-03-02T09:00:00Z");
const at = (seconds: number) => start + seconds * 1000;
const isoAt = (seconds: number) => new Date(at(seconds)).toISOString();

const scenario: Scenario = {
  version: 1,
  clock: { now: isoAt(0), frozen: true },
  assumptions: { minute_window: "sliding" },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test", usage: { this_minute: 2 } },
      },
    },
  },
  timeline: [{ at: "5m", organization: { ref: "bank", status: "inactive" } }],
};

/** Puts the requests of this minute at these instants. */
function count(sandbox: SandboxState, ...instants: readonly number[]): void {
  const { usage } = sandbox.registry.key("main");
  usage.counted.splice(0, usage.counted.length, ...instants.map((instant) => ({ at: instant, count: 1 })));
}

test("in a sliding minute, the next change is the millisecond when a request stops counting", () => {
  const sandbox = startFrozen(scenario);
  count(sandbox, at(-50), at(-20));
  expect(nextChangeAt(sandbox)).toBe(at(10));
  sandbox.clock.advance(9_999);
  expect(nextChangeAt(sandbox)).toBe(at(10));
  sandbox.clock.advance(1);
  expect(nextChangeAt(sandbox)).toBe(at(40));
});

test("in a sliding minute, a request of the instant 0 stops counting after a minute", () => {
  const epoch = "1970-01-01T00:00:00Z";
  const usage = { this_minute: 1 };
  const sandbox = startFrozen({
    ...scenario,
    clock: { now: epoch, frozen: true },
    organizations: { bank: { type: "bank", keys: { main: { environment: "test", usage } } } },
  });
  count(sandbox, 0);
  expect(nextChangeAt(sandbox)).toBe(60_000);
});

test("an event of this very millisecond is not upcoming", () => {
  const sandbox = startFrozen(scenario);
  const kinds = () => listUpcoming(sandbox).map(({ kind }) => kind);
  sandbox.clock.advance(299_999);
  expect(kinds()).toContain("timeline_step");
  sandbox.clock.advance(1);
  expect(kinds()).not.toContain("timeline_step");
});
