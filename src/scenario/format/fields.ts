import { parse } from "@lukeed/ms";
import { scopePattern } from "../../spec/assumptions.js";
import { redactKeys } from "../../spec/redact.js";
import { count, mapping, optional, text, type Wording } from "../../spec/schema/shape.js";

const units = "ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?";

/** `90s`, `10m`, `1.5h`, `5 minutes`, without a sign. */
export const waitPattern = new RegExp(`^\\d+(?:\\.\\d+)? ?(?:${units})$`);

/** The same, optionally with a sign: minus for the past. */
export const durationPattern = new RegExp(`^[+-]?\\d+(?:\\.\\d+)? ?(?:${units})$`);

/** An ISO 8601 time with a zone: without a zone, it would be another instant on each machine. */
export const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The maximum duration in a scenario, in milliseconds: a hundred years. */
const maximumDuration = 100 * 365 * 24 * 60 * 60_000;

/** The first and the last instant that a scenario can contain. */
export const firstInstant = Date.parse("0000-01-01T00:00:00Z");
export const lastInstant = Date.parse("9999-12-31T23:59:59.999Z");

/** Whether epoch milliseconds are an instant that a scenario can contain: an integer in the years 0000 to 9999. */
export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= firstInstant && (value as number) <= lastInstant;
}

/**
 * The milliseconds of a duration; `undefined` if the text is not a duration.
 *
 * @example
 * parseDuration("61m"); // 3_660_000
 * parseDuration("-1 day"); // -86_400_000
 */
export function parseDuration(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  // `parse` returns `undefined` for a duration of 0.
  const length = Math.round(parse(text.replace(/^[+-]/, "")) ?? 0);
  if (!Number.isSafeInteger(length)) return undefined;
  // Not `-length` for 0, which would be -0.
  return text.startsWith("-") && length > 0 ? -length : length;
}

/**
 * Epoch milliseconds of an ISO 8601 time with a zone; `undefined` if the text is not a time, has a day or an hour that
 * does not exist, or is outside of the years 0000 to 9999 in UTC.
 *
 * @example
 * parseTime("2026-03-02T09:00:00Z"); // 1_772_442_000_000
 * parseTime("2026-02-30T09:00:00Z"); // undefined
 */
export function parseTime(text: string): number | undefined {
  if (!timePattern.test(text)) return undefined;
  // `Date` accepts 24:00 and turns February 30 into March 2, so these are checked here.
  const [year = 0, month = 0, dayOfMonth = 0, hour = 0] = (text.match(/\d+/g) ?? []).map(Number);
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysInMonth(year, month)) return undefined;
  if (hour > 23) return undefined;
  const time = Date.parse(text);
  return isInstant(time) ? time : undefined;
}

/**
 * The same for the times that programs write (RFC 3339): any number of digits after the second, rounded down to three,
 * and letters in either case.
 *
 * @example
 * parseTimestamp("2026-03-02t09:00:00.123456z"); // 1_772_442_000_123
 */
export function parseTimestamp(text: string): number | undefined {
  return parseTime(text.toUpperCase().replace(/(\.\d{3})\d+/, "$1"));
}

/** Returns the number of days in a month (counted from 1). */
export function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Epoch milliseconds of a time, or of a date, which starts at midnight UTC. */
export function parseDate(text: string): number | undefined {
  return parseTime(/^[\d-]{10}$/.test(text) ? `${text}T00:00:00Z` : text);
}

/**
 * Epoch milliseconds of a time, or of a duration counted from `start`; `undefined` if the text is neither.
 *
 * @example
 * parseWhen("-1d", start); // start - 86_400_000
 */
export function parseWhen(text: string, start: number): number | undefined {
  const duration = parseDuration(text);
  if (duration === undefined) return parseTime(text);
  return Math.abs(duration) > maximumDuration ? undefined : start + duration;
}

/** How to fix a time outside of the years 0000 to 9999. */
export const outsideHint = "write a time in the years 0000 to 9999 in UTC";

