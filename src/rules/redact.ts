import { isKeyCharacter, keyPrefixes } from "./api-key.js";

/** Everything that looks like a key, also percent-encoded: a prefix and at least one character. */
export function findKeys(text: string): string[] {
  // Not a regular expression: V8 keeps the last string it was run on, and this one may contain a key (R46).
  const plain = decodePrintable(text);
  const keys: string[] = [];
  for (const { prefix } of keyPrefixes) findPrefixed(plain, prefix, keys);
  return keys;
}

export const maxFirst = 20;

/** The first keys that `findKeys` finds: the record of a request must not grow with repeated keys. */
export function findFirstKeys(text: string): string[] {
  return findKeys(text).slice(0, maxFirst);
}

/** Whether `redactEncoded` would remove something (R46): the only decision whether a text may be stored or shown. */
export function containsKey(text: string): boolean {
  // Not a regular expression, as in `findKeys`.
  const plain = decodePrintable(text);
  const lower = plain.toLowerCase();
  return (
    plainPrefixes.some((prefix) => isFollowed(lower, prefix, isRedacted)) ||
    encodedPrefixes.some((prefix) => isFollowed(plain, prefix, () => true))
  );
}

function isFollowed(text: string, prefix: string, isWanted: (code: number) => boolean): boolean {
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1)) {
    const end = at + prefix.length;
    if (end < text.length && isWanted(text.charCodeAt(end))) return true;
  }
  return false;
}

// The characters after a prefix in `anyKey`.
function isRedacted(code: number): boolean {
  return isKeyCharacter(code) || "%~.".includes(String.fromCharCode(code));
}

function findPrefixed(text: string, prefix: string, keys: string[]): void {
  let end = 0;
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, end)) {
    end = at + prefix.length;
    while (isKeyCharacter(text.charCodeAt(end))) end += 1;
    if (end > at + prefix.length) keys.push(text.slice(at, end));
  }
}

const maxDecodings = 10;

/** Decodes printable ASCII repeatedly: a key that three proxies encoded is still a key. A line break would forge a line of a log. */
export function decodePrintable(text: string): string {
  let decoded = text;
  for (let i = 0; i < maxDecodings && (decoded.includes("%") || decoded.includes("\\u00")); i++) {
    const next = decodeOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

const letterU = "u".charCodeAt(0);

function decodeOnce(encoded: string): string {
  // JSON in JSON has two backslashes.
  const text = encoded.replaceAll("\\\\u00", "\\u00").replaceAll("\\u00", "%u00");
  let decoded = "";
  let from = 0;
  for (let at = text.indexOf("%"); at !== -1; at = text.indexOf("%", at + 1)) {
    const digits =
      (text.charCodeAt(at + 1) | 32) === letterU && text.startsWith("00", at + 2) ? at + 4 : at + 1;
    const code = hexDigit(text.charCodeAt(digits)) * 16 + hexDigit(text.charCodeAt(digits + 1));
    if (!(code >= 0x20 && code < 0x7f)) continue;
    decoded += text.slice(from, at) + String.fromCharCode(code);
    from = digits + 2;
    at = from - 1;
  }
  return decoded + text.slice(from);
}

function hexDigit(code: number): number {
  if (code >= 48 && code < 58) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter < 103 ? letter - 87 : Number.NaN;
}

const anyKey = /(legacysvc|svc)(_|%5f)(test|live)(_|%5f)[\w%~.-]+/gi;

/** Shortens each key in a text to its prefix, in any case and with encoded underscores (R46). */
export function redactKeys(text: string): string {
  return text.replace(anyKey, (_key, product, a, environment, b) => `${product}${a}${environment}${b}…`);
}

/** Plain data with every text and member name redacted, except for the values of kept members. */
export function redactValue<Value>(
  value: Value,
  redact: (text: string) => string = redactKeys,
  isKept: (name: string, member: unknown) => boolean = () => false,
): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact, isKept)) as Value;
  const members = Object.entries(value).map(([name, member]) => [
    redact(name),
    isKept(name, member) ? member : redactValue(member, redact, isKept),
  ]);
  return Object.fromEntries(members);
}

/** A text without keys, even if they are encoded repeatedly, and truncated after the prefix of a key in hex or Base64 (R46). */
export function redactEncoded(text: string): string {
  // Only a text with a hidden key is shown decoded; any other is unchanged.
  if (!containsKey(text)) return text;
  return encodedPrefixes.reduce(cutBehind, redactKeys(decodePrintable(text)));
}

// The prefixes in each encoding, independent of the text around them. A legacy prefix ends with `svc_test_`.
const plainPrefixes = keyPrefixes.map(({ prefix, legacy }) => prefix.slice(legacy ? "legacy".length : 0));
const encodedPrefixes = plainPrefixes.flatMap((prefix) => {
  const hex = [...prefix].map((one) => one.charCodeAt(0).toString(16)).join("");
  return [hex, hex.toUpperCase(), ...[0, 1, 2].map((offset) => base64At(offset, prefix))];
});

/** A prefix in Base64, and the letters of its group before it. */
const base64Prefixes = keyPrefixes.flatMap(({ prefix }) =>
  [0, 1, 2].map((offset) => ({ prefix: base64At(offset, prefix), before: Math.ceil((offset * 8) / 6) })),
);

// Three bytes are four letters: a letter is constant if all its bits are from the prefix.
function base64At(offset: number, prefix: string): string {
  const letters = btoa("\0".repeat(offset) + prefix);
  return letters.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + prefix.length) * 8) / 6));
}

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`. */
export function findBase64Keys(text: string): string[] {
  // Not a regular expression, as in `findKeys`.
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys: string[] = [];
  for (const { prefix, before } of base64Prefixes)
    for (let at = plain.indexOf(prefix); at !== -1; at = plain.indexOf(prefix, at + 1)) {
      let [start, end] = [at, at];
      while (isBase64(plain.charCodeAt(end))) end += 1;
      while (at - start < before && isBase64(plain.charCodeAt(start - 1))) start -= 1;
      // Four letters are three bytes; one letter is no end.
      const length = end - start - ((end - start) % 4 === 1 ? 1 : 0);
      if (at - start === before) keys.push(...findKeys(atob(plain.slice(start, start + length))));
    }
  return keys;
}

function isBase64(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 43 || code === 47;
}

// To the end: an encoded text may be split into lines or pieces.
function cutBehind(text: string, prefix: string): string {
  const at = text.indexOf(prefix);
  const end = at + prefix.length;
  return at === -1 || end === text.length ? text : `${text.slice(0, end)}…`;
}
