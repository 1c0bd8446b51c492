import { decodePrintable } from "./decode-printable.js";
import { base64Forms } from "./encoded-prefixes.js";
import { endOfRun, prefixesIn } from "./find-prefixes.js";
import { isKeyCharacter, keyPrefixes } from "./key-text.js";

// Finds the keys in a text that a client or a command sent, to tell which keys they are. Upper and lower case count, as for the
// API. What a reader must not see is a wider notion: see `redact.ts`.

/** Everything that looks like a key, also percent-encoded, in order: a prefix and at least one character. */
export function findKeys(text: string): string[] {
  const plain = decodePrintable(text);
  const keys: string[] = [];
  let endOfLastKey = 0;
  for (const position of prefixesIn(plain)) {
    const row = keyPrefixes.find(({ prefix }) => plain.startsWith(prefix, position.end - prefix.length));
    const isInsideKey = position.start < endOfLastKey;
    const end = endOfRun(plain, position.end, isKeyCharacter);
    if (row === undefined || isInsideKey || end === position.end) continue;
    keys.push(plain.slice(position.end - row.prefix.length, end));
    endOfLastKey = end;
  }
  return keys;
}

const formsOfPrefixes = keyPrefixes.flatMap(({ prefix }) => base64Forms(prefix));

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`; each once. */
export function findBase64Keys(text: string): string[] {
  const encoded = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys = new Set<string>();
  for (const form of formsOfPrefixes) {
    for (let at = encoded.indexOf(form); at !== -1; at = encoded.indexOf(form, at + 1)) {
      for (const key of keysInRun(encoded, at)) keys.add(key);
    }
  }
  return [...keys];
}

/** The keys in the letters of Base64 around a position. */
function keysInRun(encoded: string, at: number): string[] {
  let start = at;
  while (isBase64(encoded.charCodeAt(start - 1))) start -= 1;
  const end = endOfRun(encoded, at, isBase64);

  // Other letters may be before the first group of four.
  const keys: string[] = [];
  for (const lettersBefore of [0, 1, 2, 3]) {
    const letters = encoded.slice(start + lettersBefore, end);
    // A single letter behind the last group of four is less than a byte.
    const hasSingleLetter = letters.length % 4 === 1;
    keys.push(...findKeys(atob(hasSingleLetter ? letters.slice(0, -1) : letters)));
  }
  return keys;
}

function isBase64(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  const isDigit = code >= 48 && code <= 57;
  // 43 is +, 47 is /.
  return isLetter || isDigit || code === 43 || code === 47;
}
