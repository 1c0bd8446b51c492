import { isKeyCharacter, keyPrefixes } from "./api-key.js";

/**
 * Whether a text holds something that looks like a key: one of the four prefixes and at least one character after it,
 * also when its underscores are percent-encoded.
 *
 * @example
 * containsKey("?key=SVC_test_sbx0abc"); // true
 * containsKey("?about=SVC_test_"); // false
 */
export function containsKey(text: string): boolean {
  // Not a regular expression: V8 keeps the last string that one was tried on, and this one may hold a key (R46).
  const plain = text.includes("%") ? decodeUnderscores(text) : text;
  return keyPrefixes.some(({ prefix }) => holdsPrefixed(plain, prefix));
}

function holdsPrefixed(text: string, prefix: string): boolean {
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1)) {
    if (isKeyCharacter(text.charCodeAt(at + prefix.length))) return true;
  }
  return false;
}

const mostEncodings = 3;

// A key that was encoded by several proxies is still a key.
function decodeUnderscores(text: string): string {
  let decoded = text;
  for (let i = 1; i < mostEncodings; i++) decoded = decoded.replaceAll("%25", "%");
  return decoded.replaceAll("%5F", "_").replaceAll("%5f", "_");
}
