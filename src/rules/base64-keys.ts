import { base64Prefixes } from "./encoded-prefixes.js";
import { keyPrefixes } from "./key-text.js";
import { endOfRun, findKeys } from "./redact.js";

const wholeBase64Prefixes = keyPrefixes.flatMap(({ prefix }) => base64Prefixes(prefix));

/** Keys in Base64, also in its alphabet for URLs, alone or after other text such as `user:`. */
export function findBase64Keys(text: string): string[] {
  const encoded = text.replaceAll("-", "+").replaceAll("_", "/");
  const keys: string[] = [];
  for (const { letters, lettersBefore } of wholeBase64Prefixes) {
    for (let at = encoded.indexOf(letters); at !== -1; at = encoded.indexOf(letters, at + 1)) {
      // A group of four letters is decoded as a whole: also the letters before the prefix in its first group.
      const groupStart = at - lettersBefore;
      const hasWholeGroup = groupStart >= 0 && endOfRun(encoded, groupStart, isBase64) > at;
      if (hasWholeGroup) keys.push(...findKeys(decodeBase64From(encoded, groupStart)));
    }
  }
  return keys;
}

/** Decodes all letters of Base64 from the start of a group on. */
function decodeBase64From(encoded: string, groupStart: number): string {
  const end = endOfRun(encoded, groupStart, isBase64);
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
