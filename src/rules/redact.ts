import { eastAsianWidth } from "get-east-asian-width";
import { isKeyCharacter, keyPrefixes } from "./api-key.js";

/**
 * A pattern with properties of Unicode, made when first used: for a literal, V8 loads their tables at each start. As
 * arguments, since the minifier writes a literal for constants.
 */
export function unicodePattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}

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

function findPrefixed(text: string, prefix: string, found: string[]): void {
  let end = 0;
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, end)) {
    end = at + prefix.length;
    while (isKeyCharacter(text.charCodeAt(end))) end += 1;
    if (end > at + prefix.length) found.push(text.slice(at, end));
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

function decodeOnce(given: string): string {
  // JSON in JSON has two backslashes.
  const text = given.replaceAll("\\\\u00", "\\u00").replaceAll("\\u00", "%u00");
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

/** Shortens each key in a text to its prefix and `end`, in any case and with encoded underscores (R46). */
export function redactKeys(text: string, end = "…"): string {
  return text.replace(anyKey, (_found, product, a, environment, b) => product + a + environment + b + end);
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

const longestPath = 500;
/** A separate segment, so that a truncated path is never the path of an endpoint. */
const cutEnd = "/…";

/** The maximum number of letters and digits in a word of a path. An encoded key has more, or other characters. */
const longestWord = 20;

/** A path that is safe to show (R46): `/v1/%53VC_test_1/SVC_test_2` becomes `/v1/…/SVC_test_…`. */
export function redactPath(path: string): string {
  const isLong = path.length > longestPath + cutEnd.length;
  const segments = (isLong ? path.slice(0, longestPath) : path).split("/").map(shownSegment);
  return copyOf(segments.join("/") + (isLong ? cutEnd : ""));
}

/** A copy of a text in its own memory: a substring would keep the whole text alive. */
export function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text));
}

function shownSegment(segment: string): string {
  const redacted = redactKeys(segment);
  return isOfWords(redacted) ? redacted : "…";
}

/** Whether a text has only words of letters and digits, separated by other plain characters. */
function isOfWords(text: string): boolean {
  let length = 0;
  for (const character of text) {
    if ("-._…".includes(character)) length = 0;
    else if (length === longestWord || !isInWord(character)) return false;
    else length += 1;
  }
  return true;
}

const inWord = unicodePattern("[\\p{L}\\p{M}\\p{N}]", "u");
const isInWord = (sign: string) => /[\dA-Za-z]/.test(sign) || inWord().test(sign);

/** A text without keys, even if they are encoded repeatedly, and truncated after the prefix of a key in hex or Base64 (R46). */
export function redactEncoded(text: string, end = "…"): string {
  // Only a text with a hidden key is shown decoded; any other is unchanged.
  if (!containsKey(text)) return text;
  return encodedPrefixes.reduce(
    (shown, prefix) => cutBehind(shown, prefix, end),
    redactKeys(decodePrintable(text), end),
  );
}

// The prefixes in each encoding, independent of the text around them. A legacy prefix ends with `svc_test_`.
const plainPrefixes = keyPrefixes.map(({ prefix, legacy }) => prefix.slice(legacy ? "legacy".length : 0));
const encodedPrefixes = plainPrefixes.flatMap((prefix) => {
  const hex = [...prefix].map((one) => one.charCodeAt(0).toString(16)).join("");
  return [hex, hex.toUpperCase(), ...[0, 1, 2].map((offset) => base64At(offset, prefix))];
});

// Three bytes are four letters: a letter is constant if all its bits are from the prefix.
function base64At(offset: number, prefix: string): string {
  const letters = btoa("\0".repeat(offset) + prefix);
  return letters.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + prefix.length) * 8) / 6));
}

// To the end: an encoded text may be split into lines or pieces.
function cutBehind(text: string, prefix: string, mark: string): string {
  const at = text.indexOf(prefix);
  const end = at + prefix.length;
  return at === -1 || end === text.length ? text : text.slice(0, end) + mark;
}

