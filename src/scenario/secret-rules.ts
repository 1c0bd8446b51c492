import { keyPrefixes, parseApiKey, prefixOf } from "../domain/api-key.js";
import type { Finding } from "./finding.js";
import { listed, quote } from "./quote.js";
import type { ScenarioRule } from "./world-facts.js";

/** A pinned secret is a well-formed key that says the same as the fields of the key (R3, R10, R16). */
export const secretFitsKey: ScenarioRule = ({ keys }) =>
  keys.flatMap(({ sound, path, fields: { secret, environment, legacy } }) => {
    if (!sound || secret === undefined || environment === undefined) return [];
    const parsed = parseApiKey(secret);
    const finding = (code: Finding["code"], message: string, hint: string): Finding[] => [
      { code, path: [...path, "secret"], message, hint },
    ];
    if (parsed === undefined) {
      const prefixes = listed(
        keyPrefixes.map((row) => row.prefix),
        "or",
      );
      return finding(
        "secret_malformed",
        "the secret is not a well-formed key (R10)",
        `it begins with ${prefixes}, followed by letters, digits, _ and -`,
      );
    }
    if (parsed.environment !== environment) {
      return finding(
        "secret_mismatch",
        `the secret is one of a ${parsed.environment} key, but the key's environment is ${environment}`,
        `the prefix says the environment (R3): begin it with ${prefixOf(environment, parsed.legacy)}`,
      );
    }
    if (legacy !== undefined && parsed.legacy !== legacy) {
      return finding(
        "secret_mismatch",
        `the secret ${parsed.legacy ? "has" : "does not have"} a legacy prefix, but legacy is ${legacy}`,
        `begin it with ${prefixOf(environment, legacy)} (R16), or leave legacy out`,
      );
    }
    return [];
  });

/** A key is given as itself or as its hash, not as both. */
export const secretOrHash: ScenarioRule = ({ keys }) =>
  keys.flatMap(({ sound, path, fields: { secret, sha256 } }): Finding[] => {
    if (!sound || secret === undefined || sha256 === undefined) return [];
    return [
      {
        code: "secret_mismatch",
        path: [...path, "sha256"],
        message: "the key has both a secret and a sha256",
        hint: "leave one of them out; sha256 is for a key that nobody can write down any more",
      },
    ];
  });

/** No two keys have the same secret. */
export const secretsAreUnique: ScenarioRule = ({ keys }) => {
  const first = new Map<string, string>();
  return keys.flatMap(({ sound, ref, path, fields: { secret } }) => {
    if (!sound || secret === undefined) return [];
    const earlier = first.get(secret);
    if (earlier === undefined) {
      first.set(secret, ref);
      return [];
    }
    return [
      {
        code: "duplicate_secret" as const,
        path: [...path, "secret"],
        message: `the key ${quote(earlier)} has the same secret`,
        hint: "give each key its own, or leave it out and the seed makes one",
      },
    ];
  });
};
