import { redactPlainKeys } from "../../rules/keys/redact.js";
import * as s from "../../schema/shape.js";
import { unicodePattern } from "../../schema/words.js";

// Texts and numbers of the format. Most are functions: each use is a new shape, which can have its own description.

/** One line, such as a name. */
export const shortText = () =>
  s.text({
    noun: "one line of 1 to 200 characters",
    code: "out_of_range",
    min: 1,
    max: 200,
    pattern: /^[^\r\n]*$/,
  });

export const maximumScopes = 100;

const scopePattern = /^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$/;
export const scope = () =>
  s.text({ noun: "a scope name", example: "attestations:read", pattern: scopePattern });

// The largest integer of a structured field (RFC 9651), as in the RateLimit headers.
const limit = () => s.integer({ max: 999_999_999_999_999 });
export const limits = s.mapping({ per_minute: s.optional(limit()), per_day: s.optional(limit()) });

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
    hint: (name) => refHint(name, prefix),
  });

/** The ref of something that exists, which is not its name. */
export const refOf = (thing: "key" | "organization") =>
  s.text({ ...ref(), hint: () => `write the ref of the ${thing}` });

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

function refHint(name: string, prefix: string): string {
  // A key is not shown in any spelling (R46).
  if (redactPlainKeys(name) !== name) return "write the ref of the key";
  // `coreBanking` is `core-banking`.
  const inWords = name.replace(/([a-z0-9])([A-Z])/g, "$1-$2");
  return `write it in kebab-case, such as ${refOfName(inWords, prefix)}`;
}

/** Accents, which follow their letters in a decomposed text. */
const accents = unicodePattern("\\p{Mn}", "gu");

/**
 * Makes a ref from the name of a key; a name without usable letters gets a general ref, which starts with `prefix`.
 *
 * @example
 * refOfName("Bänk 2"); // "bank-2"
 */
export function refOfName(name: string, prefix = "key"): string {
  const plain = name.normalize("NFD").replace(accents(), "").toLowerCase();
  const words = trimmed(plain.replace(/[^a-z0-9]+/g, "-"), maximumRefLength);
  if (isRef(words)) return words;
  return words === "" ? prefix : trimmed(`${prefix}-${words}`, maximumRefLength);
}

/** The first of `ref`, `ref-2`, `ref-3` … that is free; a long one is shortened to stay a valid ref. */
export function freeRefIn(isTaken: (ref: string) => boolean, ref: string): string {
  let number = 1;
  let free = trimmed(ref, maximumRefLength);
  while (isTaken(free) || isReserved(free)) {
    number += 1;
    const suffix = `-${number}`;
    free = trimmed(ref, maximumRefLength - suffix.length) + suffix;
  }
  return free;
}

/** The start of a ref, without hyphens at its ends. */
function trimmed(words: string, length: number): string {
  return words.replace(/^-+/, "").slice(0, length).replace(/-+$/, "");
}

/** What a scenario may have at most; docs/scenario-reference.md has those that people reach. */
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

/** Names with a meaning for JavaScript objects: a scenario with them could change the sandbox's own objects. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
