/**
 * How paths spell a character of ASCII:
 * - `plain`: as it is, as `a`
 * - `encoded`: percent-encoded, as `%20`
 * - `separating`: both, since they mean different things: `/` separates segments, and `%2F` is in one
 */
type AsciiSpelling = "plain" | "encoded" | "separating";

function spellingOf(character: string): AsciiSpelling {
  // Letters, digits, and what has no other meaning in a segment.
  if (/[\w.~:;@=+&()!*,-]/.test(character)) return "plain";
  // Controls, spaces, and what clients usually encode, or a shell, Markdown or HTML gives a meaning.
  if (/[^\x21-\x7E]|["$'<>[\\\]^`|]/.test(character)) return "encoded";
  // These are # % / ? { and }.
  return "separating";
}

/** The spellings by the code of the character: made once, because each request reads them. */
const spellings = Array.from({ length: 128 }, (_none, code) => spellingOf(String.fromCharCode(code)));

/**
 * A path from outside in one spelling.
 *
 * @example
 * canonicalPath("/a b/%63%2f/50%"); // "/a%20b/c%2F/50%25"
 */
export function canonicalPath(path: string): string {
  // Nearly all paths are, and each request with a path parameter is asked.
  if (isSpelled(path)) return path;

  let spelled = "";
  let at = 0;
  while (at < path.length) {
    const byte = encodedByteAt(path, at);
    if (byte !== undefined) {
      spelled += spellByte(byte);
      at += "%2F".length;
      continue;
    }
    const character = String.fromCodePoint(path.codePointAt(at) as number); // there is one
    spelled += spellCharacter(character);
    at += character.length;
  }
  return spelled;
}

/** Whether a path surely is in its one spelling: nothing in it is encoded, or has to be. */
function isSpelled(path: string): boolean {
  // Not a regular expression: V8 keeps the last text it was run on, and this one may have a key (R35).
  for (let at = 0; at < path.length; at++) {
    if (path[at] === "%" || isEncoded(path.charCodeAt(at))) return false;
  }
  return true;
}

/** Whether paths encode a character, by its code: some of ASCII, and each one beyond. */
function isEncoded(code: number): boolean {
  return code >= spellings.length || spellings[code] === "encoded";
}

/** The byte that is encoded at a position, such as `%2F`; `undefined` if none is. */
function encodedByteAt(path: string, at: number): number | undefined {
  if (path[at] !== "%") return undefined;
  const digits = path.slice(at + 1, at + 3);
  return /^[\da-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function spellCharacter(character: string): string {
  // A percent sign that starts no encoded byte stands for itself.
  if (character === "%") return "%25";
  return isEncoded(character.charCodeAt(0)) ? encodeUtf8(character) : character;
}

/** A character as the encoded bytes of its UTF-8. */
function encodeUtf8(character: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(character)) bytes += percentEncoded(byte);
  return bytes;
}

/** An encoded byte in the one spelling: decoded, or with capital letters. */
function spellByte(byte: number): string {
  return spellings[byte] === "plain" ? String.fromCharCode(byte) : percentEncoded(byte);
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** A path in one spelling, without the names of its parameters: paths of one form match the same requests. */
export function pathWithoutParameterNames(path: string): string {
  return canonicalPath(path).replace(/\{[^{}]*\}/g, "{}");
}