// Controls, lone surrogates, line separators, marks of direction, what XML forbids. Not `\p{…}`, which V8 loads at each start.
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a text must not contain.
  /[\0-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uD800-\uDFFF\uFEFF\uFFFE\uFFFF]/gu;

// The runner of GitHub carries out a line that starts with `::`, and `##[` anywhere in a line.
const logCommand = /(?<=^[^\S\n]*):(?=:)|#(?=#\[)/gm;

/** Replaces what could move the cursor, color a terminal, break a line or start a command of a CI log. */
export function escapeControls(text: string): string {
  return escapeCommands(text.replace(unprintable, "\uFFFD"));
}

export function escapeCommands(text: string): string {
  return text.replace(logCommand, "\uFFFD");
}

// Clients encode most of these, and a shell, Markdown or HTML gives the others a meaning.
const unsafeInPath = /[^\x21-\x7E]|["$'<>[\\\]^`|]/gu;

/** Clients differ in whether they encode these. */
const plainInPath = /[:;@=+&()!~*,]/;

/** A path from outside in one spelling: each character is encoded that is not plain in a URL, a shell or a page, and no other. */
export function encodePath(path: string): string {
  // Nearly all, and each request with a path parameter needs it.
  if (/^[\w/.~{}-]*$/.test(path)) return path;
  const encoded = (one: string) =>
    Array.from(new TextEncoder().encode(one), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const respelled = (one: string) => {
    const plain = String.fromCharCode(Number.parseInt(one.slice(1), 16));
    return plainInPath.test(plain) ? plain : one.toUpperCase();
  };
  return path
    .replace(unsafeInPath, encoded)
    .replace(/%(?![0-9a-f]{2})/gi, "%25")
    .replace(/%[0-9a-f]{2}/gi, respelled);
}

/** A path in one spelling, without the names of its parameters: paths of one form match the same requests. */
export function formOfPath(path: string): string {
  return encodePath(path).replace(/\{[^{}]*\}/g, "{}");
}

// The only sequences that we print.
const color = /^\[\d{1,2}m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a color starts with one.
const colors = /[\0-\x1F\x7F-\x9F]\[\d{1,2}m/g;

/** Replaces control characters except line ends, tabs and, if `colored`, colors. */
export function printable(text: string, colored = false): string {
  return text.replace(unprintable, (sign, at: number) => {
    if (sign === "\n" || sign === "\t" || (sign === "\r" && text[at + 1] === "\n")) return sign;
    // The byte order mark of a file.
    if (sign === "\uFEFF" && at === 0) return sign;
    return colored && sign === "\u001B" && color.test(text.slice(at + 1, at + 5)) ? sign : "\uFFFD";
  });
}

// Emoji of several signs, and the letters of a Korean syllable: two columns, whatever their parts have.
const pairs =
  "\\p{RI}{2}|[\\d#*]\\uFE0F?\\u20E3|\\p{ExtPict}(?:[\\uFE0F\\p{EMod}\\u{E0020}-\\u{E007F}]|\\u200D\\p{ExtPict})+|[\\u1100-\\u115F][\\u1160-\\u11A7][\\u11A8-\\u11FF]?";
const pair = unicodePattern(pairs, "gu");
const character = unicodePattern(`${pairs}|.[\\p{M}\\u200C\\u200D]*`, "gsu");
const visible = unicodePattern("^[^\\p{DI}\\p{Cc}\\p{Cf}\\p{Mn}\\p{Me}\\p{Cs}]$", "u");

/** Returns the columns of a text in a terminal: a color has none, a Chinese letter or a family two. */
export function textWidth(text: string): number {
  const plain = text.replaceAll(colors, "");
  if (/^[ -~\u00A1-\u00AC\u00AE-\u02FF\u2010-\u2027]*$/.test(plain)) return plain.length;
  let columns = 0;
  for (const sign of plain.replace(pair(), "\u{1F46A}"))
    columns += visible().test(sign) ? eastAsianWidth(sign.codePointAt(0) as number) : 0;
  return columns;
}

/** Returns what a reader calls characters: a family is one. */
export function charactersOf(text: string): string[] {
  return text.match(character()) ?? [];
}
