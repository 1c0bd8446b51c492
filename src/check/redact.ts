import { keyPrefixes } from "../domain/api-key.js";
import { redactEncoded } from "../domain/redact.js";

/** Takes keys out of texts (R46). */
export interface Redact {
  /** Returns the text without anything that is, or looks like, a key. */
  readonly text: (text: string) => string;
  /** Whether one of the keys that are sent is in the text, whole or without its prefix. */
  readonly finds: (text: string) => boolean;
}

/** From this length on, a key without its prefix is certainly no word of the server. */
const tellingLength = 12;

/** Redacts these keys, their parts after the prefix, and everything that looks like a key. */
export function createRedact(secrets: readonly string[]): Redact {
  const needles = secrets
    .flatMap((secret) => {
      const prefix = keyPrefixes.find((row) => secret.startsWith(row.prefix))?.prefix ?? "";
      const rest = secret.slice(prefix.length);
      const whole = [secret, encodeURIComponent(secret)].map((text) => ({ text, shown: `${prefix}…` }));
      return rest.length < tellingLength ? whole : [...whole, { text: rest, shown: "…" }];
    })
    .sort((one, other) => other.text.length - one.text.length);
  return {
    text(text) {
      let redacted = text;
      for (const { text: needle, shown } of needles) redacted = redacted.replaceAll(needle, shown);
      return redactEncoded(redacted);
    },
    finds: (text) => needles.some((needle) => text.includes(needle.text)),
  };
}

/** Returns a JSON value without keys in its texts and names of members. */
export function redactDeep(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact.text(value);
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact.text(name), redactDeep(member, redact)]),
  );
}
