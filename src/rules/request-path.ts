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
  const safe = start.split("/").map(shownSegment).join("/");
  return copyText(isLong ? safe + cutEnd : safe);
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

// The ways in which paths spell a character of ASCII.
const asItIs = 1;
const encoded = 2;
/** With and without encoding, it means different things: `/` separates segments, and `%2F` is in one. */
const asItCame = 3;

function spellingOf(character: string): number {
  // Letters, digits, and what has no other meaning in a segment.
  if (/[\w.~:;@=+&()!*,-]/.test(character)) return asItIs;
  // Controls, spaces, and what clients usually encode, or a shell, Markdown or HTML gives a meaning.
  if (/[^\x21-\x7E]|["$'<>[\\\]^`|]/.test(character)) return encoded;
  // These are # % / ? { and }.
  return asItCame;
}

/** The spellings by the code of the character: made once, because each request reads them. */
const spellings = new Uint8Array(128).map((_zero, code) => spellingOf(String.fromCharCode(code)));

/**
 * A path from outside in one spelling.
 *
 * @example
 * encodePath("/a b/%63%2f/50%"); // "/a%20b/c%2F/50%25"
 */
export function encodePath(path: string): string {
  // Nearly all paths have one, and each request with a path parameter is asked.
  if (hasOneSpelling(path)) return path;

  let spelled = "";
  for (let at = 0; at < path.length; at++) {
    if (path[at] === "%") {
      const byte = byteOf(path, at + 1);
      // A percent sign that starts no encoded byte stands for itself.
      spelled += byte === undefined ? "%25" : spellByte(byte);
      if (byte !== undefined) at += 2;
      continue;
    }
    const character = String.fromCodePoint(path.codePointAt(at) as number); // there is one
    spelled += isEncoded(character) ? encodeUtf8(character) : character;
    // An emoji has two units.
    at += character.length - 1;
  }
  return spelled;
}

/** Whether a path has no character that could be spelled differently. */
function hasOneSpelling(path: string): boolean {
  // Not a regular expression: V8 keeps the last text it was run on, and this one may have a key (R35).
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    // Slashes separate segments, and braces the name of a parameter.
    const isSpelledOnce = spellings[code] === asItIs || "/{}".includes(path[at] as string);
    if (!isSpelledOnce) return false;
  }
  return true;
}

/** Whether a path spells a character encoded, as each one beyond ASCII. */
function isEncoded(character: string): boolean {
  const code = character.charCodeAt(0);
  return code >= spellings.length || spellings[code] === encoded;
}

/** The byte of two hex digits; `undefined` if they are none. */
function byteOf(text: string, at: number): number | undefined {
  const digits = text.slice(at, at + 2);
  return /^[\da-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** A character as the encoded bytes of its UTF-8. */
function encodeUtf8(character: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(character)) bytes += percentEncoded(byte);
  return bytes;
}

/** An encoded byte in the one spelling: decoded, or with capital letters. */
function spellByte(byte: number): string {
  return spellings[byte] === asItIs ? String.fromCharCode(byte) : percentEncoded(byte);
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** A path in one spelling, without the names of its parameters: paths of one form match the same requests. */
export function formOfPath(path: string): string {
  return encodePath(path).replace(/\{[^{}]*\}/g, "{}");
}
