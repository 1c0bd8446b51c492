import { fingerprintOf } from "../rules/api-key.js";
import { cachedByObject } from "../rules/cached-by.js";
import { SandboxError } from "../rules/errors.js";
import {
  deriveSecret,
  describedKeys,
  type ScenarioKey,
  secretOf,
  unknownSecret,
} from "../scenario/described-keys.js";
import { populatedNumbers } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { quote } from "../schema/words.js";
import type { SandboxState } from "./sandbox-state.js";

// The sandbox stores only hashes (R35). A secret is pinned in the scenario, or derived from the seed on every call:
// `scenario/described-keys.ts` does both for one key, and the functions here for the refs of a sandbox.

/** Sent for the key `malformed`: a text that a client mistook for its key. */
const malformedKey = "not-an-api-key";

/** The maximum number of announced keys, unless a scenario lists more. */
const maxAnnounced = 1000;

/** Some of the keys of a sandbox. */
interface ShownKeys {
  readonly keys: readonly ScenarioKey[];
  /** The number of keys that are left out. */
  readonly leftOut: number;
}

/**
 * Returns the key to send for a ref, also for `unknown` and `malformed`. Throws `unknown_ref`, or `secret_not_kept` for a key
 * that was created at run time (R36).
 */
export function secretFor(sandbox: SandboxState, ref: string): string {
  if (ref === "unknown" || ref === "malformed") return rejectedSecrets(sandbox)[ref];
  const { key } = sandbox.registry.key(ref);
  const pinned = sandbox.scenario.organizations?.[key.organization]?.keys?.[ref]?.secret;
  // The seed also derives the keys that a timeline or a story created.
  const secret = pinned ?? deriveSecret(sandbox.seed, key);
  if (sandbox.platform.sha256(secret) === key.sha256) return secret;

  const message = `The secret of ${quote(ref)} is not available: a key created at run time is shown only once, on creation.`;
  throw new SandboxError("secret_not_kept", message, { ref });
}

/** The keys to send for the two refs of every scenario whose keys are rejected. */
function rejectedSecrets({ seed }: SandboxState) {
  return { unknown: unknownSecret(seed), malformed: malformedKey };
}

/** Returns the full keys by ref, by default all. */
export function secretsFor(
  { scenario, seed }: SandboxState,
  keys: readonly ScenarioKey[] = keysWithSecrets(scenario),
): Record<string, string> {
  return Object.fromEntries(keys.map((one) => [one.ref, secretOf(one, seed)]));
}

/** Returns the full keys by ref, also those to send for `unknown` and `malformed`. */
export function secretsForClients(
  sandbox: SandboxState,
  keys?: readonly ScenarioKey[],
): Record<string, string> {
  return { ...secretsFor(sandbox, keys), ...rejectedSecrets(sandbox) };
}

/** The fingerprint of the key of a ref, of which the sandbox may have only the hash; `null` for `none`. */
export function fingerprintFor(sandbox: SandboxState, ref: string): string | null {
  const entry = sandbox.registry.keys.get(ref);
  if (entry !== undefined) return fingerprintOf(entry.key.sha256);
  if (ref === "none") return null;
  const secret = secretFor(sandbox, ref);
  return fingerprintOf(sandbox.platform.sha256(secret));
}

/** The ref of the key that is sent if nothing names one: the scenario's default, or its first. */
export function defaultKeyRef(scenario: Scenario): string | undefined {
  return scenario.default_key ?? describedKeys(scenario).next().value?.ref;
}

/** The secret of the default key; `undefined` if the scenario has only its hash. */
export function defaultSecret({ scenario, seed }: SandboxState): string | undefined {
  const ref = defaultKeyRef(scenario);
  const key = keysWithSecrets(scenario).find((one) => one.ref === ref);
  return key && secretOf(key, seed);
}

/** Returns every key that the scenario lists, then keys of the population up to 1,000 in total. */
export function announcedKeys({ scenario }: SandboxState): ShownKeys {
  return announcedIn(scenario);
}

const announcedIn = /* @__PURE__ */ cachedByObject((scenario: Scenario): ShownKeys => {
  const { ofScenario, ofPopulation, total } = keysByOrigin(scenario);
  const room = Math.max(0, maxAnnounced - ofScenario.length);
  const keys = [...ofScenario, ...ofPopulation.slice(0, room)];
  return { keys, leftOut: total - keys.length };
});

/** Returns the first `max` keys that the scenario lists, or a few of the population if it lists none. */
export function firstKeys({ scenario }: SandboxState, max: number): ShownKeys {
  const { ofScenario, ofPopulation, total } = keysByOrigin(scenario);
  const keys = ofScenario.length > 0 ? ofScenario.slice(0, max) : ofPopulation.slice(0, 5);
  return { keys, leftOut: total - keys.length };
}

/** The keys with a secret, those that the scenario lists and those of its population. */
function keysByOrigin(scenario: Scenario) {
  const ofScenario: ScenarioKey[] = [];
  const ofPopulation: ScenarioKey[] = [];
  for (const key of keysWithSecrets(scenario)) {
    // By ref: a restored snapshot does not mark the keys of the population.
    const isPopulated = populatedNumbers(key.ref)?.key !== undefined;
    if (isPopulated) ofPopulation.push(key);
    else ofScenario.push(key);
  }
  return { ofScenario, ofPopulation, total: ofScenario.length + ofPopulation.length };
}

/** A snapshot has only the hash of a key that was created at run time. */
function keysWithSecrets(scenario: Scenario): ScenarioKey[] {
  return [...describedKeys(scenario)].filter(({ fields }) => fields.sha256 === undefined);
}
