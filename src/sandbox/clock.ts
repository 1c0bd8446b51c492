import { SandboxError } from "../rules/errors.js";
import {
  firstInstant,
  isInstant,
  lastClockInstant,
  lastInstant,
  parseDuration,
  parseTime,
  timeHint,
} from "../scenario/format/fields.js";

interface ClockOptions {
  readonly time: () => number;
  readonly start: number;
  /** When `start` was read, on `time`. Default: now. */
  readonly readAt?: number | undefined;
  readonly frozen?: boolean | undefined;
}

/** Runs with `time` unless frozen, and never backwards, also if a fake `Date` moves back. */
export class VirtualClock {
  readonly #time: () => number;
  #isFrozen: boolean;
  /** The clock's instant when it was last read. */
  #shownAt: number;
  /** The platform's time then. */
  #readAt: number;

  constructor({ time, start, readAt = time(), frozen = false }: ClockOptions) {
    this.#time = time;
    this.#isFrozen = frozen;
    this.#shownAt = start;
    this.#readAt = readAt;
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

  /** Moves a clock that was read just before. */
  #moveTo(instant: number, field: "by" | "now"): void {
    const failure = `Failed to set the clock to ${isoOf(instant)}`;
    requireClockTime(instant, field);
    if (instant < this.#shownAt) {
      const why = `it shows ${isoOf(this.#shownAt)} and never runs backwards. Reset the sandbox to start again.`;
      throw new SandboxError("clock_backwards", `${failure}: ${why}`);
    }
    this.#shownAt = instant;
  }
}

/** Throws `validation_failed`, with the field, for an instant that no clock shows. */
export function requireClockTime(instant: number, field: "by" | "now"): void {
  if (instant <= lastClockInstant) return;
  const latest = isoOf(lastClockInstant);
  const message = `Failed to set the clock to ${isoOf(instant)}: the latest possible time is ${latest}.`;
  throw new SandboxError("validation_failed", message, { latest, fields: { [field]: message } });
}

/** Formats an instant as ISO 8601, limited to the years 0000 to 9999, which no clock leaves. */
export function isoOf(instant: number): string {
  return new Date(Math.max(firstInstant, Math.min(instant, lastInstant))).toISOString();
}

/** A duration as callers write it: `90s`, `61m`, `2h`, `7d`, or whole milliseconds. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}` | number;

/** A point in time: ISO 8601 with a zone, epoch milliseconds, or a `Date`. */
export type Instant = string | number | Date;

export function durationOf(duration: string | number): number {
  const length = typeof duration === "number" ? duration : parseDuration(duration);
  if (length !== undefined && Number.isSafeInteger(length)) return length;
  throw invalid("duration", duration, "write it as 90s, 10m, 2h or 7d, or as whole milliseconds");
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

export function scenarioDuration(milliseconds: number) {
  const [unit, length] =
    units.find(([, one]) => milliseconds !== 0 && milliseconds % one === 0) ?? (["ms", 1] as const);
  return `${milliseconds / length}${unit}` as const;
}

export function instantOf(instant: Instant): number {
  // A text without a zone would mean different instants on different machines.
  const isEpoch = typeof instant === "number" || instant instanceof Date;
  const time = isEpoch ? Number(instant) : parseTime(instant);
  if (isInstant(time)) return time;
  throw invalid("time", instant, timeHint(String(instant)));
}

function invalid(kind: string, given: unknown, hint: string): SandboxError {
  const message = `Invalid ${kind} ${JSON.stringify(given)}: ${hint}.`;
  return new SandboxError("validation_failed", message, { given });
}
