import { decodePrintable } from "./decode-printable.js";
import { encodingsOf } from "./encoded-prefixes.js";
import { endOfRun, prefixesIn } from "./find-prefixes.js";
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

/** Whether a key, or an encoded one, may have this character. */
function mayBeInKey(code: number): boolean {
  return isKeyCharacter(code) || code === percentSign || isPunctuation(code);
}

const percentSign = "%".charCodeAt(0);

/** Whether a character is `.` or `~`: an encoded key may have them, but they alone are none. */
function isPunctuation(code: number): boolean {
  return ".~".includes(String.fromCharCode(code));
}

/** What shows that a text hides a key. A legacy prefix is found by its part without `legacy`. */
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
