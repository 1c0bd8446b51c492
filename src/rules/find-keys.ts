import { decodePrintable } from "./decode-printable.js";
import { base64Prefixes } from "./encoded-prefixes.js";
import { isKeyCharacter, keyPrefixes } from "./key-text.js";

// Finds the keys in a text that a client or a command sent, to tell which keys they are: exactly as the API would read them,
// so upper and lower case count. What a reader must not see is a wider notion: see `redact.ts`. No regular expression runs on
// these texts: V8 keeps the last text that one has matched, as `RegExp.input` (R35).

/** Everything that looks like a key, also percent-encoded: a prefix and at least one character. */
export function findKeys(text: string): string[] {
  const plain = decodePrintable(text);
  const keys: string[] = [];
  for (const { prefix } of keyPrefixes) {
    let at = plain.indexOf(prefix);
    while (at !== -1) {
      const start = at + prefix.length;
      const end = endOfRun(plain, start, isKeyCharacter);
      if (end > start) keys.push(plain.slice(at, end));
      at = plain.indexOf(prefix, end);
    }
  }
  return keys;
}

const wholeBase64Prefixes = keyPrefixes.flatMap(({ prefix }) => base64Prefixes(prefix));

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`; each once. */
export function findBase64Keys(text: string): string[] {
  const encoded = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys = new Set<string>();
  for (const { letters, lettersBefore } of wholeBase64Prefixes) {
    for (let at = encoded.indexOf(letters); at !== -1; at = encoded.indexOf(letters, at + 1)) {
      const decoded = decodeGroups(encoded, at - lettersBefore, at);
      if (decoded === undefined) continue;
      for (const key of findKeys(decoded)) keys.add(key);
    }
  }
  return [...keys];
}

/**
 * Decodes the letters of Base64 from the start of a group of four on, as far as there are any. `undefined` if the run of
 * letters does not reach from there to the prefix.
 */
function decodeGroups(encoded: string, groupStart: number, prefixStart: number): string | undefined {
  if (groupStart < 0) return undefined;
  const end = endOfRun(encoded, groupStart, isBase64);
  if (end <= prefixStart) return undefined;
  // A single letter behind the last group of four is less than a byte.
  const hasSingleLetter = (end - groupStart) % 4 === 1;
  return atob(encoded.slice(groupStart, hasSingleLetter ? end - 1 : end));
}

function isBase64(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  const isDigit = code >= 48 && code <= 57;
  // 43 is +, 47 is /.
  return isLetter || isDigit || code === 43 || code === 47;
}

/** The end of the characters of one kind that start at a position; the position itself if there are none. */
export function endOfRun(text: string, start: number, isOfKind: (code: number) => boolean): number {
  let end = start;
  while (isOfKind(text.charCodeAt(end))) end += 1;
  return end;
}
