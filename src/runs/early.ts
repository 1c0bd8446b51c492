import { minuteEnd } from "../rules/time.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

/** Timers may end a little early. */
const toleranceMs = 50;

/** A point in time on each clock that a client can wait by, in milliseconds: a test may move the first, fake timers the second. */
export interface Moment {
  /** A new one with each start of a sandbox. */
  readonly clock: object;
  readonly now: number;
  readonly wall: number;
  readonly stopwatch: number;
}

export const momentOf = ({ clock, platform }: SandboxState, { now, started }: ApiCall): Moment => ({
  clock,
  now,
  wall: platform.time(),
  stopwatch: started,
});

/**
 * How long after a rejection a request came, if that was before its time on every clock. Without seconds, the minute must end.
 * A sandbox that starts again knows of no rejection that a client must wait for.
 */
export function earlyMs(from: Moment, to: Moment, seconds: number | undefined): number | undefined {
  const untilNextMinute = (time: number) => minuteEnd(time) - time;
  const due = seconds === undefined ? untilNextMinute(from.now) : seconds * 1000;
  const dueOnWall = seconds === undefined ? Math.min(due, untilNextMinute(from.wall)) : due;
  const now = to.now - from.now;
  const wall = to.wall - from.wall;
  const stopwatch = to.stopwatch - from.stopwatch;
  const overdue = Math.max(now - due, wall - dueOnWall, stopwatch - due);
  const isEarly = from.clock === to.clock && overdue < -toleranceMs;
  return isEarly ? Math.round(Math.max(now, wall, stopwatch)) : undefined;
}
