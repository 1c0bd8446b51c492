import { day, parseDuration, parseTime } from "../../rules/time.js";

/** The longest duration in a scenario. */
const maximumDuration = 100 * 365 * day;

/** A time (epoch milliseconds), or a duration from a start, in milliseconds. */
export type When = { readonly at: number } | { readonly after: number };

/** `undefined` for a text that is neither a time nor a duration of at most a hundred years. */
export function parseWhen(text: string): When | undefined {
  const at = parseTime(text);
  if (at !== undefined) return { at };
  const after = parseDuration(text);
  if (after === undefined || Math.abs(after) > maximumDuration) return undefined;
  return { after };
}

/** Epoch milliseconds of a time, or of a duration from `start`. Any other text counts as the start itself. */
export function timeFrom(start: number, moment: When | string): number {
  const when = typeof moment === "string" ? (parseWhen(moment) ?? { after: 0 }) : moment;
  return "at" in when ? when.at : start + when.after;
}
