import { redactPlainKeys } from "../../rules/redact.js";
import { hour, type Overlap, parseDuration, parseTime, timePattern } from "../../rules/time.js";
import { meantTimes, timeHint } from "../../rules/time-hint.js";
import * as s from "../../schema/shape.js";
import { unicodePattern } from "../../schema/unicode-pattern.js";
import { parseWhen } from "./when.js";

// The kinds of text and the limits in the format. Most are functions: each use is a new shape, which can have its own description.

/** One line, such as a name. */
export const shortText = () => s.text({ min: 1, max: 200, pattern: /^[^\r\n]*$/ });

export const maximumScopes = 100;

const scopePattern = /^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$/;
export const scope = () =>
  s.text({ noun: "a scope name", example: "attestations:read", pattern: scopePattern });

export const sha256 = () =>
  s.text({ noun: "a SHA-256", pattern: /^[0-9a-f]{64}$/, hint: () => "write 64 hex digits in lower case" });

// The largest integer of a structured field (RFC 9651), as in the RateLimit headers.
const limit = () => s.integer({ max: 999_999_999_999_999 });
export const limits = s.mapping({ per_minute: s.optional(limit()), per_day: s.optional(limit()) });

// Times and durations.

/** `90s`, `10m`, `2h`, `7d`, with a minus for the past. */
export const durationPattern = /^-?\d+[smhd]$/;

/** A duration without a minus, also in milliseconds: `250ms`. */
export const waitPattern = /^\d+(?:ms|[smhd])$/;

const durationExamples = "90s, 10m, 2h or 7d";
const isDuration = (text: string) => parseDuration(text) !== undefined;
const isPositive = (text: string) => (parseDuration(text) ?? 0) > 0;
const isTimeOrDuration = (text: string) => parseWhen(text) !== undefined;

export const time = () =>
  s.text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    accepts: (text) => parseTime(text) !== undefined,
    meant: meantTimes,
    hint: timeHint,
  });

/** What differs between the kinds of durations. */
interface DurationKind {
  readonly noun: string;
  readonly example: string;
  /** How it is written; JSON Schema has it, too. */
  readonly pattern: RegExp;
  /** Whether a text that is written so is a duration of this kind. */
  readonly accepts: (text: string) => boolean;
  /** The units that a number without a unit probably means. */
  readonly units?: string[];
}

function durationText(kind: DurationKind) {
  const { noun, example, pattern, accepts, units } = kind;
  const fits = (text: string) => pattern.test(text) && accepts(text);
  return s.text({ noun, example, code: "bad_time", pattern, accepts, meant: withUnit(fits, units) });
}

/** A number without a unit may mean each of these that is allowed. */
function withUnit(isAllowed: (text: string) => boolean, units: readonly string[] = ["s", "m"]) {
  return (text: string) => {
    const durations = /^-?\d+$/.test(text) ? units.map((unit) => text + unit) : [];
    return durations.filter(isAllowed);
  };
}

/** How long a replaced key still works, in whole seconds: a number without a unit would be read in several ways. */
export function overlap(): s.Shape<Overlap> {
  const inTime = durationText({
    noun: "a duration, or 0",
    example: durationExamples,
    pattern: durationPattern,
    accepts: isDuration,
  });
  return s.either(inTime, s.choice([0])) as s.Shape<Overlap>; // the type of the texts that fit the pattern, and of 0
}

/** How far the clock moves. Also in milliseconds: clients move it by the pause that their tests replace. */
export const clockMove = () =>
  durationText({
    noun: "a duration",
    example: durationExamples,
    pattern: new RegExp(`${durationPattern.source}|${waitPattern.source}`),
    accepts: isDuration,
  });

/** How long a step of a story waits. */
export const positiveDuration = () =>
  durationText({
    noun: "a duration",
    example: durationExamples,
    pattern: waitPattern,
    accepts: isPositive,
  });

/** How long something lasts, if it ends at all. */
export const durationOrNone = () =>
  durationText({
    noun: "a duration or none",
    example: "90d, 12h or none",
    pattern: new RegExp(`^none$|${durationPattern.source}`),
    accepts: (text) => text === "none" || isPositive(text),
  });

