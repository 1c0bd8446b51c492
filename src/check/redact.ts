import { redactEncoded } from "../api/redact-path.js";
import { keyPrefixes } from "../domain/api-key.js";

/** Takes keys out of texts. */
export interface Redact {
  /** The text without anything that is, or looks like, a key (R46). */
  readonly text: (text: string) => string;
  /** Whether one of the keys that are sent is in the text, whole or without its prefix. */
  readonly finds: (text: string) => boolean;
}

/** How many characters of a key, without its prefix, are certainly no word of the server's own. */
const tellingLength = 12;

/** Takes these keys, their parts behind the prefix, and all that looks like a key out of texts. */
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

/** A JSON value without keys in its texts and its members' names. */
export function redactDeep(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact.text(value);
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact.text(name), redactDeep(member, redact)]),
  );
}
