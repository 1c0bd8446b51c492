import { unicodePattern } from "../schema/unicode-pattern.js";
import { redactKeys } from "./redact.js";

/** The path of the sandbox's own tools, under any base URL; API clients do not call them. */
export const controlPath = "/__sandbox";

/** A longer path is cut. */
const longestPath = 500;
/** What a cut path ends with: a separate segment, so that it is never the path of an endpoint. */
const cutEnd = "/…";

/** More letters and digits in a row may be a key in Base64 or hex; a shorter one would need other characters. */
const longestWord = 20;

/** A path that is safe to show (R46): `/v1/%53VC_test_1/SVC_test_2` becomes `/v1/…/SVC_test_…`. */
export function redactPath(path: string): string {
  const isLong = path.length > longestPath + cutEnd.length;
  const start = isLong ? path.slice(0, longestPath) : path;
  const shown = start.split("/").map(shownSegment).join("/");
  return copyText(isLong ? shown + cutEnd : shown);
}

/** A copy of a text in its own memory: a substring would keep the whole text alive. */
export function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text));
}

/** A segment without keys; `…` for one in which an encoded key may be. */
function shownSegment(segment: string): string {
  const redacted = redactKeys(segment);
  return hasOnlyWords(redacted) ? redacted : "…";
}

/** Whether a text has only words of letters and digits, separated by `-`, `.`, `_` and `…`. */
function hasOnlyWords(text: string): boolean {
  let wordLength = 0;
  for (const character of text) {
    if ("-._…".includes(character)) {
      wordLength = 0;
      continue;
    }
    if (wordLength === longestWord || !isInWord(character)) return false;
    wordLength += 1;
  }
  return true;
}

const inWord = unicodePattern("[\\p{L}\\p{M}\\p{N}]", "u");

function isInWord(character: string): boolean {
  return /[\dA-Za-z]/.test(character) || inWord().test(character);
}

/** What no path has unencoded: clients encode most of these, and a shell, Markdown or HTML gives the others a meaning. */
const alwaysEncoded = /[^\x21-\x7E]|["$'<>[\\\]^`|]/gu;

/** What no path has encoded: letters, digits, and what has no other meaning in a segment. Clients differ in these. */
const neverEncoded = /[\w.~:;@=+&()!*,-]/;

/**
 * A path from outside in one spelling.
 *
 * @example
 * encodePath("/a b/%63%2f/50%"); // "/a%20b/c%2F/50%25"
 */
export function encodePath(path: string): string {
  // Nearly all are plain, and each request with a path parameter needs it.
  if (/^[\w/.~{}-]*$/.test(path)) return path;
  const encoded = path
    .replace(alwaysEncoded, encodeUtf8)
    // A percent sign that starts no encoded byte stands for itself.
    .replace(/%(?![0-9a-f]{2})/gi, "%25");
  return encoded.replace(/%[0-9a-f]{2}/gi, spellByte);
}

/** A character as the encoded bytes of its UTF-8. */
function encodeUtf8(character: string): string {
  let encoded = "";
  for (const byte of new TextEncoder().encode(character)) {
    encoded += `%${byte.toString(16).padStart(2, "0")}`;
  }
  return encoded;
}

/** An encoded byte as all paths spell it: decoded, or with capital letters. */
function spellByte(encoded: string): string {
  const decoded = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return neverEncoded.test(decoded) ? decoded : encoded.toUpperCase();
}

/** A path in one spelling, without the names of its parameters: paths of one form match the same requests. */
export function formOfPath(path: string): string {
  return encodePath(path).replace(/\{[^{}]*\}/g, "{}");
}
