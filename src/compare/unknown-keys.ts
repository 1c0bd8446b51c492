import { isMarked, keyPrefixes, prefixIn, sandboxMark } from "../rules/api-key.js";
import { pick, type RandomStream } from "../rules/seed.js";

/**
 * Makes unknown keys in the form of a given one, so that a service does not reject them as malformed: same prefix, same
 * length, and for each character another one of its kind.
 */
export function createUnknownKeys(given: string, draw: RandomStream): () => string {
  const start = startOf(given);
  const rest = given.slice(start.length);
  const alphabets = alphabetsOf(rest);
  return () => {
    let key = start;
    for (const character of rest) key += anotherThan(character, { alphabets, draw });
    return key;
  };
}

/** What all keys of this kind start with. */
function startOf(key: string): string {
  const prefix = prefixIn(key)?.prefix ?? keyPrefixes[0]?.prefix ?? "";
  return isMarked(key) ? prefix + sandboxMark : prefix;
}

const digits = "0123456789";
const lower = "abcdefghijklmnopqrstuvwxyz";

const hex = "abcdef";

/** The kinds of characters in a key. If all its letters are hexadecimal digits, so are those of the others. */
function alphabetsOf(text: string): readonly string[] {
  const letters = [...text].filter((character) => /[A-Za-z]/.test(character));
  if (letters.every((letter) => hex.includes(letter))) return [digits, hex];
  if (letters.every((letter) => hex.toUpperCase().includes(letter))) return [digits, hex.toUpperCase()];
  return [digits, lower, lower.toUpperCase()];
}

interface Kinds {
  readonly alphabets: readonly string[];
  readonly draw: RandomStream;
}

/** Characters of no kind, such as `-`, belong to the form. */
function anotherThan(character: string, { alphabets, draw }: Kinds): string {
  const alphabet = alphabets.find((one) => one.includes(character));
  return alphabet === undefined ? character : pick(draw, [...alphabet.replace(character, "")]);
}
