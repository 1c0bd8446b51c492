import { decodePrintable } from "./decode-printable.js";
import { encodingsOf } from "./encoded-prefixes.js";
import { endOfRun } from "./find-keys.js";
import { environments, isKeyCharacter, keyPrefixes } from "./key-text.js";

// Removes keys from texts that people or files get (R46). What might be a key is more than what the API takes for one, which
// `find-keys.ts` finds:
//
// - `redactPlainKeys` shortens keys in any case, and keeps all other text, also what is encoded: for texts that this tool
//   has written, in which a value of a caller may stand.
// - `redact` does so after decoding, and also cuts a text behind the prefix of a key in hex or Base64: for texts from outside.
//   What is behind such a prefix cannot be told apart from the key, since an encoded text may be cut or wrapped.
//
// No regular expression runs on a text that may have a key: V8 keeps the last text that one has matched, as
// `RegExp.input` (R35).

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
interface KeyPosition {
  readonly prefixEnd: number;
  readonly end: number;
}

/** What each prefix has in lower case before its environment, with or without `legacy`. */
const prefixStem = "svc";

/** The next key from a position on. `lower` is the text in lower case. */
function nextKey(text: string, lower: string, from: number): KeyPosition | undefined {
  for (let at = lower.indexOf(prefixStem, from); at !== -1; at = lower.indexOf(prefixStem, at + 1)) {
    const prefixEnd = endOfPrefix(lower, at);
    if (prefixEnd === undefined) continue;
    // A prefix alone is no key, nor with the end of a sentence behind it.
    const start = endOfRun(text, prefixEnd, isPunctuation);
    const end = endOfRun(text, start, isRedacted);
    if (end > start) return { prefixEnd, end };
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
  return isKeyCharacter(code) || code === percentSign || isPunctuation(code);
}

const percentSign = "%".charCodeAt(0);

/** Whether a character may be between those of an encoded key, but is none itself: `.` or `~`. */
function isPunctuation(code: number): boolean {
  return ".~".includes(String.fromCharCode(code));
}

/** What shows that a text hides a key. A legacy prefix also has the encodings of its part without `legacy`. */
const encodedPrefixes = keyPrefixes.flatMap(({ prefix, legacy }) =>
  encodingsOf(legacy ? prefix.slice("legacy".length) : prefix),
);

/** A text without keys, even if they are encoded repeatedly, and cut behind the prefix of a key in hex or Base64. */
export function redact(text: string): string {
  const decoded = decodePrintable(text);
  let redacted = redactPlainKeys(decoded);
  for (const prefix of encodedPrefixes) redacted = cutBehind(prefix, redacted);
  // Only a text that had a key is shown decoded; any other is unchanged.
  return redacted === decoded ? text : redacted;
}

/** A text up to the end of this prefix, and `…` for what is behind the prefix. */
function cutBehind(encodedPrefix: string, text: string): string {
  const at = text.indexOf(encodedPrefix);
  if (at === -1) return text;
  const end = at + encodedPrefix.length;
  return text.length === end ? text : `${text.slice(0, end)}…`;
}
