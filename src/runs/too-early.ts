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
  const onClock = sent.now - rejected.now;
  const onWall = sent.wall - rejected.wall;
  const really = sent.stopwatch - rejected.stopwatch;
  if (seconds !== undefined) {
    const needed = seconds * 1000;
    return [onClock, onWall, really].map((passed) => ({ passed, needed }));
  }

  // On the wall clock, the minute may end earlier.
  const untilMinute = minuteEnd(rejected.now) - rejected.now;
  const untilMinuteOnWall = minuteEnd(rejected.wall) - rejected.wall;
  return [
    { passed: onClock, needed: untilMinute },
    { passed: onWall, needed: Math.min(untilMinute, untilMinuteOnWall) },
    { passed: really, needed: untilMinute },
  ];
}
