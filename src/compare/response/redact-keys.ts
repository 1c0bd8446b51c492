import { findPrefix } from "../../rules/keys/key-text.js";
import { redact } from "../../rules/keys/redact.js";

/** Removes the keys of a comparison from texts. */
export interface RedactKeys {
  readonly text: (given: string) => string;
  /** Whether a text contains one of the keys. */
  readonly containsKey: (given: string) => boolean;
}

/** A key without its prefix that is as long as this cannot be one of the server's words. */
const minSecretLength = 12;

/** A text to remove, and what is shown in its place. */
interface SecretText {
  readonly secret: string;
  readonly shown: string;
}

/** Removes these keys, their parts after the prefix, and everything that looks like a key from a server's text (R46). */
export function createRedactKeys(keys: readonly string[]): RedactKeys {
  const secretTexts: SecretText[] = [];
  for (const key of keys) {
    const prefix = findPrefix(key)?.prefix ?? "";
    const shortKey = `${prefix}…`;
    secretTexts.push({ secret: key, shown: shortKey }, { secret: encodeURIComponent(key), shown: shortKey });
    const rest = key.slice(prefix.length);
    if (rest.length >= minSecretLength) secretTexts.push({ secret: rest, shown: "…" });
  }

  // The longest first: a whole key before its part, and before a key that is its start.
  secretTexts.sort((left, right) => right.secret.length - left.secret.length);
  return {
    text(given) {
      let text = given;
      for (const { secret, shown } of secretTexts) text = text.replaceAll(secret, shown);
      return redact(text);
    },
    containsKey: (given) => secretTexts.some(({ secret }) => given.includes(secret)),
  };
}
