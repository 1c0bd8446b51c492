import { isPlainObject } from "../../schema/type-tag.js";
import { quote, unicodePattern } from "../../schema/words.js";
import { decodePrintable } from "./find-keys.js";
import { keyPrefixes } from "./key-text.js";

// Removes keys from texts that people or files get (R46). What might be a key is more than what the API takes for one, which
// `find-keys.ts` finds:
//
// - `redactPlainKeys` shortens keys in any case, and keeps all other text, also what is encoded: for texts that this tool
//   has written, in which a value of a caller may stand, and for paths, of which `redactPath` hides what may be encoded.
// - `redact` does so after decoding, and also cuts a text behind the prefix of a key in hex or Base64: for texts from outside.
//   What is behind such a prefix cannot be told apart from the key, since an encoded text may be cut or wrapped.

/**
 * A prefix in any case, perhaps with encoded underscores, and all that a key, or an encoded one, may have.
 *
 *   SVC_test_a~b%   up to its end
 *   SVC_test_.a     up to its end
 *   SVC_test_       no key: a prefix alone
 *   SVC_test_.      no key: the end of a sentence
 */
const keyWithPrefix = /(svc(?:_|%5f)(?:test|live)(?:_|%5f))[.~]*[\w%-][\w%.~-]*/gi;

/** Shortens each key in a text to its prefix, in any case and with encoded underscores. */
export function redactPlainKeys(text: string): string {
  return text.replace(keyWithPrefix, "$1…");
}

/**
 * The three forms of a prefix in Base64, which writes three bytes as four letters: behind none, one or two other bytes. They have
 * the letters that depend only on the prefix; any other is `?` here.
 *
 *   bytes    SVC  _te  st_          ?SV  C_t  est  _
 *   letters  U1ZD X3Rl c3Rf         ??NW Q190 ZXN0 X?
 */
function base64Forms(prefix: string): string[] {
  const forms: string[] = [];
  for (const bytesBefore of [0, 1, 2]) {
    const letters = btoa("\0".repeat(bytesBefore) + prefix);
    // A byte has 8 bits, a letter 6.
    const firstOfPrefix = Math.ceil((bytesBefore * 8) / 6);
    const endOfPrefix = Math.floor(((bytesBefore + prefix.length) * 8) / 6);
    forms.push(letters.slice(firstOfPrefix, endOfPrefix));
  }
  return forms;
}

/** What shows that a text hides a key: a prefix in hex, in lower and upper case, and in Base64. */
const encodedPrefixes: string[] = [];
for (const { prefix } of keyPrefixes) {
  const shown = prefix.replace("legacy", "");
  let hex = "";
  for (const character of shown) hex += character.charCodeAt(0).toString(16);
  encodedPrefixes.push(hex, hex.toUpperCase(), ...base64Forms(shown));
}
const encodedKey = new RegExp(`(${encodedPrefixes.join("|")}).+`, "s");

/** A text without keys, even if they are encoded repeatedly, and cut behind the prefix of a key in hex or Base64. */
export function redact(text: string): string {
  const decoded = decodePrintable(text);
  const redacted = redactPlainKeys(decoded).replace(encodedKey, "$1…");
  // Only a text that had a key is shown decoded; any other is unchanged.
  return redacted === decoded ? text : redacted;
}

const longestPath = 500;
/** What a cut path ends with: a separate segment, so that it is never the path of an endpoint. */
const cutEnd = "/…";

/**
 * Words of letters and digits, separated by `-`, `.`, `_` and `…`. A key in Base64 or hex has more letters and digits in a row, so a
 * longer word may be one.
 */
const shortWords = unicodePattern("^(?:[\\p{L}\\p{M}\\p{N}]{0,20}[-._…])*[\\p{L}\\p{M}\\p{N}]{0,20}$", "u");

/** A path that is safe to show (R46): `/v1/%53VC_test_1/SVC_test_2` becomes `/v1/…/SVC_test_…`. */
export function redactPath(path: string): string {
  const isLong = path.length > longestPath + cutEnd.length;
  const start = isLong ? path.slice(0, longestPath) : path;
  const segments = start.split("/").map((segment) => {
    const redacted = redactPlainKeys(segment);
    // An encoded key may be in it.
    return shortWords().test(redacted) ? redacted : "…";
  });
  const safe = segments.join("/");
  return copyText(isLong ? safe + cutEnd : safe);
}

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
