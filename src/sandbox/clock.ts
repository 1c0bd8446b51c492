import { SandboxError } from "../rules/errors.js";
import { lastClockInstant } from "../rules/key-state.js";
import { type Instant, isInstant, isoTime, parseDuration, parseTime, timeHint } from "../rules/time.js";
import { quote } from "../schema/words.js";

/** Runs with `time` unless frozen, and never backwards: if `time` is set back, it stands still, and runs on from there. */
export class VirtualClock {
  readonly #time: () => number;
  #isFrozen: boolean;
  /** The clock's instant when it was last read, and that of `time`. */
  #shownAt: number;
  #readAt: number;

  constructor({
    time,
    start,
    frozen = false,
  }: {
    readonly time: () => number;
    readonly start: number;
    readonly frozen?: boolean | undefined;
  }) {
    this.#time = time;
    this.#isFrozen = frozen;
    this.#shownAt = start;
    this.#readAt = time();
  }

  now(): number {
    const elapsed = this.#time() - this.#readAt;
    this.#readAt += elapsed;
    if (!this.#isFrozen && elapsed > 0) this.#shownAt += elapsed;
    return this.#shownAt;
  }

  isFrozen(): boolean {
    return this.#isFrozen;
  }

  advance(duration: number): void {
    this.#moveTo(this.now() + duration, "by");
  }

  /** Throws `clock_backwards`, or `validation_failed` for an instant that no clock shows. */
  set(instant: number): void {
    this.now();
    this.#moveTo(instant, "now");
  }

  freeze(): void {
    this.now();
    this.#isFrozen = true;
  }

  resume(): void {
    this.now();
    this.#isFrozen = false;
  }

  /** Moves a clock that was read just before. `field` is the one of the request that has the instant. */
  #moveTo(instant: number, field: "by" | "now"): void {
    requireClockTime(instant, field);
    if (instant < this.#shownAt) {
      const why = `it shows ${isoTime(this.#shownAt)} and never runs backwards. Reset the sandbox to start again.`;
      throw new SandboxError("clock_backwards", `Failed to set the clock to ${isoTime(instant)}: ${why}`);
    }
    this.#shownAt = instant;
  }
}

/** Throws `validation_failed`, with the field, for an instant that no clock shows. */
export function requireClockTime(instant: number, field: "by" | "now"): void {
  if (instant <= lastClockInstant) return;
  const latest = isoTime(lastClockInstant);
  const message = `Failed to set the clock to ${isoTime(instant)}: the latest possible time is ${latest}.`;
  throw new SandboxError("validation_failed", message, { latest, fields: { [field]: message } });
}

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
  throw invalidInput("time", instant, timeHint);
}

function epochMilliseconds(instant: Instant): unknown {
  // A text without a zone would mean different instants on different machines.
  if (typeof instant === "string") return parseTime(instant);
  if (typeof instant === "number") return instant;
  if (instant instanceof Date) return Number(instant);
  // `Temporal.Instant` and `Temporal.ZonedDateTime`, of the runtime or of a library. JavaScript may pass anything else.
  return (instant as { readonly epochMilliseconds?: unknown } | null | undefined)?.epochMilliseconds;
}

function invalidInput(kind: string, value: unknown, hint: string): SandboxError {
  const message = `Invalid ${kind} ${quote(value)}: ${hint}.`;
  // An object could contain anything.
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return new SandboxError("validation_failed", message, isPlain ? { given: value } : {});
}
