import { minuteEnd } from "../rules/time.js";
import type { ApiCall } from "../sandbox/call.js";
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

/** How long a client has waited on one clock, and how long it has to, in milliseconds. */
interface Wait {
  readonly passed: number;
  readonly needed: number;
}

/**
 * Milliseconds between a rejection and the next request, if that came too early on every clock; `undefined` if it came in time on one.
 * `seconds`: how long the client has to wait. Default: until the minute ends. As in 3,900 for a request 3.9 s after a 429 with
 * `Retry-After: 4`, whose test has not moved the sandbox's clock.
 */
export function msTooEarly(rejected: Moment, sent: Moment, seconds: number | undefined): number | undefined {
  // A sandbox that has started again knows of no rejection.
  if (rejected.clock !== sent.clock) return undefined;

  const waits = waitsOnClocks(rejected, sent, seconds);
  const isInTime = waits.some(({ passed, needed }) => passed >= needed - toleranceMs);
  if (isInTime) return undefined;
  return Math.round(Math.max(...waits.map(({ passed }) => passed)));
}

function waitsOnClocks(rejected: Moment, sent: Moment, seconds: number | undefined): Wait[] {
  let needed = untilMinuteEnds(rejected.now);
  // The client may go by the minute of its own wall clock, which may end earlier.
  let neededOnWall = Math.min(needed, untilMinuteEnds(rejected.wall));
  if (seconds !== undefined) {
    needed = seconds * 1000;
    neededOnWall = needed;
  }
  return [
    { passed: sent.now - rejected.now, needed },
    { passed: sent.wall - rejected.wall, needed: neededOnWall },
    { passed: sent.stopwatch - rejected.stopwatch, needed },
  ];
}

/** Milliseconds from this time to the end of its minute. */
function untilMinuteEnds(time: number): number {
  return minuteEnd(time) - time;
}
