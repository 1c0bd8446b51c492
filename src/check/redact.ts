import { keyPrefixes } from "../spec/api-key.js";
import { redactEncoded, redactValue } from "../spec/redact.js";

/** From this length on, a key without its prefix cannot be one of the server's words. */
const tellingLength = 12;

export type Redact = ReturnType<typeof createRedact>;

/** Removes these keys, their parts after the prefix, and everything that looks like a key from a server's text (R46). */
export function createRedact(secrets: readonly string[]) {
  const needles = secrets
    .flatMap((secret) => {
      const prefix = keyPrefixes.find((row) => secret.startsWith(row.prefix))?.prefix ?? "";
      const rest = secret.slice(prefix.length);
      const whole = [secret, encodeURIComponent(secret)].map((text) => ({ text, shown: `${prefix}…` }));
      return rest.length < tellingLength ? whole : [...whole, { text: rest, shown: "…" }];
    })
    .sort((one, other) => other.text.length - one.text.length);

  /** Returns the text without anything that is, or looks like, a key. */
  function text(given: string): string {
    return redactEncoded(needles.reduce((all, needle) => all.replaceAll(needle.text, needle.shown), given));
  }
  /** Returns a JSON value without keys in its texts and member names. */
  const value = (given: unknown): unknown => redactValue(given, text);
  /** Whether the text contains one of the sent keys, with or without its prefix. */
  const finds = (given: string) => needles.some((needle) => given.includes(needle.text));
  return { text, value, finds };
}
