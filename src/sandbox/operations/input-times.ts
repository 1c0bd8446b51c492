import { SandboxError } from "../../domain/errors.js";
import { parseDuration, parseTime } from "../../scenario/format/time.js";
import { isInstant } from "../clock.js";

/** A length of time: `90s`, `61m`, `2h`, `7d`, or whole milliseconds. */
export type Duration = string | number;

/** A point in time: ISO 8601 with a zone, epoch milliseconds, or a `Date`. */
export type Instant = string | number | Date;

/** Milliseconds of a duration; throws `validation_failed`. */
export function durationOf(duration: Duration): number {
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
  const time = epochOf(instant);
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

function epochOf(instant: Instant): number {
  if (typeof instant === "number") return instant;
  if (instant instanceof Date) return instant.getTime();
  // A time without a zone would mean another instant on every machine.
  return parseTime(instant) ?? Number.NaN;
}
