import { redactPlainKeys } from "../../rules/keys/redact.js";
import * as s from "../../schema/shape.js";
import { unicodePattern } from "../../schema/unicode-pattern.js";
import { forbiddenNames } from "./scenario-limits.js";

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

  const how = isAscii(name) ? "in kebab-case" : "with the letters a to z, digits and hyphens";
  const withoutAccents = removeAccents(name);
  // Other letters than a to z are no part of a ref: a proposal would lack them.
  if (!isAscii(withoutAccents)) return `write it ${how}`;

  // `coreBanking` is `core-banking`.
  const inWords = withoutAccents.replace(/([a-z0-9])([A-Z])/g, "$1-$2");
  return `write it ${how}: ${refOfName(inWords, prefix)}`;
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

/** The first of `ref`, `ref-2`, `ref-3` … that is free; a long one is shortened to stay a valid ref. */
export function freeRefIn(isTaken: (ref: string) => boolean, ref: string): string {
  let number = 1;
  let free = numberedRef(ref, number);
  while (isTaken(free) || isReserved(free)) {
    number += 1;
    free = numberedRef(ref, number);
  }
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
