import { redactKeys } from "./redact.js";
import { unicodePattern } from "./terminal-text.js";

/** The path of the sandbox's own tools, under any base URL; API clients do not call them. */
export const controlPath = "/__sandbox";

const longestPath = 500;
/** A separate segment, so that a truncated path is never the path of an endpoint. */
const cutEnd = "/…";

/** The maximum number of letters and digits in a word of a path. A key in Base64 or hex has more, or other characters. */
const longestWord = 20;

/** A path that is safe to show (R46): `/v1/%53VC_test_1/SVC_test_2` becomes `/v1/…/SVC_test_…`. */
export function redactPath(path: string): string {
  const isLong = path.length > longestPath + cutEnd.length;
  const start = isLong ? path.slice(0, longestPath) : path;
  const shown = start.split("/").map(shownSegment).join("/");
  return inOwnMemory(isLong ? shown + cutEnd : shown);
}

/** A copy of a text in its own memory: a substring would keep the whole text alive. */
export function inOwnMemory(text: string): string {
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
    if ("-._…".includes(character)) {
      length = 0;
      continue;
    }
    if (length === longestWord || !isInWord(character)) return false;
    length += 1;
  }
  return true;
}

const inWord = unicodePattern("[\\p{L}\\p{M}\\p{N}]", "u");

function isInWord(character: string): boolean {
  return /[\dA-Za-z]/.test(character) || inWord().test(character);
}

// Clients encode most of these, and a shell, Markdown or HTML gives the others a meaning.
const unsafeInPath = /[^\x21-\x7E]|["$'<>[\\\]^`|]/gu;

/** Clients differ in whether they encode these: letters, digits, and what has no other meaning in a segment. */
const plainInPath = /[\w.~:;@=+&()!*,-]/;

/** A path from outside in one spelling: each character is encoded that is not plain in a URL, a shell or a page, and no other. */
export function encodePath(path: string): string {
  // Nearly all, and each request with a path parameter needs it.
  if (/^[\w/.~{}-]*$/.test(path)) return path;
  const encoded = path.replace(unsafeInPath, percentEncoded).replace(/%(?![0-9a-f]{2})/gi, "%25");
  return encoded.replace(/%[0-9a-f]{2}/gi, respelled);
}

function percentEncoded(character: string): string {
  let encoded = "";
  for (const byte of new TextEncoder().encode(character)) {
    encoded += `%${byte.toString(16).padStart(2, "0")}`;
  }
  return encoded;
}

/** An encoded byte as all paths spell it. */
function respelled(encoded: string): string {
  const plain = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return plainInPath.test(plain) ? plain : encoded.toUpperCase();
}

/** A path in one spelling, without the names of its parameters: paths of one form match the same requests. */
export function formOfPath(path: string): string {
  return encodePath(path).replace(/\{[^{}]*\}/g, "{}");
}