/** A duration of real time. For more than an hour, a fault can hang. */
export const wait = () =>
  durationText({
    noun: "a duration of at most an hour",
    example: "250ms, 2s or 1m",
    pattern: waitPattern,
    accepts: (text) => (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= hour,
    units: ["ms", "s"],
  });

/** When something happens: at a time, or so long after the start. */
export function timeOrDuration() {
  const meantDurations = withUnit((text) => durationPattern.test(text) && isTimeOrDuration(text));
  return s.text({
    noun: "a time or a duration",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    accepts: isTimeOrDuration,
    meant: (text) => (isLikeTime(text) ? meantTimes(text) : meantDurations(text)),
    hint: (text) => (isLikeTime(text) ? timeHint(text) : undefined),
  });
}

/** Whether a text looks more like a time than like a duration: `2026-03-02 09:00`, or `1772442000` seconds since 1970. */
function isLikeTime(text: string): boolean {
  return /^\d{4}-\d{2}-|^\d{9}/.test(text);
}

/** Names with a meaning for JavaScript objects: a scenario with them could change the sandbox's own objects. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

// Refs: short names in kebab-case for the things in a scenario.

/** At least one letter: JavaScript objects would sort a ref of digits before all others, no matter its place in the file. */
const refPattern = /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;
const maximumRefLength = 64;

/** The ref that something gets. `prefix` is put before a number. */
export const ref = (prefix = "key") =>
  s.text({
    noun: "a ref",
    example: "core-banking",
    code: "bad_ref",
    pattern: refPattern,
    max: maximumRefLength,
    hint: (name, siblings) => refHint(name, prefix, siblings),
  });

/** The ref of something that exists, which is not its name. */
export const refOf = (thing: "key" | "organization") =>
  s.text({ ...ref(), refersTo: thing, hint: () => `write the ref of the ${thing}` });

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

function refHint(name: string, prefix: string, siblings: Readonly<Record<string, unknown>> = {}): string {
  // A key is not shown in any spelling (R46).
  if (redactPlainKeys(name) !== name) return "write the ref of the key";

  const how = isAscii(name) ? "in kebab-case" : "with the letters a to z, digits and hyphens";
  const plain = removeAccents(name);
  const inWords = plain.replace(/([a-z0-9])([A-Z])/g, "$1-$2");
  const proposal = refOfName(inWords, prefix);
  // A proposal would lack the letters that are not in ASCII.
  if (!isAscii(plain) || Object.hasOwn(siblings, proposal)) return `write it ${how}`;
  return `write it ${how}: ${proposal}`;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7E]*$/.test(text);
}

/** Accents, which follow their letters in a decomposed text. */
const accents = unicodePattern("\\p{Mn}", "gu");

function removeAccents(text: string): string {
  return text.normalize("NFD").replace(accents(), "");
}

/**
 * Makes a ref from the name of a key; a name without usable letters gets a general ref, which starts with `prefix`.
 *
 * @example
 * refOfName("Bänk 2"); // "bank-2"
 */
export function refOfName(name: string, prefix = "key"): string {
  const plain = removeAccents(name).toLowerCase();
  const words = trimmed(plain.replace(/[^a-z0-9]+/g, "-"), maximumRefLength);
  if (isRef(words)) return words;
  return words === "" ? prefix : trimmed(`${prefix}-${words}`, maximumRefLength);
}

/**
 * The first of `ref`, `ref-2`, `ref-3` … that is free; a long one is shortened to stay a valid ref. `numbers` keeps where
 * the search for each ref has ended, so that many keys of one name do not search from the start.
 */
export function freeRefIn(
  isTaken: (ref: string) => boolean,
  ref: string,
  numbers: Map<string, number>,
): string {
  let number = numbers.get(ref) ?? 1;
  let free = numberedRef(ref, number);
  while (isTaken(free) || isReserved(free)) {
    number += 1;
    free = numberedRef(ref, number);
  }
  numbers.set(ref, number);
  return free;
}

function numberedRef(ref: string, number: number): string {
  const suffix = number === 1 ? "" : `-${number}`;
  return trimmed(ref, maximumRefLength - suffix.length) + suffix;
}

/** The start of a ref, without hyphens at its ends. */
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
  lexemes: 250_000,
  /** All members and items, also those that aliases repeat. */
  membersAndItems: 100_000,
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
