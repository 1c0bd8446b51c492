import { maximumOverlap } from "../../rules/api-key.js";
import { redactKeys } from "../../rules/redact.js";
import * as s from "../../rules/schema/shape.js";
import { unicodePattern } from "../../rules/terminal-text.js";

const scopePattern = /^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$/;

const lengths = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `90s`, `10m`, `2h`, `7d`, optionally with a sign: minus for the past. */
export const durationPattern = /^[+-]?\d+[smhd]$/;

/** The same without a sign, and `250ms`. */
export const waitPattern = /^\d+(?:ms|[smhd])$/;

/** An ISO 8601 time with a zone: without a zone, it would be another instant on each machine. */
const timePattern = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

const maximumDuration = 100 * 365 * 24 * 60 * 60_000;

export const firstInstant = Date.parse("0000-01-01T00:00:00Z");
export const lastInstant = Date.parse("9999-12-31T23:59:59.999Z");
/** The last instant that a clock shows: an overlap that starts then still ends in a four-digit year. */
export const lastClockInstant = lastInstant - maximumOverlap;

export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= firstInstant && (value as number) <= lastInstant;
}

/** The milliseconds of a duration, such as `61m`, `-1d` or `250ms`; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, sign, count, unit] = /^([+-]?)(\d+)(ms|[smhd])$/.exec(text) ?? [];
  // Without a match, NaN. Not `-length` for 0, which would be -0.
  const length = Number(count) * lengths[unit as keyof typeof lengths];
  if (!Number.isSafeInteger(length)) return undefined;
  return sign === "-" && length > 0 ? -length : length;
}

/**
 * Epoch milliseconds of an ISO 8601 time with a zone; `undefined` if the text is not a time, has a day or an hour that
 * does not exist, or is outside of the years 0000 to 9999 in UTC. Digits after the milliseconds are cut.
 *
 * @example
 * parseTime("2026-03-02T09:00:00Z"); // 1_772_442_000_000
 * parseTime("2026-02-30T09:00:00Z"); // undefined
 */
export function parseTime(text: string): number | undefined {
  // `Date` accepts 24:00.
  if (!timePattern.test(text) || !hasDay(text) || text.startsWith("24", 11)) return undefined;
  const time = Date.parse(text.toUpperCase().replace(/(\.\d{3})\d+/, "$1"));
  return isInstant(time) ? time : undefined;
}

/** Whether the day of a time exists: `Date` turns February 30 into March 2. */
function hasDay(text: string): boolean {
  const date = text.slice(0, 10);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

/** A time (epoch milliseconds), or a duration from a start, in milliseconds. */
export type When = { readonly at: number } | { readonly after: number };

/** `undefined` for a text that is neither a time nor a duration of at most a hundred years. */
export function parseWhen(text: string): When | undefined {
  const after = parseDuration(text);
  if (after !== undefined) return Math.abs(after) > maximumDuration ? undefined : { after };
  const at = parseTime(text);
  return at === undefined ? undefined : { at };
}

/** Epoch milliseconds of a time or a duration from `start`; a text must be checked. */
export function timeFrom(start: number, given: When | string): number {
  const when = typeof given === "string" ? (parseWhen(given) ?? { after: 0 }) : given;
  return "at" in when ? when.at : start + when.after;
}

/** The hint for seconds or milliseconds since 1970, which other programs write. */
function epochHint(text: string): string | undefined {
  if (!/^\d{9,10}$|^\d{12,13}$/.test(text)) return undefined;
  const time = new Date(Number(text) * (text.length > 10 ? 1 : 1000));
  return `write ${time.toISOString().replace(".000Z", "Z")}`;
}

/** What is wrong with a text that is no time, and what to write. */
export function timeHint(text: string): string {
  const epoch = epochHint(text);
  if (epoch !== undefined) return epoch;
  const plain = text.replace(" ", "T").replace(/(?<=T.*[+-]\d\d)(?=\d\d$)/, ":");
  const missing = ["", "T00:00:00Z", "Z"].find((end) => parseTime(plain + end) !== undefined);
  if (missing !== undefined) return `write ${plain}${missing}`;
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !hasDay(text)) return `there is no day ${text.slice(0, 10)}`;
  if (timePattern.test(text) && text.startsWith("24", 11))
    return "there is no such hour: a day ends with 23:59:59.999";
  return "write an ISO 8601 time with a zone, in the years 0000 to 9999, such as 2026-03-02T09:00:00Z";
}

