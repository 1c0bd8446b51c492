import { SandboxError } from "../domain/errors.js";
import { populatedNumbers } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { type DescribedKey, deriveSecret, describedKeys, secretOf } from "./scenario-keys.js";
import type { World } from "./world.js";

/** The full keys by ref, derived on every call: the world itself keeps only hashes (R35). */
export function secretsOf(keys: readonly DescribedKey[], { seed }: { seed: number }): Record<string, string> {
  return Object.fromEntries(keys.map((one) => [one.ref, secretOf(one, seed)]));
}

export function scenarioSecrets(world: World): Record<string, string> {
  return secretsOf(describedKeys(world.scenario).filter(hasSecret), world);
}

/**
 * The full key of one ref of the scenario.
 *
 * Throws `unknown_ref`, with the refs there are, or `secret_not_kept` for a key that was made at run time (R36).
 */
export function scenarioSecret(world: World, ref: string): string {
  const { key } = world.registry.key(ref);
  const pinned = world.scenario.organizations?.[key.organization]?.keys?.[ref]?.secret;
  // The seed also gives the keys that a timeline or a story has made.
  const secret = pinned ?? deriveSecret(world.seed, key);
  if (world.platform.sha256(secret) === key.sha256) return secret;
  throw new SandboxError(
    "secret_not_kept",
    `Failed to tell the secret of ${JSON.stringify(ref)}: a key made at run time is shown once, when it is made.`,
    { ref },
  );
}

/** The ref of the default key; `undefined` when the scenario has no key. */
export function defaultKeyRef(scenario: Scenario): string | undefined {
  return scenario.default_key ?? describedKeys(scenario)[0]?.ref;
}

/** The full key of the default ref; `undefined` when the scenario does not give it. */
export function defaultSecret({ scenario, seed }: World): string | undefined {
  const ref = defaultKeyRef(scenario);
  const key = describedKeys(scenario).find((one) => one.ref === ref);
  return key !== undefined && hasSecret(key) ? secretOf(key, seed) : undefined;
}

/** Every key that is written out, then those of the population up to 1,000 keys altogether. */
export function announcedKeys(world: World) {
  const { written, populated } = keysWithSecrets(world);
  const shown = populated.slice(0, Math.max(0, 1000 - written.length));
  return { keys: [...written, ...shown], leftOut: populated.length - shown.length };
}

/** The first `most` keys that are written out; where there is none, a few of the population. */
export function firstKeys(world: World, most: number) {
  const { written, populated } = keysWithSecrets(world);
  const keys = written.length > 0 ? written.slice(0, most) : populated.slice(0, 5);
  return { keys, leftOut: written.length + populated.length - keys.length };
}

function keysWithSecrets({ scenario }: World): { written: DescribedKey[]; populated: DescribedKey[] } {
  const written: DescribedKey[] = [];
  const populated: DescribedKey[] = [];
  for (const one of describedKeys(scenario).filter(hasSecret)) {
    // By its ref: a world restored from a snapshot no longer says which keys are of the population.
    (populatedNumbers(one.ref)?.key === undefined ? written : populated).push(one);
  }
  return { written, populated };
}

function hasSecret({ given }: DescribedKey): boolean {
  return given.sha256 === undefined;
}
