import { quote } from "../schema/words.js";
import { SandboxError } from "./errors.js";
import { type Instant, isInstant, parseDuration, parseTime, timeHint } from "./time.js";

// Times and durations from a caller. A wrong one is an error.

/** The milliseconds of a duration; throws `validation_failed` for anything else. */
export function requireDuration(duration: string | number): number {
  const length = typeof duration === "number" ? duration : parseDuration(duration);
  if (length !== undefined && Number.isSafeInteger(length)) return length;
  throw invalidInput("duration", duration, "write it as 90s, 10m, 2h or 7d, or as whole milliseconds");
}

/** The epoch milliseconds of an instant; throws `validation_failed` for anything else. */
export function requireInstant(instant: Instant): number {
  // A text without a zone would mean different instants on different machines.
  const isEpoch = typeof instant === "number" || instant instanceof Date;
  const time = isEpoch ? Number(instant) : parseTime(instant);
  if (isInstant(time)) return time;
  // JavaScript may pass anything.
  const text = isEpoch || typeof instant === "string" ? `${instant}` : "";
  throw invalidInput("time", instant, timeHint(text));
}

function invalidInput(kind: string, value: unknown, hint: string): SandboxError {
  const message = `Invalid ${kind} ${quote(value)}: ${hint}.`;
  return new SandboxError("validation_failed", message, { given: value });
}