const compound = /^([+-]?)(P?)(?:(\d{1,6})D)?(T?)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?$/i;
const spelled = /^([+-]?)(\d{1,6}(?:\.\d{1,3})?) ?(ms|milli|m(?!o)|[wdhs])[a-z]*$/i;

/** Returns the durations that a text probably means: without a unit, in other or several units, in ISO 8601, with a wrong sign. */
function meantDurations(text: string, units: readonly string[]): string[] {
  if (/^[+-]?\d+$/.test(text)) return units.map((unit) => text + unit);
  const [, sign = "", iso, days = 0, t, hours = 0, minutes = 0, seconds = 0] = compound.exec(text) ?? [];
  // In ISO 8601, an M before the T is a month.
  const isMonths = iso !== "" ? t === "" : text.endsWith("M");
  if (minutes !== 0 && isMonths)
    return [`${sign}${minutes}m`, `${sign}${Number(minutes) * 30}d`].slice(iso ? 1 : 0);
  const [, plus = sign, count = 0, name = "s"] = spelled.exec(text) ?? [];
  const sum = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  const each = lengths[name.toLowerCase().replace("milli", "ms") as keyof typeof lengths];
  const length = sum * 1000 || Math.round(Number(count) * each);
  const unit = (["d", "h", "m", "s"] as const).find((one) => length % lengths[one] === 0) ?? "ms";
  const plain = `${length / lengths[unit]}${unit}`;
  return length > 0 ? [plus + plain, plain] : [];
}

function durationHint(
  text: string,
  isAllowed: (text: string) => boolean,
  units = ["s", "m"],
): string | undefined {
  const [first, second] = [...new Set(meantDurations(text, units))].filter(isAllowed);
  if (first === undefined) return undefined;
  const isMinutes = text.endsWith("M") && first.endsWith("m") ? " (minutes)" : "";
  return `write ${first}${isMinutes}${second === undefined || first.endsWith(second) ? "" : ` or ${second}`}`;
}

// The kinds of text in the format. Each use is a new shape, which can have its own description.

/** One line, such as a name. */
export const shortText = () => s.text({ min: 1, max: 200, pattern: /^[^\r\n]*$/ });

export const ref = () =>
  s.text({
    noun: "a ref",
    example: "core-banking",
    code: "bad_ref",
    pattern: refPattern,
    max: maximumRefLength,
    hint: refHint,
  });

export const time = () =>
  s.text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    isAllowed: (given) => parseTime(given) !== undefined,
    hint: timeHint,
  });

const durationText = (
  noun: string,
  example: string,
  pattern: RegExp,
  isAllowed: (given: string) => boolean,
  units?: string[],
) => {
  const hint = (given: string) => durationHint(given, (one) => pattern.test(one) && isAllowed(one), units);
  return s.text({ noun, example, code: "bad_time", pattern, isAllowed, hint });
};
const isPositive = (given: string) => (parseDuration(given) ?? 0) > 0;
const durations = "90s, 10m, 2h or 7d";

export const duration = () =>
  durationText("a duration", durations, durationPattern, (given) => parseDuration(given) !== undefined);
/** Also in milliseconds: clients move the clock by the pause that their tests replace. */
export const clockMove = () => {
  const pattern = new RegExp(`${durationPattern.source}|${waitPattern.source}`);
  return durationText("a duration", durations, pattern, (given) => parseDuration(given) !== undefined);
};
export const positiveDuration = () => durationText("a duration", durations, waitPattern, isPositive);

export const durationOrNone = () => {
  const pattern = new RegExp(`^none$|${durationPattern.source}`);
  const isAllowed = (given: string) => given === "none" || isPositive(given);
  return durationText("a duration or none", "90d, 12h or none", pattern, isAllowed);
};

/** A duration of real time. For more than an hour, a fault can hang. */
export const wait = () => {
  const isAllowed = (given: string) => (parseDuration(given) ?? Number.POSITIVE_INFINITY) <= 60 * 60_000;
  const noun = "a duration of at most an hour";
  return durationText(noun, "250ms, 2s or 1m", waitPattern, isAllowed, ["ms", "s"]);
};

export const timeOrDuration = () =>
  s.text({
    noun: "a time or a duration",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    isAllowed: (given) => parseWhen(given) !== undefined,
    hint: (given) =>
      /^\d{4}-\d{2}-|^\d{9}/.test(given)
        ? timeHint(given)
        : durationHint(given, (one) => durationPattern.test(one) && parseWhen(one) !== undefined),
  });

