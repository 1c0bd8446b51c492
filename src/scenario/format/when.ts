import { day, parseDuration, parseTime } from "../../rules/time.js";

/** The longest duration in a scenario. */
const maximumDuration = 100 * 365 * day;

/** A time in epoch milliseconds, or a duration from a start, such as that of the clock. */
export interface TimeOrDuration {
  readonly kind: "time" | "duration";
  readonly milliseconds: number;
}

/** When a start is, in epoch milliseconds; `any_time` if only a run shows it, such as a clock that starts at the real time. */
export type StartTime = number | "any_time";

/** `undefined` for a text that is neither a time nor a duration of at most a hundred years. */
export function parseTimeOrDuration(text: string): TimeOrDuration | undefined {
  const time = parseTime(text);
  if (time !== undefined) return { kind: "time", milliseconds: time };
  const duration = parseDuration(text);
  if (duration === undefined || Math.abs(duration) > maximumDuration) return undefined;
  return { kind: "duration", milliseconds: duration };
}

/** Reads a text that its shape has checked. */
export function readTimeOrDuration(text: string): TimeOrDuration {
  const timeOrDuration = parseTimeOrDuration(text);
  if (timeOrDuration === undefined) throw new TypeError(`${text} is neither a time nor a duration`);
  return timeOrDuration;
}

/** Epoch milliseconds of a time, or of a duration from `start`. A text is one that its shape has checked. */
export function timeFrom(start: number, written: TimeOrDuration | string): number {
  const { kind, milliseconds } = typeof written === "string" ? readTimeOrDuration(written) : written;
  return kind === "time" ? milliseconds : start + milliseconds;
}

/**
 * A checked text, so that it can be compared with others: as its duration from `start`. From `any_time`, a time stays a time.
 * Two times are in order at any start, and so are two durations; a time and a duration are not.
 */
export function durationFrom(start: StartTime, text: string): TimeOrDuration {
  const written = readTimeOrDuration(text);
  if (written.kind === "duration" || start === "any_time") return written;
  return { kind: "duration", milliseconds: written.milliseconds - start };
}
