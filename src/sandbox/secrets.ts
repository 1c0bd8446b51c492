import { type Environment, prefixOf, sandboxMark } from "../domain/api-key.js";
import { base62From, randomStream } from "../domain/seed.js";

/** How many random characters follow the mark of a sandbox key. */
export const secretLength = 29;

/**
 * The full key that the seed and the ref give: prefix, `sbx`, 29 base62 characters.
 *
 * Computed anew whenever it is asked for, so that nobody has to keep it (R35).
 *
 * @example
 * deriveSecret(1, { ref: "active", environment: "test", legacy: false }); // "SVC_test_sbx…"
 */
export function deriveSecret(
  seed: number,
  key: { readonly ref: string; readonly environment: Environment; readonly legacy: boolean },
): string {
  const draw = randomStream(seed, "key.secret", key.ref);
  return prefixOf(key.environment, key.legacy) + sandboxMark + base62From(draw, secretLength);
}

/** A well-formed key that the seed gives and no world holds: what a client sends to meet `401.unknown`. */
export function unknownSecret(seed: number): string {
  // No ref contains a space, so this draws from a stream of its own.
  return deriveSecret(seed, { ref: "no such key", environment: "test", legacy: false });
}
