import { isKeyCharacter, keyPrefixes } from "./api-key.js";

/** Everything that looks like a key, also percent-encoded: a prefix and at least one character. */
export function findKeys(text: string): string[] {
  // Not a regular expression: V8 keeps the last string it was run on, and this one may contain a key (R46).
  const plain = decodePrintable(text);
  const keys: string[] = [];
  for (const { prefix } of keyPrefixes) addPrefixed(keys, plain, prefix);
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

/** Whether a character belongs to a key behind its prefix, as in `anyKey`. */
function isRedacted(code: number): boolean {
  return isKeyCharacter(code) || "%~.".includes(String.fromCharCode(code));
}

function addPrefixed(keys: string[], text: string, prefix: string): void {
  let at = text.indexOf(prefix);
  while (at !== -1) {
    const start = at + prefix.length;
    let end = start;
    while (isKeyCharacter(text.charCodeAt(end))) end += 1;
    if (end > start) keys.push(text.slice(at, end));
    at = text.indexOf(prefix, end);
  }
}

const maxDecodings = 10;

/** Decodes printable ASCII repeatedly: a key that three proxies encoded is still a key. A line break would forge a line of a log. */
export function decodePrintable(text: string): string {
  let decoded = text;
  for (let round = 0; round < maxDecodings; round++) {
    const mayBeEncoded = decoded.includes("%") || decoded.includes("\\u00");
    if (!mayBeEncoded) break;
    const next = decodeOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

const letterU = "u".charCodeAt(0);

/** Decodes `%53`, `%u0053` and `\u0053`. */
function decodeOnce(encoded: string): string {
  // JSON in JSON has two backslashes.
  const text = encoded.replaceAll("\\\\u00", "\\u00").replaceAll("\\u00", "%u00");
  let decoded = "";
  /** The end of what is decoded. */
  let done = 0;
  let at = text.indexOf("%");
  while (at !== -1) {
    const isUnicode = (text.charCodeAt(at + 1) | 32) === letterU && text.startsWith("00", at + 2);
    const digits = isUnicode ? at + 4 : at + 1;
    const code = hexDigit(text.charCodeAt(digits)) * 16 + hexDigit(text.charCodeAt(digits + 1));
    const isPrintable = code >= 0x20 && code < 0x7f;
    if (isPrintable) {
      decoded += text.slice(done, at) + String.fromCharCode(code);
      done = digits + 2;
    }
    at = text.indexOf("%", isPrintable ? done : at + 1);
  }
  return decoded + text.slice(done);
}

/** The value of a hex digit by its character code; NaN for another character. */
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

  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const redacted = isKept(name, member) ? member : redactValue(member, redact, isKept);
    members.push([redact(name), redacted]);
  }
  return Object.fromEntries(members) as Value;
}

/** A text without keys, even if they are encoded repeatedly, and truncated after the prefix of a key in hex or Base64 (R46). */
export function redactEncoded(text: string): string {
  // Only a text with a hidden key is shown decoded; any other is unchanged.
  if (!containsKey(text)) return text;
  let redacted = redactKeys(decodePrintable(text));
  for (const prefix of encodedPrefixes) redacted = cutBehind(redacted, prefix);
  return redacted;
}

/** A prefix as it is in Base64. */
interface Base64Prefix {
  /** The letters that are the same whatever is before and after the prefix. */
  readonly letters: string;
  /** How many letters of its group are before them. */
  readonly before: number;
}

/**
 * Base64 writes groups of three bytes as four letters of six bits. A prefix starts at the first, second or third byte of
 * a group, and a letter is the same in each text if all its bits are of the prefix.
 */
function base64Prefixes(prefix: string): Base64Prefix[] {
  const forms: Base64Prefix[] = [];
  for (const offset of [0, 1, 2]) {
    const before = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + prefix.length) * 8) / 6);
    const encoded = btoa("\0".repeat(offset) + prefix);
    forms.push({ letters: encoded.slice(before, end), before });
  }
  return forms;
}

// In lower case, a legacy prefix without `legacy` is the current one.
const plainPrefixes = keyPrefixes.map(({ prefix, legacy }) => prefix.slice(legacy ? "legacy".length : 0));
const encodedPrefixes = plainPrefixes.flatMap(encodingsOf);
const wholeBase64Prefixes = keyPrefixes.flatMap(({ prefix }) => base64Prefixes(prefix));

function encodingsOf(prefix: string): string[] {
  let hex = "";
  for (const character of prefix) hex += character.charCodeAt(0).toString(16);
  const encodings = [hex, hex.toUpperCase()];
  for (const { letters } of base64Prefixes(prefix)) encodings.push(letters);
  return encodings;
}

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`. */
export function findBase64Keys(text: string): string[] {
  // Not a regular expression, as in `findKeys`.
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys: string[] = [];
  for (const { letters, before } of wholeBase64Prefixes) {
    let at = plain.indexOf(letters);
    while (at !== -1) {
      // Decoding starts with the group of the prefix, which must be whole.
      const start = at - before;
      let end = start;
      while (isBase64(plain.charCodeAt(end))) end += 1;
      // Four letters are three bytes; one letter is no end.
      const last = (end - start) % 4 === 1 ? end - 1 : end;
      if (end > at) keys.push(...findKeys(atob(plain.slice(start, last))));
      at = plain.indexOf(letters, at + 1);
    }
  }
  return keys;
}

function isBase64(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 43 || code === 47;
}

/** Cuts a text behind the first such prefix, to its end: an encoded text may be split into lines or pieces. */
function cutBehind(text: string, prefix: string): string {
  const at = text.indexOf(prefix);
  if (at === -1) return text;
  const end = at + prefix.length;
  return end === text.length ? text : `${text.slice(0, end)}…`;
}
