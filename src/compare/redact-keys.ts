import { findPrefix } from "../rules/keys/key-text.js";
import { redact } from "../rules/keys/redact.js";

/** Finds and removes the keys of a comparison in a server's text. */
export interface RedactKeys {
  readonly text: (given: string) => string;
  readonly containsKey: (given: string) => boolean;
}

/** A key without its prefix that is as long as this cannot be one of the server's words. */
const minSecretLength = 12;
/** So many characters of a key after its prefix, anywhere in it, are as good as the key. */
const lengthOfPart = 24;

/**
 * Removes these keys, their parts after the prefix, the same in base64 and hexadecimal, and everything that looks like a key
 * from a server's text, in capitals or not (R46).
 */
export function createRedactKeys(keys: readonly string[]): RedactKeys {
  const shownBySecret = new Map<string, string>();
  for (const key of keys) {
    const prefix = findPrefix(key)?.prefix ?? "";
    for (const secret of [key, encodeURIComponent(key)]) shownBySecret.set(lowerCase(secret), `${prefix}…`);
    for (const form of formsOf(key, key.slice(prefix.length))) shownBySecret.set(lowerCase(form), "…");
  }

  // The longest first: a whole key before its part, and before a key that is its start.
  const secrets = [...shownBySecret.keys()].sort((left, right) => right.length - left.length);
  const containsKey = (given: string) => {
    const text = lowerCase(given);
    return secrets.some((secret) => text.includes(secret));
  };
  return {
    containsKey,
    text(given) {
      let text = given;
      if (containsKey(given)) {
        for (const secret of secrets) text = replaceIn(text, secret, shownBySecret.get(secret) ?? "…");
      }
      return redact(text);
    },
  };
}

/** The forms in which a key is as good as itself. `rest` is the key after its prefix. */
function formsOf(key: string, rest: string): string[] {
  if (rest.length < minSecretLength) return [];
  const forms = [rest];
  for (const text of [key, rest]) {
    const bytes = Buffer.from(text);
    for (const encoding of ["base64", "base64url", "hex"] as const) {
      forms.push(bytes.toString(encoding).replaceAll("=", ""));
    }
  }
  for (let start = 0; start + lengthOfPart <= rest.length; start++) {
    forms.push(rest.slice(start, start + lengthOfPart));
  }
  return forms;
}

/** Not `toLowerCase`, which changes the length of some texts. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Replaces a lower-case secret in a text, whose letters can be capitals. */
function replaceIn(text: string, secret: string, shown: string): string {
  const searched = lowerCase(text);
  let replaced = "";
  let end = 0;
  for (let at = searched.indexOf(secret); at >= 0; at = searched.indexOf(secret, end)) {
    replaced += text.slice(end, at) + shown;
    end = at + secret.length;
  }
  return replaced + text.slice(end);
}
