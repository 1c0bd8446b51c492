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
    const isInsideKey = position.start < endOfLastKey;
    const prefix = prefixEndingAt(plain, position.end);
    if (isInsideKey || prefix === undefined) continue;

    const end = endOfRun(plain, position.end, isKeyCharacter);
    const isPrefixAlone = end === position.end;
    if (isPrefixAlone) continue;
    keys.push(plain.slice(position.end - prefix.length, end));
    endOfLastKey = end;
  }
  return keys;
}

/** The prefix that ends at a position, also one that starts with `legacy`; `undefined` if its letters have another case. */
function prefixEndingAt(text: string, end: number): string | undefined {
  for (const { prefix } of keyPrefixes) {
    if (text.endsWith(prefix, end)) return prefix;
  }
  return undefined;
}

const formsOfPrefixes = keyPrefixes.flatMap(({ prefix }) => base64Forms(prefix));

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`; each once. */
export function findBase64Keys(text: string): string[] {
  const encoded = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys = new Set<string>();
  for (const form of formsOfPrefixes) {
    let at = encoded.indexOf(form);
    while (at !== -1) {
      let start = at;
      while (isBase64(encoded.charCodeAt(start - 1))) start -= 1;
      const end = endOfRun(encoded, at, isBase64);
      for (const key of keysInRun(encoded.slice(start, end))) keys.add(key);
      at = encoded.indexOf(form, end);
    }
  }
  return [...keys];
}

/** The keys in a run of letters of Base64. Other letters may be before the first group of four: each start is tried. */
function keysInRun(letters: string): string[] {
  const keys: string[] = [];
  for (const firstGroup of [0, 1, 2, 3]) {
    const decoded = decodeBase64(letters.slice(firstGroup));
    keys.push(...findKeys(decoded));
  }
  return keys;
}

function decodeBase64(letters: string): string {
  // A single letter behind the last group of four is less than a byte, and `atob` refuses it.
  const hasSingleLetter = letters.length % 4 === 1;
  return atob(hasSingleLetter ? letters.slice(0, -1) : letters);
}

function isBase64(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  const isDigit = code >= 48 && code <= 57;
  // 43 is +, 47 is /.
  return isLetter || isDigit || code === 43 || code === 47;
}