/** Returns how to fix a text that should be a time. */
export function timeHint(text: string): string {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? [];
  if (day !== undefined) {
    if (Number(month) < 1 || Number(month) > 12) return "write a month from 01 to 12";
    const last = daysInMonth(Number(year), Number(month));
    if (Number(day) < 1 || Number(day) > last) return `${year}-${month} has ${last} days`;
  }
  if (timePattern.test(text) && !Number.isNaN(Date.parse(text))) return outsideHint;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `add the time of day and the zone: ${text}T00:00:00Z`;
  const spaced = text.replace(/^(\d{4}-\d{2}-\d{2})[ t]+(?=\d)/, "$1T").replace(/ *z$/i, "Z");
  if (parseTime(spaced) !== undefined && spaced !== text) return `write ${spaced}`;
  if (parseTime(`${spaced}Z`) !== undefined) return `add the zone: ${spaced}Z`;
  return "write an ISO 8601 time with a zone, such as 2026-03-02T09:00:00Z";
}

const compound = /^([+-]?)(?:(\d{1,6})d)?t?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;
const lengths = { d: 86_400, h: 3600, m: 60, s: 1 };

/** `1d12h` and `PT36H` as `36h`; `undefined` for a text that is neither in several units nor in ISO 8601. */
function inOneUnit(text: string): string | undefined {
  const [, sign = "", iso = ""] = /^([+-]?)(P(?=.))?/i.exec(text) ?? [];
  const plain = text
    .toLowerCase()
    .replace(/\s+/g, "")
    .slice(sign.length + iso.length);
  // In ISO 8601 an M before the T is a month.
  if (iso !== "" && /^[^t]*m/.test(plain)) return undefined;
  const [, , ...counts] = compound.exec(plain) ?? [];
  const seconds = Object.values(lengths).reduce(
    (sum, length, index) => sum + length * Number(counts[index] ?? 0),
    0,
  );
  if (seconds === 0 || durationPattern.test(text)) return undefined;
  const [unit, length] = Object.entries(lengths).find(([, one]) => seconds % one === 0) ?? ["s", 1];
  return `${sign}${seconds / length}${unit}`;
}

/**
 * Returns how to fix a text that should be a duration; `undefined` if an example is the best hint.
 */
function durationHint(text: string): string | undefined {
  if (/^[+-]?\d+$/.test(text)) return `add the unit: ${text}s or ${text}m, for example`;
  const [, months] = /^[+-]?(\d+)M$/.exec(text) ?? [];
  if (months !== undefined) return `${months}m is ${months} minutes; write months in days, such as 90d`;
  const single = inOneUnit(text);
  if (single !== undefined) return `write one number with one unit: ${single}`;
  if (parseTime(text) !== undefined) return "write a duration: 90s, 10m, 2h or 7d";
  if (parseDuration(text) === 0) return "write 1s or more, or remove it";
  if (/^-/.test(text) && parseDuration(text) !== undefined)
    return `write it without the sign: ${text.slice(1)}`;
  return durationPattern.test(text) ? "write a shorter time" : undefined;
}

// The kinds of text in the format. Each use is a new shape, which can have its own description.

export const shortText = (most = 200) => text({ least: 1, most });

export const ref = () =>
  text({
    noun: "a ref",
    example: "core-banking",
    code: "bad_ref",
    pattern: refPattern,
    most: maximumRefLength,
    // A key is not shown in any spelling (R46).
    hint: (given) => (redactKeys(given) === given ? refHint(given) : "write the ref of the key"),
  });

export const time = () =>
  text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    isAllowed: (given) => parseTime(given) !== undefined,
    hint: timeHint,
  });

const durationWording: Wording = {
  noun: "a duration",
  example: "90s, 10m, 2h or 7d",
  code: "bad_time",
  hint: durationHint,
};
export const duration = (isAllowed = (_length: number) => true) =>
  text({
    ...durationWording,
    pattern: durationPattern,
    isAllowed(given) {
      const length = parseDuration(given);
      return length !== undefined && isAllowed(length);
    },
  });

