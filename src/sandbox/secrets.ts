import { SandboxError } from "../rules/errors.js";
import { fingerprintOf } from "../rules/keys/key-text.js";
import {
  allKeys,
  deriveSecret,
  listedKeys,
  populationOf,
  type ScenarioKey,
  scenarioSecret,
  unknownSecret,
} from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { quote } from "../schema/words.js";
import type { SandboxState } from "./sandbox-state.js";

// The sandbox stores only hashes (R35). The secret of a key is pinned in the scenario, or derived from the seed on every call
// (`scenarioSecret`). Two more secrets are of no key: what clients send for the refs `unknown` and `malformed`.

/** Sent for the key `malformed`: a text that a client mistook for its key. */
const malformedKey = "not-an-api-key";

/**
 * The full key to send for a ref, which may be `unknown` or `malformed`. Throws `unknown_ref`, or `secret_not_kept` for a key
 * that was created at run time (R36).
 */
export function secretToSend(sandbox: SandboxState, ref: string): string {
  const secret = keptSecret(sandbox, ref);
  if (secret !== undefined) return secret;

  const message = `The secret of ${quote(ref)} is not available: a key created at run time is shown only once, on creation.`;
  throw new SandboxError("secret_not_kept", message, { ref });
}

/** The full key to send for a ref; `undefined` if the sandbox has only its hash. Throws `unknown_ref`. */
export function keptSecret(sandbox: SandboxState, ref: string): string | undefined {
  if (ref === "unknown" || ref === "malformed") return secretsOfNoKey(sandbox)[ref];
  const { key } = sandbox.registry.key(ref);
  const pinned = sandbox.scenario.organizations?.[key.organization]?.keys?.[ref]?.secret;
  // The seed also derives the secrets of keys that a timeline or a story created.
  const secret = pinned ?? deriveSecret(sandbox.seed, key);
  // A key that a user created has a random secret, which nothing derives: the hash tells.
  return sandbox.platform.sha256(secret) === key.sha256 ? secret : undefined;
}

export function secretsOfNoKey({ seed }: SandboxState): Readonly<Record<"unknown" | "malformed", string>> {
  return { unknown: unknownSecret(seed), malformed: malformedKey };
}

/** The full keys by ref. Default: of all keys of the scenario. */
export function secretsByRef(
  { scenario, seed }: SandboxState,
  keys: Iterable<ScenarioKey> = allKeys(scenario),
): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const key of keys) secrets[key.ref] = scenarioSecret(key, seed);
  return secrets;
}

/** The fingerprint of the key of a ref, of which the sandbox may have only the hash; `null` for `none`. */
export function fingerprintOfRef(sandbox: SandboxState, ref: string): string | null {
  const entry = sandbox.registry.keys.get(ref);
  if (entry !== undefined) return fingerprintOf(entry.key.sha256);
  if (ref === "none") return null;
  const secret = secretToSend(sandbox, ref);
  return fingerprintOf(sandbox.platform.sha256(secret));
}

/** The ref of the key that is sent if nothing names one: the scenario's default, or its first. */
export function defaultKeyRef(scenario: Scenario): string | undefined {
  return scenario.default_key ?? allKeys(scenario).next().value?.ref;
}

export function defaultSecret(sandbox: SandboxState): string | undefined {
  const ref = defaultKeyRef(sandbox.scenario);
  return ref === undefined ? undefined : keptSecret(sandbox, ref);
}

/** More keys of a population are in no list and no environment. */
const mostKeys = 1000;

/** The first keys of a scenario, those that it lists before those of its population, and how many others it has. */
export function firstKeys(
  { scenario }: SandboxState,
  most = mostKeys,
): { readonly keys: readonly ScenarioKey[]; readonly leftOut: number } {
  const keys: ScenarioKey[] = [];
  for (const key of allKeys(scenario)) {
    if (keys.length >= most) break;
    keys.push(key);
  }
  const { organizations, keysEach } = populationOf(scenario);
  const total = [...listedKeys(scenario)].length + organizations * keysEach;
  return { keys, leftOut: total - keys.length };
}
