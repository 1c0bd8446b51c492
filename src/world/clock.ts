import { maximumOverlap } from "../domain/api-key.js";
import { SandboxError } from "../domain/errors.js";
import { firstInstant, isInstant, lastInstant, parseDuration, parseTime } from "../scenario/format/time.js";

/** The clock of one sandbox; all its times are epoch milliseconds. It goes back with a fake `Date` alone. */
export interface Clock {
  readonly now: () => number;
  readonly isFrozen: () => boolean;
  /** Moves the clock on by `duration` milliseconds; refuses a negative one with `clock_backwards`, and a far future with `validation_failed`. */
  readonly advance: (duration: number) => void;
  /** Moves the clock on to `instant`; refuses an earlier one with `clock_backwards`, and a far future with `validation_failed`. */
  readonly set: (instant: number) => void;
  readonly freeze: () => void;
  readonly resume: () => void;
}

/**
 * Makes a clock that starts at `start` and runs with `time` unless frozen.
 *
 * @example
 * const clock = createClock({ time: steadyTime, start: 0, frozen: true });
 * clock.advance(60_000);
 * clock.now(); // 60_000
 */
export function createClock(options: {
  readonly time: () => number;
  readonly start: number;
  readonly frozen?: boolean | undefined;
}): Clock {
  const { time } = options;
  let frozen = options.frozen ?? false;
  // What ours showed when it was last set, and the time then. Reading it changes nothing: what a fake time adds goes with it.
  let shown = options.start;
  let read = time();

  const now = () => (frozen ? shown : shown + time() - read);
  const settle = (instant: number) => {
    shown = instant;
    read = time();
  };
  // The current time is passed on: a running clock may have moved on by the next reading.
  const moveFrom = (current: number, instant: number, field: "by" | "now") => {
    const failure = `Failed to set the clock to ${isoOf(instant)}`;
    if (instant > lastClockInstant) {
      const latest = isoOf(lastClockInstant);
      const message = `${failure}: it goes no further than ${latest}.`;
      throw new SandboxError("validation_failed", message, { latest, fields: { [field]: message } });
    }
    if (instant < current) {
      const why = `it shows ${isoOf(current)} and never runs backwards. Reset the sandbox to start again.`;
      throw new SandboxError("clock_backwards", `${failure}: ${why}`);
    }
    settle(instant);
  };

  return {
    now,
    isFrozen: () => frozen,
    advance(duration) {
      const current = now();
      moveFrom(current, current + duration, "by");
    },
    set: (instant) => moveFrom(now(), instant, "now"),
    freeze() {
      settle(now());
      frozen = true;
    },
    resume() {
      settle(now());
      frozen = false;
    },
  };
}

/**
 * Makes the time by which clocks move: even, also when the machine's clock is corrected. While `Date.now` is replaced, as
 * fake timers do, the time that it returns.
 */
export function createSteadyTime(
  global: { readonly Date: { readonly now: () => number } },
  stopwatch: () => number,
): () => number {
  const { now } = global.Date;
  // A `Date` that is already a fake is followed like any later one.
  const real = /\[native code\]/.test(Function.prototype.toString.call(now)) ? now : undefined;
  const origin = global.Date.now() - stopwatch();
  return () => (global.Date.now === real ? Math.floor(origin + stopwatch()) : global.Date.now());
}

/** The last instant that a clock shows: overlaps that begin then still end in a year of four digits. */
export const lastClockInstant = lastInstant - maximumOverlap;

/** ISO 8601 of an instant; one outside of the years 0000 to 9999, which no clock reaches, is written as their end. */
export function isoOf(instant: number): string {
  return new Date(Math.max(firstInstant, Math.min(instant, lastInstant))).toISOString();
}

/** A length of time as callers write it: `90s`, `61m`, `2h`, `7d`, or whole milliseconds. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}` | number;

/** A point in time: ISO 8601 with a zone, epoch milliseconds, or a `Date`. */
export type Instant = string | number | Date;

/** Milliseconds of a duration; throws `validation_failed`. */
export function durationOf(duration: string | number): number {
  const length = typeof duration === "number" ? duration : parseDuration(duration);
  if (length !== undefined && Number.isSafeInteger(length)) return length;
  throw new SandboxError(
    "validation_failed",
    `Failed to read the duration ${JSON.stringify(duration)}: write it as 90s, 10m, 2h or 7d, or as whole milliseconds.`,
    { given: duration },
  );
}

/** Epoch milliseconds of an instant; throws `validation_failed`. */
export function instantOf(instant: Instant): number {
  // A text without a zone would mean another instant on every machine.
  const isEpoch = typeof instant === "number" || instant instanceof Date;
  const time = isEpoch ? Number(instant) : parseTime(instant);
  if (isInstant(time)) return time;
  throw new SandboxError(
    "validation_failed",
    `Failed to read the time ${JSON.stringify(instant)}: write it with its zone, as 2026-03-02T09:00:00Z.`,
    { given: instant },
  );
}

/** Epoch milliseconds of an instant, or of a duration (as text) counted from `now`; throws `validation_failed`. */
export function instantFrom(now: number, input: Instant): number {
  const duration = typeof input === "string" ? parseDuration(input) : undefined;
  return duration === undefined ? instantOf(input) : now + duration;
}
