import { day, parseDuration, parseTime } from "../../rules/time.js";

/** The longest duration in a scenario. */
const maximumDuration = 100 * 365 * day;

/** A time in epoch milliseconds, or a duration from a start, such as that of the clock. */
export interface TimeOrDuration {
  readonly kind: "time" | "duration";
  readonly milliseconds: number;
}

/** When a start is, in epoch milliseconds; `unknown` if only a run shows it, such as a clock that starts at the real time. */
export type StartTime = number | "unknown";

/** The start itself, as a duration from it. */
export const atStart: TimeOrDuration = { kind: "duration", milliseconds: 0 };

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

/** Where a time is from another one; `unknown` if only a run shows it. */
type TimeOrder = "before" | "same" | "after" | "unknown";

/**
 * Where the first of two times is from the second. While the start is unknown, two times have an order and two durations have one,
 * but a time and a duration have none.
 */
export function compareTimes(start: StartTime, first: TimeOrDuration, second: TimeOrDuration): TimeOrder {
  // The order of two times, or of two durations, is the same at any start.
  const commonStart = first.kind === second.kind ? 0 : start;
  if (commonStart === "unknown") return "unknown";

  const distance = timeFrom(commonStart, first) - timeFrom(commonStart, second);
  if (distance === 0) return "same";
  return distance < 0 ? "before" : "after";
}
