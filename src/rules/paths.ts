// The paths that are known, and the one form of a path from outside, so that paths which mean the same are the same text. A
// character is one of three kinds:
//
// - always plain: `a` stays, and `%61` becomes `a`
// - always encoded: `"` becomes `%22`, which stays. So is each character beyond ASCII, as the bytes of its UTF-8.
// - one that keeps its form (# / ? { and }): `/` separates segments, and `%2F` is in one
//
// A `%` that starts no encoded byte becomes `%25`.

/** The path of the one endpoint that is released (R1); a story's request goes there by default. */
export const mePath = "/v1/relying-party/me";

/** The path of the sandbox's own tools, under any base URL; API clients do not call them. */
export const controlPath = "/__sandbox";

/** Letters, digits, and what has no other meaning in a segment. */
const alwaysPlain = /[\w.~:;@=+&()!*,-]/;

/** Beyond ASCII; in ASCII controls, spaces, and what clients usually encode, or a shell, Markdown or HTML gives a meaning. */
const alwaysEncoded = /[^\x21-\x7E]|["$'<>[\\\]^`|]/gu;

/**
 * A path from outside in its canonical form.
 *
 * @example
 * canonicalPath("/a b/%63%2f/50%"); // "/a%20b/c%2F/50%25"
 */
export function canonicalPath(path: string): string {
  return path.replace(/%([\da-f]{2})?/gi, canonicalByte).replace(alwaysEncoded, percentEncoded);
}

/** An encoded byte, or a `%` that starts none, in its canonical form. */
function canonicalByte(encoded: string, digits: string | undefined): string {
  if (digits === undefined) return "%25";
  const character = String.fromCharCode(Number.parseInt(digits, 16));
  return alwaysPlain.test(character) ? character : encoded.toUpperCase();
}

function percentEncoded(character: string): string {
  let encoded = "";
  for (const byte of new TextEncoder().encode(character)) {
    encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** A canonical path without the names of its parameters: paths of one form match the same requests. */
export function pathWithoutParameterNames(path: string): string {
  return canonicalPath(path).replace(/\{[^{}]*\}/g, "{}");
}
