import { day, parseDuration, parseTime } from "../../rules/time.js";

/** The longest duration in a scenario. */
const maximumDuration = 100 * 365 * day;

/** A time (epoch milliseconds), or a duration from a start, in milliseconds. */
export type When = { readonly at: number } | { readonly after: number };

/** Epoch milliseconds, or `unknown` if only a run shows it: a clock may start at the real time. */
export type KnownMoment = number | "unknown";

/** `undefined` for a text that is neither a time nor a duration of at most a hundred years. */
export function parseWhen(text: string): When | undefined {
  const at = parseTime(text);
  if (at !== undefined) return { at };
  const after = parseDuration(text);
  if (after === undefined || Math.abs(after) > maximumDuration) return undefined;
  return { after };
}

/** Epoch milliseconds of a time, or of a duration from `start`. */
export function timeFrom(start: number, moment: When | string): number {
  const when = typeof moment === "string" ? checkedWhen(moment) : moment;
  return "at" in when ? when.at : start + when.after;
}

/** How many milliseconds after a start a time or a duration is; `unknown` for a time if the start is. */
export function durationFrom(start: KnownMoment, text: string): number | "unknown" {
  const when = checkedWhen(text);
  if ("after" in when) return when.after;
  return start === "unknown" ? "unknown" : when.at - start;
}

/** Reads a text that its shape has checked. */
function checkedWhen(text: string): When {
  const when = parseWhen(text);
  if (when === undefined) throw new TypeError(`${text} is neither a time nor a duration`);
  return when;
}
