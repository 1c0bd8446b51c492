import { minuteEnd } from "../rules/time.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

/** Timers may end a little early. */
const toleranceMs = 50;

/** A point in time on each clock that a client can wait by, in milliseconds. */
export interface Moment {
  /** The sandbox's clock, a new one with each start of a sandbox. */
  readonly clock: object;
  /** The time of that clock, which a test may move. */
  readonly now: number;
  /** The time of `Date`, which fake timers may move. */
  readonly wall: number;
  /** The time that really passes. */
  readonly stopwatch: number;
}

export function momentOf({ clock, platform }: SandboxState, { now, started }: ApiCall): Moment {
  return { clock, now, wall: platform.time(), stopwatch: started };
}

/**
 * How long after a rejection a request came, if that was too early on every clock. The client has to wait for some seconds, or
 * without them until the minute ends. A sandbox that starts again knows of no rejection that a client must wait for.
 */
export function msTooEarly(rejected: Moment, sent: Moment, seconds: number | undefined): number | undefined {
  if (rejected.clock !== sent.clock) return undefined;
  const passed = sent.now - rejected.now;
  const passedOnWall = sent.wall - rejected.wall;
  const passedReally = sent.stopwatch - rejected.stopwatch;

  // How long to wait, also on the wall clock, where another minute may end first.
  let wait: number;
  let waitOnWall: number;
  if (seconds === undefined) {
    wait = minuteEnd(rejected.now) - rejected.now;
    waitOnWall = Math.min(wait, minuteEnd(rejected.wall) - rejected.wall);
  } else {
    wait = seconds * 1000;
    waitOnWall = wait;
  }

  // The clock on which it came last decides: a client may wait by any of them.
  const overdue = Math.max(passed - wait, passedOnWall - waitOnWall, passedReally - wait);
  if (overdue >= -toleranceMs) return undefined;
  return Math.round(Math.max(passed, passedOnWall, passedReally));
}
