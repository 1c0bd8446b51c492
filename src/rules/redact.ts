import { decodePrintable } from "./decode-printable.js";
import { encodingsOf } from "./encoded-prefixes.js";
import { environments, isKeyCharacter, keyPrefixes } from "./key-text.js";

// Finds and removes keys in texts (R46). Four things must be so:
//
// - No regular expression of this file runs on a text that may have a key: V8 keeps the last text that one has matched, as `RegExp.input` (R35).
// - A text is decoded before it is searched: a key that a proxy has percent-encoded is still one.
// - A key in hex or Base64 is found by its prefix, whose bytes are known (`encoded-prefixes.ts`).
// - What is behind such a prefix cannot be told apart from the key, since an encoded text may be cut or wrapped: it all goes.

/** The most keys of one text in the record of a request, which must not grow with repeated keys. */
export const maxKeysKept = 20;

/** What each prefix has in lower case before its environment, with or without `legacy`. */
const prefixStem = "svc";

/** Everything that looks like a key, also percent-encoded: a prefix and at least one character. */
export function findKeys(text: string): string[] {
  const plain = decodePrintable(text);
  const keys: string[] = [];
  for (const { prefix } of keyPrefixes) {
    let at = plain.indexOf(prefix);
    while (at !== -1) {
      const start = at + prefix.length;
      const end = endOfRun(plain, start, isKeyCharacter);
      if (end > start) keys.push(plain.slice(at, end));
      at = plain.indexOf(prefix, end);
    }
  }
  return keys;
}

/** The first keys that `findKeys` finds. */
export function findFirstKeys(text: string): string[] {
  return findKeys(text).slice(0, maxKeysKept);
}

/** Shortens each key in a text to its prefix, in any case and with encoded underscores. */
export function redactPlainKeys(text: string): string {
  // A key has two underscores; most texts have none.
  if (!text.includes("_") && !text.includes("%")) return text;

  // In lower case, with each character in its place: only İ would become two.
  const lower = text.replaceAll("İ", "?").toLowerCase();
  let redacted = "";
  /** The text before this position is in `redacted`. */
  let copiedTo = 0;
  let key = nextKey(text, lower, copiedTo);
  while (key !== undefined) {
    redacted += `${text.slice(copiedTo, key.prefixEnd)}…`;
    copiedTo = key.end;
    key = nextKey(text, lower, copiedTo);
  }
  return redacted + text.slice(copiedTo);
}

/** Where a key is in a text. */
interface FoundKey {
  readonly prefixEnd: number;
  readonly end: number;
}

/** The next key from a position on. `lower` is the text in lower case. */
function nextKey(text: string, lower: string, from: number): FoundKey | undefined {
  for (let at = lower.indexOf(prefixStem, from); at !== -1; at = lower.indexOf(prefixStem, at + 1)) {
    const prefixEnd = endOfPrefix(lower, at);
    if (prefixEnd === undefined) continue;
    const end = endOfRun(text, prefixEnd, isRedacted);
    // A prefix alone is no key.
    if (end > prefixEnd) return { prefixEnd, end };
  }
  return undefined;
}

/** The end of a prefix whose stem starts here; `undefined` if no prefix does. */
function endOfPrefix(lower: string, at: number): number | undefined {
  const start = endOfUnderscore(lower, at + prefixStem.length);
  if (start === undefined) return undefined;
  for (const environment of environments) {
    if (lower.startsWith(environment, start)) return endOfUnderscore(lower, start + environment.length);
  }
  return undefined;
}

function endOfUnderscore(lower: string, at: number): number | undefined {
  if (lower.startsWith("_", at)) return at + "_".length;
  if (lower.startsWith("%5f", at)) return at + "%5f".length;
  return undefined;
}

/** Whether a character behind a prefix is redacted with it: of a key, or of an encoded one. */
function isRedacted(code: number): boolean {
  return isKeyCharacter(code) || "%~.".includes(String.fromCharCode(code));
}

/** The end of the characters of one kind that start at a position; the position itself if there are none. */
export function endOfRun(text: string, start: number, isOfKind: (code: number) => boolean): number {
  let end = start;
  while (isOfKind(text.charCodeAt(end))) end += 1;
  return end;
}

// Keys in hex and Base64.

/** What shows that a text hides a key. A legacy prefix also has the encodings of its part without `legacy`. */
const encodedPrefixes = keyPrefixes.flatMap(({ prefix, legacy }) =>
  encodingsOf(legacy ? prefix.slice("legacy".length) : prefix),
);

/** Whether a text has a key that `redact` would remove (R46): the only decision whether a text may be stored or shown. */
export function containsKey(text: string): boolean {
  const plain = decodePrintable(text);
  if (redactPlainKeys(plain) !== plain) return true;
  return encodedPrefixes.some((prefix) => hiddenKeyStart(plain, prefix) !== undefined);
}

/** A text without keys, even if they are encoded repeatedly, and truncated after the prefix of a key in hex or Base64 (R46). */
export function redact(text: string): string {
  // Only a text with a hidden key is shown decoded; any other is unchanged.
  if (!containsKey(text)) return text;
  let redacted = redactPlainKeys(decodePrintable(text));
  for (const prefix of encodedPrefixes) {
    const start = hiddenKeyStart(redacted, prefix);
    // Everything behind the prefix may be of the key: an encoded text may be split into lines or pieces.
    if (start !== undefined) redacted = `${redacted.slice(0, start)}…`;
  }
  return redacted;
}

/** Where the key behind such a prefix starts; `undefined` if there is no prefix, or nothing behind it but `…`. */
function hiddenKeyStart(text: string, encodedPrefix: string): number | undefined {
  const at = text.indexOf(encodedPrefix);
  if (at === -1) return undefined;
  const start = at + encodedPrefix.length;
  const isRemoved = text.length === start || text.slice(start) === "…";
  return isRemoved ? undefined : start;
}
