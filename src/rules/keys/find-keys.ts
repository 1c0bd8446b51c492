import { keyPrefixes } from "./key-text.js";

// Finds the keys in a text that a client or a command sent, to tell which keys they are. Upper and lower case count, as for the
// API. What a reader must not see is a wider notion: see `redact.ts`.

/** A prefix and at least one character. */
const keyInText = new RegExp(`(?:${keyPrefixes.map(({ prefix }) => prefix).join("|")})[\\w-]+`, "g");

/** Everything that looks like a key, also percent-encoded, in order. */
export function findKeys(text: string): readonly string[] {
  const decoded = decodePrintable(text);
  // Few headers have the underscore of a prefix.
  if (!decoded.includes("_")) return [];
  return decoded.match(keyInText) ?? [];
}

/** `%53`, `%u0053`, `\u0053` in JSON, and `\\u0053` in JSON that is a text in JSON. */
const encodedCharacter = /(?:%(?:u00)?|\\{1,2}u00)([2-6][\da-f]|7[\da-e])/gi;
/** How often a text is decoded: each proxy on its way may have encoded it once. */
const maxDecodings = 10;

/** A text whose printable characters are decoded until none is left. No other ones: a line break could forge a line of a log. */
export function decodePrintable(text: string): string {
  const mayBeEncoded = text.includes("%") || text.includes("\\");
  if (!mayBeEncoded) return text;

  let decoded = text;
  for (let round = 0; round < maxDecodings; round++) {
    const next = decoded.replace(encodedCharacter, (_encoded, byte: string) =>
      String.fromCharCode(Number.parseInt(byte, 16)),
    );
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

/** Enough Base64, also in its alphabet for URLs, for the shortest key. */
const base64Run = /[\w+/-]{14,}/g;

/** Keys in Base64, alone or after other text such as `user:`; each once. */
export function findBase64Keys(text: string): string[] {
  const keys = new Set<string>();
  for (const [run] of text.matchAll(base64Run)) {
    const letters = run.replaceAll("-", "+").replaceAll("_", "/");
    // Other letters may be before the encoded text, and four of them are a group.
    for (const start of [0, 1, 2, 3]) {
      // A single letter behind the last group is less than a byte, and `atob` refuses it.
      const end = (letters.length - start) % 4 === 1 ? -1 : letters.length;
      for (const key of findKeys(atob(letters.slice(start, end)))) keys.add(key);
    }
  }
  return [...keys];
}

/** What was never replaced by the value of a variable: `${KEY}`, `{{ key }}`, `$KEY`, `%KEY%`, `os.environ`, `undefined`. */
const variable =
  /^["']?(?:\$[\w({-]|\{\{|SVC_KEY_|(?:SVC_API_KEY|undefined|null|None)["']?$)|^["']?%.+%["']?$|\.env\.|os\.environ/;

/**
 * Whether a malformed key was meant as a key: it has a key after a scheme, a name or a quotation mark, or is a variable that
 * was never replaced. `keys`: the keys that were found in it.
 *
 * @example
 * isMeantAsKey("Bearer SVC_test_sbx0abc", ["SVC_test_sbx0abc"]); // true
 * isMeantAsKey("$SVC_API_KEY", []); // true
 * isMeantAsKey("not-a-key", []); // false
 */
export function isMeantAsKey(text: string, keys: readonly string[]): boolean {
  if (variable.test(text)) return true;
  const [key] = keys;
  if (key === undefined) return false;

  // A scheme, a name or a quotation mark is before the key; at most the other mark is behind it.
  const plain = decodePrintable(text);
  const start = plain.indexOf(key);
  const lengthBehind = plain.length - start - key.length;
  return start > 0 && lengthBehind <= 1;
}
