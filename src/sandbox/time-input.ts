import { SandboxError } from "../rules/errors.js";
import { type Instant, isInstant, parseDuration, parseTime, timeHint } from "../rules/time.js";
import { quote } from "../schema/words.js";

// Times and durations from a caller. A wrong one is an error.

/** The milliseconds of a duration; throws `validation_failed` for anything else, which JavaScript may pass. */
export function requireDuration(duration: string | number): number {
  let length: number | undefined;
  if (typeof duration === "number") length = duration;
  if (typeof duration === "string") length = parseDuration(duration);
  if (length !== undefined && Number.isSafeInteger(length)) return length;
  throw invalidInput("duration", duration, "write it as 90s, 10m, 2h or 7d, or as whole milliseconds");
}

/** The epoch milliseconds of an instant; throws `validation_failed` for anything else, which JavaScript may pass. */
export function requireInstant(instant: Instant): number {
  const time = epochMilliseconds(instant);
  if (isInstant(time)) return time;
  const isShowable = typeof instant === "string" || typeof instant === "number" || instant instanceof Date;
  throw invalidInput("time", instant, timeHint(isShowable ? `${instant}` : ""));
}

/** The epoch milliseconds of an instant; anything else for what is none. */
function epochMilliseconds(instant: Instant): unknown {
  // A text without a zone would mean different instants on different machines.
  if (typeof instant === "string") return parseTime(instant);
  if (typeof instant === "number") return instant;
  if (instant instanceof Date) return Number(instant);
  // `Temporal.Instant` and `Temporal.ZonedDateTime`, of the runtime or of a library. JavaScript may pass anything else.
  return (instant as { readonly epochMilliseconds?: unknown } | null | undefined)?.epochMilliseconds;
}

/** Whether a value can be a detail of an error. An object could contain anything. */
function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function invalidInput(kind: string, value: unknown, hint: string): SandboxError {
  const message = `Invalid ${kind} ${quote(value)}: ${hint}.`;
  return new SandboxError("validation_failed", message, isPlain(value) ? { given: value } : {});
}
