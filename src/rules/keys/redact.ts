import { isPlainObject } from "../../schema/type-tag.js";
import { quote, unicodePattern } from "../../schema/words.js";
import { decodePrintable } from "./decode-printable.js";
import { base64Forms, endOfRun, prefixesIn } from "./find-keys.js";
import { isKeyCharacter, keyPrefixes } from "./key-text.js";

// Removes keys from texts that people or files get (R46). What might be a key is more than what the API takes for one, which
// `find-keys.ts` finds:
//
// - `redactPlainKeys` shortens keys in any case, and keeps all other text, also what is encoded: for texts that this tool
//   has written, in which a value of a caller may stand, and for paths, of which `redactPath` hides what may be encoded.
// - `redact` does so after decoding, and also cuts a text behind the prefix of a key in hex or Base64: for texts from outside.
//   What is behind such a prefix cannot be told apart from the key, since an encoded text may be cut or wrapped.

/** Shortens each key in a text to its prefix, in any case and with encoded underscores. */
export function redactPlainKeys(text: string): string {
  let redacted = "";
  /** The text before this position is in `redacted`. */
  let copiedTo = 0;
  for (const prefix of prefixesIn(text)) {
    const isInsideKey = prefix.start < copiedTo;
    if (isInsideKey) continue;
    const end = endOfKey(text, prefix.end);
    if (end === undefined) continue;
    redacted += `${text.slice(copiedTo, prefix.end)}…`;
    copiedTo = end;
  }
  return redacted + text.slice(copiedTo);
}

/**
 * The end of what is hidden behind a prefix: from there on all that a key, or an encoded one, may have. `undefined` if there is
 * nothing of a key.
 *
 * @example
 * // SVC_test_      none: a prefix alone
 * // SVC_test_.     none: the end of a sentence
 * // SVC_test_a~b%  up to its end
 * // SVC_test_.a    up to its end
 */
function endOfKey(text: string, prefixEnd: number): number | undefined {
  const endOfPunctuation = endOfRun(text, prefixEnd, isPunctuation);
  const end = endOfRun(text, endOfPunctuation, mayBeInKey);
  const isPunctuationAlone = end === endOfPunctuation;
  return isPunctuationAlone ? undefined : end;
}

/** Whether a character is `.` or `~`: an encoded key may have them, but they alone are none. */
function isPunctuation(code: number): boolean {
  return ".~".includes(String.fromCharCode(code));
}

/** Whether a key, or an encoded one, may have this character. */
function mayBeInKey(code: number): boolean {
  return isKeyCharacter(code) || code === "%".charCodeAt(0) || isPunctuation(code);
}

/** What shows that a text hides a key: a prefix in hex, in lower and upper case, and its three forms in Base64. */
const encodedPrefixes = keyPrefixes.flatMap(({ prefix, legacy }) => {
  // A legacy prefix is found by its part without `legacy`.
  const shown = legacy ? prefix.slice("legacy".length) : prefix;
  let hex = "";
  for (const character of shown) hex += character.charCodeAt(0).toString(16);
  return [hex, hex.toUpperCase(), ...base64Forms(shown)];
});

/** A text without keys, even if they are encoded repeatedly, and cut behind the prefix of a key in hex or Base64. */
export function redact(text: string): string {
  const decoded = decodePrintable(text);
  let redacted = redactPlainKeys(decoded);
  for (const prefix of encodedPrefixes) {
    const at = redacted.indexOf(prefix);
    const end = at + prefix.length;
    if (at !== -1 && end < redacted.length) redacted = `${redacted.slice(0, end)}…`;
  }
  // Only a text that had a key is shown decoded; any other is unchanged.
  return redacted === decoded ? text : redacted;
}

const longestPath = 500;
/** What a cut path ends with: a separate segment, so that it is never the path of an endpoint. */
const cutEnd = "/…";

/** A key in Base64 or hex has more letters and digits in a row than these, so a longer word may be one. */
const longestWord = 20;

/** A path that is safe to show (R46): `/v1/%53VC_test_1/SVC_test_2` becomes `/v1/…/SVC_test_…`. */
export function redactPath(path: string): string {
  const isLong = path.length > longestPath + cutEnd.length;
  const start = isLong ? path.slice(0, longestPath) : path;
  const segments = start.split("/").map((segment) => {
    const redacted = redactPlainKeys(segment);
    // An encoded key may be in it.
    return hasOnlyWords(redacted) ? redacted : "…";
  });
  const safe = segments.join("/");
  return copyText(isLong ? safe + cutEnd : safe);
}

/** Whether a text has only words of letters and digits, separated by `-`, `.`, `_` and `…`. */
function hasOnlyWords(text: string): boolean {
  let wordLength = 0;
  for (const character of text) {
    if ("-._…".includes(character)) {
      wordLength = 0;
      continue;
    }
    const isInWord = /[\dA-Za-z]/.test(character) || inWord().test(character);
    if (wordLength === longestWord || !isInWord) return false;
    wordLength += 1;
  }
  return true;
}

const inWord = unicodePattern("[\\p{L}\\p{M}\\p{N}]", "u");

/**
 * Plain data with each text and each member name changed, except in the values of kept members. No other text is left: what is
 * no plain data becomes what messages call it, such as `a Map`, and a value inside itself becomes `[circular]`.
 */
export function mapTexts<Value>(
  value: Value,
  change: (text: string) => string,
  isKept: (name: string, member: unknown) => boolean = () => false,
): Value {
  return mapInside(value, change, isKept, []) as Value; // plain data keeps its members
}

/** `holders` are the values that this value is in, from the outside in. */
function mapInside(
  value: unknown,
  change: (text: string) => string,
  isKept: (name: string, member: unknown) => boolean,
  holders: readonly unknown[],
): unknown {
  if (typeof value === "string") return change(value);
  const mayHaveText = ["object", "function", "symbol"].includes(typeof value);
  if (!mayHaveText || value === null) return value;
  if (holders.includes(value)) return "[circular]";

  const inner = [...holders, value];
  if (Array.isArray(value)) return Array.from(value, (item) => mapInside(item, change, isKept, inner));
  if (!isPlainObject(value)) return change(quote(value));

  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const changed = isKept(name, member) ? member : mapInside(member, change, isKept, inner);
    members.push([change(name), changed]);
  }
  return Object.fromEntries(members);
}

/** A copy of a text in its own memory: a substring would keep the whole text alive. */
export function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
