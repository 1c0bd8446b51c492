// The one form of a path from outside, so that paths which mean the same are the same text. A character is one of three kinds:
//
// - always plain: `a` stays, and `%61` becomes `a`
// - always encoded: `"` becomes `%22`, which stays. So is each character beyond ASCII, as the bytes of its UTF-8.
// - one that keeps its form (# / ? { and }): `/` separates segments, and `%2F` is in one
//
// A `%` that starts no encoded byte becomes `%25`.

/** Letters, digits, and what has no other meaning in a segment. */
const alwaysPlain = codesMatching(/[\w.~:;@=+&()!*,-]/);

/** In ASCII: controls, spaces, and what clients usually encode, or a shell, Markdown or HTML gives a meaning. */
const alwaysEncoded = codesMatching(/[^\x21-\x7E]|["$'<>[\\\]^`|]/);

/** By the code of a character of ASCII, whether it matches: made once, because each request reads it. */
function codesMatching(pattern: RegExp): readonly boolean[] {
  return Array.from({ length: 128 }, (_none, code) => pattern.test(String.fromCharCode(code)));
}

function mustBeEncoded(code: number): boolean {
  const isBeyondAscii = code >= 128;
  return isBeyondAscii || alwaysEncoded[code] === true;
}

/**
 * A path from outside in its canonical form.
 *
 * @example
 * canonicalPath("/a b/%63%2f/50%"); // "/a%20b/c%2F/50%25"
 */
export function canonicalPath(path: string): string {
  // Nearly all paths are canonical already, and each request whose path may have a parameter comes here.
  if (isSurelyCanonical(path)) return path;

  let canonical = "";
  let at = 0;
  while (at < path.length) {
    const byte = encodedByteAt(path, at);
    if (byte !== undefined) {
      // `%61` becomes `a`; `%2f` stays encoded, as `%2F`.
      canonical += alwaysPlain[byte] ? String.fromCharCode(byte) : percentEncoded(byte);
      at += "%2F".length;
      continue;
    }

    const character = String.fromCodePoint(path.codePointAt(at) as number); // there is one
    at += character.length;
    const mustChange = character === "%" || mustBeEncoded(character.charCodeAt(0));
    if (!mustChange) canonical += character;
    else for (const utf8 of new TextEncoder().encode(character)) canonical += percentEncoded(utf8);
  }
  return canonical;
}

/** Whether nothing in a path is encoded, or has to be. */
function isSurelyCanonical(path: string): boolean {
  // Not a regular expression: V8 keeps the last text that one has matched, and this one may have a key (R35).
  for (let at = 0; at < path.length; at++) {
    if (path[at] === "%" || mustBeEncoded(path.charCodeAt(at))) return false;
  }
  return true;
}

/** The byte that is encoded at a position, such as `%2F`; `undefined` if none is. */
function encodedByteAt(path: string, at: number): number | undefined {
  if (path[at] !== "%") return undefined;
  const digits = path.slice(at + 1, at + 3);
  return /^[\da-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** A canonical path without the names of its parameters: paths of one form match the same requests. */
export function pathWithoutParameterNames(path: string): string {
  return canonicalPath(path).replace(/\{[^{}]*\}/g, "{}");
}
