import { scopePattern } from "../../spec/assumptions.js";
import { redactKeys } from "../../spec/redact.js";
import { count, mapping, optional, text, type Wording } from "../../spec/schema/shape.js";
import {
  durationHint,
  durationPattern,
  parseDuration,
  parseTime,
  parseWhen,
  timeHint,
  timePattern,
  waitPattern,
} from "./time.js";

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