export const maximumScopes = 100;

export const scope = () =>
  s.text({ noun: "a scope name", example: "attestations:read", pattern: scopePattern });

export const sha256 = () =>
  s.text({ noun: "a SHA-256", pattern: /^[0-9a-f]{64}$/, hint: () => "write 64 hex digits in lower case" });

// The largest integer of a structured field (RFC 9651), as in the RateLimit headers.
const limit = () => s.count({ max: 999_999_999_999_999 });
export const limits = s.mapping({ per_minute: s.optional(limit()), per_day: s.optional(limit()) });

/** Names with a meaning for JavaScript objects: a scenario with them could change the sandbox's own objects. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

// Refs: short names in kebab-case for the things in a scenario.

// JavaScript objects would sort a ref of digits before all others, no matter its place in the file.
const refPattern = /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;
const maximumRefLength = 64;

/** Words for requests without a valid key in stories; not allowed as refs of keys. */
export const reservedKeyRefs = ["none", "malformed", "unknown"] as const;
export type ReservedKeyRef = (typeof reservedKeyRefs)[number];

export function isReserved(ref: unknown): ref is ReservedKeyRef {
  return (reservedKeyRefs as readonly unknown[]).includes(ref);
}

/** Whether a text is in kebab-case: `core-banking`. */
export function isRef(text: string): boolean {
  return text.length <= maximumRefLength && refPattern.test(text) && !forbiddenNames.has(text);
}

function refHint(given: string, others: Readonly<Record<string, unknown>> = {}): string {
  // A key is not shown in any spelling (R46).
  if (redactKeys(given) !== given) return "write the ref of the key";
  const plain = withoutAccents(given);
  const proposal = refOfName(plain.replace(/([a-z0-9])([A-Z])/g, "$1-$2"));
  const isAscii = (text: string) => /^[\x20-\x7E]*$/.test(text);
  const isSure = isAscii(plain) && !Object.hasOwn(others, proposal);
  const how = isAscii(given) ? "in kebab-case" : "with the letters a to z, digits and hyphens";
  return `write it ${how}${isSure ? `: ${proposal}` : ""}`;
}

const accents = unicodePattern("\\p{Mn}", "gu");
const withoutAccents = (text: string) => text.normalize("NFD").replace(accents(), "");

/**
 * Makes a ref from the name of a key; a name without usable letters gets a general ref.
 *
 * @example
 * refOfName("Bänk 2"); // "bank-2"
 */
export function refOfName(name: string): string {
  const plain = withoutAccents(name).toLowerCase();
  const words = trimmed(plain.replace(/[^a-z0-9]+/g, "-"), maximumRefLength);
  if (isRef(words)) return words;
  return words === "" ? "key" : trimmed(`key-${words}`, maximumRefLength);
}

/** The first of `ref`, `ref-2`, `ref-3` … that is free; a long one is shortened to stay a valid ref. */
export function freeRefIn(
  isTaken: (ref: string) => boolean,
  ref: string,
  numbers = new Map<string, number>(),
): string {
  let number = numbers.get(ref) ?? 1;
  const numbered = () => {
    const suffix = number === 1 ? "" : `-${number}`;
    return trimmed(ref, maximumRefLength - suffix.length) + suffix;
  };
  while (isTaken(numbered()) || isReserved(numbered())) number += 1;
  numbers.set(ref, number);
  return numbered();
}

function trimmed(words: string, length: number): string {
  return words.replace(/^-+/, "").slice(0, length).replace(/-+$/, "");
}

/** What a scenario may have at most; docs/scenario-reference.md has the same table. */
export const scenarioLimits = {
  /** The text in UTF-8 has at most 1 MiB. */
  bytes: 1024 * 1024,
  /** The format itself needs seven levels. */
  levels: 32,
  /** Names, values, punctuation and line ends of its text; a thousand keys need about 40,000. */
  pieces: 250_000,
  /** All members and items, also those that aliases repeat. */
  parts: 100_000,
  aliases: 1000,
  /** A timeline has at most this many, and a story. */
  steps: 1000,
  /** One fault can affect this many by their numbers. */
  requestsOfFault: 1000,
  keys: 100_000,
  organizationsOfPopulation: 100_000,
  /** A population that is sent to a server has at most this many: they take half a second, while all other requests wait. */
  keysSent: 20_000,
} as const;
