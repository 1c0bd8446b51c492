import { SandboxError } from "../domain/errors.js";
import { type DescribedKey, describedKeys, populatedNumbers } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { deriveSecret, secretOf } from "./scenario-keys.js";
import type { World } from "./world.js";

/** The full keys by ref, derived on every call: the world itself keeps only hashes (R35). */
export function secretsOf(keys: readonly DescribedKey[], { seed }: { seed: number }): Record<string, string> {
  return Object.fromEntries(keys.map((one) => [one.ref, secretOf(one, seed)]));
}

export function scenarioSecrets(world: World): Record<string, string> {
  return secretsOf(keysWithSecrets(world.scenario), world);
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
  if (scenario.default_key !== undefined) return scenario.default_key;
  for (const { ref } of describedKeys(scenario)) return ref;
  return undefined;
}

/** The full key of the default ref; `undefined` when the scenario does not give it. */
export function defaultSecret({ scenario, seed }: World): string | undefined {
  const ref = defaultKeyRef(scenario);
  const key = keysWithSecrets(scenario).find((one) => one.ref === ref);
  return key && secretOf(key, seed);
}

/** The most keys that are announced, of those of a population. */
const mostAnnounced = 1000;

/** Every key that is written out, then those of the population up to 1,000 keys altogether. */
export function announcedKeys({ scenario }: World) {
  const { written, populated } = byOrigin(scenario);
  const keys = [...written, ...populated.slice(0, Math.max(0, mostAnnounced - written.length))];
  return { keys, leftOut: written.length + populated.length - keys.length };
}

/** The first `most` keys that are written out; where there is none, a few of the population. */
export function firstKeys({ scenario }: World, most: number) {
  const { written, populated } = byOrigin(scenario);
  const keys = written.length > 0 ? written.slice(0, most) : populated.slice(0, 5);
  return { keys, leftOut: written.length + populated.length - keys.length };
}

function byOrigin(scenario: Scenario) {
  const keys = keysWithSecrets(scenario);
  // By its ref: a world restored from a snapshot no longer says which keys are of the population.
  const isPopulation = ({ ref }: DescribedKey) => populatedNumbers(ref)?.key !== undefined;
  return { written: keys.filter((one) => !isPopulation(one)), populated: keys.filter(isPopulation) };
}

function keysWithSecrets(scenario: Scenario): DescribedKey[] {
  return [...describedKeys(scenario)].filter(({ given }) => given.sha256 === undefined);
}
