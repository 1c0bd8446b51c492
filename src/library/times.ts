import { SandboxError } from "../domain/errors.js";
import { isInstant } from "../sandbox/clock.js";
import { parseDuration } from "../scenario/duration.js";
import { parseTime } from "../scenario/when.js";
import type { Duration, Instant } from "./sandbox.js";

/** Milliseconds of a duration; throws `validation_failed`. */
export function durationOf(duration: Duration): number {
  const length = typeof duration === "number" ? duration : parseDuration(duration);
  if (length !== undefined && Number.isSafeInteger(length)) return length;
  throw new SandboxError(
    "validation_failed",
    `Failed to understand the duration ${JSON.stringify(duration)}: write it as 90s, 10m, 2h or 7d, or as whole milliseconds.`,
    { given: duration },
  );
}

/** Epoch milliseconds of an instant; throws `validation_failed`. */
export function instantOf(instant: Instant): number {
  const time = read(instant);
  if (isInstant(time)) return time;
  throw new SandboxError(
    "validation_failed",
    `Failed to understand the time ${JSON.stringify(instant)}: write it with its zone, as 2026-03-02T09:00:00Z.`,
    { given: instant },
  );
}

function read(instant: Instant): number {
  if (typeof instant === "number") return instant;
  if (instant instanceof Date) return instant.getTime();
  // A time without a zone would mean another instant on every machine.
  return parseTime(instant) ?? Number.NaN;
}

/** Epoch milliseconds of a duration from `now`, or of an instant, which a number is; throws `validation_failed`. */
export function instantFrom(now: number, given: string | Instant): number {
  const duration = typeof given === "string" ? parseDuration(given) : undefined;
  return duration === undefined ? instantOf(given) : now + duration;
}
