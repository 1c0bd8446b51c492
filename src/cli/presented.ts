import { fingerprintOf, parseApiKey } from "../domain/api-key.js";
import { unknownRef } from "../sandbox/registry.js";
import { unknownSecret } from "../sandbox/scenario-keys.js";
import { scenarioSecrets } from "../sandbox/secrets.js";
import type { World } from "../sandbox/world.js";

/** What a word on the command line stands for in the x-api-key header. */
export interface Presented {
  /** What the header holds; `undefined` when there is none. Not to be printed. */
  readonly apiKey: string | undefined;
  /** The ref, when it is a key of the scenario. */
  readonly ref?: string;
  readonly fingerprint?: string;
  /** Whether it is well-formed but neither of this scenario nor of any sandbox. */
  readonly looksReal: boolean;
}

/**
 * Understands a ref, a full key, or one of the words `none`, `malformed` and `unknown`.
 *
 * Throws `unknown_ref` for a word that looks like a ref and is none.
 */
export function presentedBy(word: string, world: World): Presented {
  const secrets = scenarioSecrets(world);
  if (Object.hasOwn(secrets, word)) return asPresented(secrets[word] as string, world);
  if (word === "none") return { apiKey: undefined, looksReal: false };
  if (word === "malformed") return asPresented("not-a-key", world);
  if (word === "unknown") return asPresented(unknownSecret(world.seed), world);
  if (looksLikeRef(word)) unknownRef("key", word, world.registry.keys);
  return asPresented(word.trim(), world);
}

function asPresented(apiKey: string, world: World): Presented {
  const sha256 = world.platform.sha256(apiKey);
  const ref = world.registry.find(sha256)?.key.ref;
  const parsed = parseApiKey(apiKey);
  return {
    apiKey,
    ...(ref !== undefined && { ref }),
    fingerprint: fingerprintOf(sha256),
    looksReal: ref === undefined && parsed !== undefined && !parsed.marked,
  };
}

// Everything else is taken for what a client put into the header. Long words are not repeated in a message: a key
// whose prefix was left out may look like this.
function looksLikeRef(word: string): boolean {
  return /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/i.test(word) && word.length <= 24 && parseApiKey(word) === undefined;
}
