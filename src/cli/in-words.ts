import { pluralize } from "../report/plain-text.js";

const units: Readonly<Record<string, string>> = {
  ms: "millisecond",
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
};

/**
 * A duration as people say it.
 *
 * @example
 * durationInWords("61m"); // "61 minutes"
 */
export function durationInWords(duration: string): string {
  const match = /^\+?(\d+)(ms|s|m|h|d)$/.exec(duration);
  return match === null ? duration : pluralize(Number(match[1]), units[match[2] as string] as string);
}

const date = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/**
 * A time of the sandbox's clock as people say it; seconds only where there are some.
 *
 * @example
 * timeInWords("2026-03-02T10:01:00.000Z"); // "10:01 on 2 March 2026"
 */
export function timeInWords(iso: string): string {
  const at = new Date(iso).toISOString();
  const seconds = at.slice(17, 19) === "00" ? "" : at.slice(16, 19);
  return `${at.slice(11, 16)}${seconds} on ${date.format(new Date(iso))}`;
}