/** A duration, or `none`. */
export const durationOrNone = () =>
  text({
    ...durationWording,
    noun: "a duration or none",
    example: "90d, 12h or none",
    pattern: new RegExp(`^none$|${durationPattern.source}`),
    isAllowed: (given) => given === "none" || (parseDuration(given) ?? -1) > 0,
  });

/** A duration of real time, up to a maximum. */
export const wait = (longest: number) =>
  text({
    ...durationWording,
    noun: "a duration of at most an hour",
    example: "250ms, 2s or 1m",
    pattern: waitPattern,
    isAllowed: (given) => (parseDuration(given) ?? Number.POSITIVE_INFINITY) <= longest,
    hint: (given) => durationHint(given)?.replace(/(\S+)s or \S+m,/, "$1ms or $1s,"),
  });

export const timeOrDuration = () =>
  text({
    noun: "a time or a duration",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    isAllowed: (given) => parseWhen(given, 0) !== undefined,
    hint(given) {
      if (/^\d{4}-\d{2}-/.test(given)) return timeHint(given);
      return parseDuration(given) === undefined ? durationHint(given) : "a duration is at most 100 years";
    },
  });

export const scope = () =>
  text({ noun: "a scope name", example: "attestations:read", pattern: scopePattern });

export const sha256 = () =>
  text({ noun: "a SHA-256", pattern: /^[0-9a-f]{64}$/, hint: () => "write 64 hex digits in lower case" });

// The largest integer of a structured field (RFC 9651), as in the RateLimit headers.
const limit = () => count({ most: 999_999_999_999_999 });
export const limits = mapping({ per_minute: optional(limit()), per_day: optional(limit()) });

/** Names with a meaning for JavaScript objects: a scenario with them could change the sandbox's own objects. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** A placeholder for an id in a story's request: `{farmer.0}`, `{consent.1}`, `{attestation.1}`. */
export const storyPlaceholder = /\{(farmer|consent|attestation)\.(\d{1,9})\}/g;

// Refs: short names in kebab-case for the things in a scenario.

// JavaScript objects would sort a ref of digits before all others, no matter its place in the file.
const refPattern = /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;
const maximumRefLength = 64;

/** Words for requests without a valid key in stories; not allowed as refs of keys. */
export const reservedKeyRefs = ["none", "malformed", "unknown"] as const;
type ReservedKeyRef = (typeof reservedKeyRefs)[number];

/** Whether a ref is one of the {@link reservedKeyRefs}. */
export function isReserved(ref: unknown): ref is ReservedKeyRef {
  return (reservedKeyRefs as readonly unknown[]).includes(ref);
}

/**
 * Whether a text is a valid ref.
 *
 * @example
 * isRef("core-banking"); // true
 * isRef("Core banking"); // false
 */
export function isRef(text: string): boolean {
  return text.length <= maximumRefLength && refPattern.test(text) && !forbiddenNames.has(text);
}

/** Makes a ref from the name of a key; a name without usable letters gets a general ref. */
export function refOfName(name: string): string {
  const words = trimmed(name.toLowerCase().replace(/[^a-z0-9]+/g, "-"), maximumRefLength);
  if (isRef(words)) return words;
  return words === "" ? "key" : trimmed(`key-${words}`, maximumRefLength);
}

/** The first of `ref`, `ref-2`, `ref-3` … that is free; a long one is shortened to stay a valid ref. */
export function freeRefIn(isTaken: (ref: string) => boolean, ref: string): string {
  let free = ref;
  for (let i = 2; isTaken(free) || isReserved(free); i++) {
    const suffix = `-${i}`;
    free = trimmed(ref, maximumRefLength - suffix.length) + suffix;
  }
  return free;
}

function trimmed(words: string, length: number): string {
  return words.replace(/^-+/, "").slice(0, length).replace(/-+$/, "");
}

/** Returns how to fix a text that should be a ref. */
function refHint(text: string): string {
  if (text.length > maximumRefLength) {
    return `a ref has at most ${maximumRefLength} characters; this one has ${text.length}`;
  }
  const kebab = text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  if (/[a-z]/.test(kebab)) return `write it in kebab-case: ${kebab}`;
  return `a ref needs a letter: key-${kebab === "" ? "1" : kebab}`;
}
