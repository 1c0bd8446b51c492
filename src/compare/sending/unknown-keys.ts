import { findPrefix, hasSandboxMark, keyPrefixes, sandboxMark } from "../../rules/keys/key-text.js";
import { defaultSeed, pick, type RandomStream } from "../../rules/seed.js";
import { unknownSecret } from "../../scenario/keys.js";
import { keysInVariables, type Variables } from "../contract/keys-of-outcomes.js";

const digits = "0123456789";
const lowerCase = "abcdefghijklmnopqrstuvwxyz";
const hexadecimal = "abcdef";

/**
 * Makes unknown keys in the form of a key in the variables, so that a service does not reject them as malformed: same prefix,
 * same length, and for each character another one of its kind. Without such a key, their form is that of a sandbox's.
 */
export function createUnknownKeys(env: Variables, draw: RandomStream): () => string {
  const modelKey = findModelKey(env) ?? unknownSecret(defaultSeed);
  const start = startOfKey(modelKey);
  const rest = modelKey.slice(start.length);
  const kinds = characterKinds(rest);
  return () => {
    let key = start;
    for (const character of rest) {
      const kind = kinds.find((characters) => characters.includes(character));
      // A character of no kind, such as `-`, belongs to the form.
      const drawnCharacter = kind === undefined ? character : pick(draw, [...kind.replace(character, "")]);
      key += drawnCharacter;
    }
    return key;
  };
}

/** Finds the key whose form the unknown keys get: if possible, one that works. Its letters and digits can be other ones. */
function findModelKey(env: Variables): string | undefined {
  const keys = new Map<string, string>();
  for (const [variable, key] of keysInVariables(env)) {
    const rest = key.slice(startOfKey(key).length);
    // By characters: V8 keeps the last input of a regular expression (R46).
    if ([...rest].some((character) => /[A-Za-z0-9]/.test(character))) keys.set(variable, key);
  }
  const [first] = keys.values();
  return keys.get("SVC_API_KEY") ?? keys.get("SVC_KEY_ACTIVE") ?? keys.get("SVC_KEY_LIVE") ?? first;
}

/** The prefix, with the mark that only a sandbox's keys have after it. */
function startOfKey(key: string): string {
  const prefix = findPrefix(key)?.prefix ?? keyPrefixes[0]?.prefix ?? "";
  return hasSandboxMark(key) ? prefix + sandboxMark : prefix;
}

/** The characters of each kind in a key. If all its letters are hexadecimal digits, so are those of the others. */
function characterKinds(text: string): readonly string[] {
  const letters = [...text].filter((character) => /[A-Za-z]/.test(character));
  if (letters.every((letter) => hexadecimal.includes(letter))) return [digits, hexadecimal];

  const upperHexadecimal = hexadecimal.toUpperCase();
  if (letters.every((letter) => upperHexadecimal.includes(letter))) return [digits, upperHexadecimal];
  return [digits, lowerCase, lowerCase.toUpperCase()];
}
