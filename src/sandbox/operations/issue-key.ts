import {
  type Environment,
  type KeyRecord,
  keyStateAt,
  maximumActiveKeys,
  prefixOf,
  sandboxMark,
} from "../../domain/api-key.js";
import { SandboxError } from "../../domain/errors.js";
import { base62From } from "../../domain/seed.js";
import { freeRefIn, isRef, isReserved, reservedKeyRefs } from "../../scenario/format/ref.js";
import { parseDuration } from "../../scenario/format/time.js";
import { listed } from "../../scenario/problems/words.js";
import { deriveSecret, secretLength } from "../scenario-keys.js";
import { startUsage, type Usage } from "../usage.js";
import type { World } from "../world.js";
import { type Initiator, requireFields } from "./check-input.js";

/** The options of a new key. */
interface Issuing extends Initiator {
  /** The usage it starts with. Default: none. */
  readonly usage?: Usage | undefined;
}

/**
 * Adds a new key to the world, which keeps only its hash (R35), and returns its secret, for the only time (R34).
 *
 * New keys always have the current prefix (R17). Throws `name_taken` for the ref of an existing key, or
 * `validation_failed` for one that no key can have.
 */
export function issueKey(
  world: World,
  described: Omit<KeyRecord, "sha256" | "legacy">,
  { isScripted, usage }: Issuing,
): string {
  const { ref, environment, replaces } = described;
  requireFields("create a key", { [replaces === undefined ? "ref" : "as"]: refProblem(ref) });
  if (world.registry.keys.has(ref)) {
    throw new SandboxError(
      "name_taken",
      `Failed to create the key ${JSON.stringify(ref)}: there is one of that ref already.`,
      { ref },
    );
  }
  const secret =
    isScripted === true
      ? deriveSecret(world.seed, { ref, environment, legacy: false })
      : randomSecret(world, environment);
  const expiresAt = described.expiresAt ?? defaultExpiry(world);
  const key: KeyRecord = {
    ...described,
    ...(expiresAt !== undefined && { expiresAt }),
    legacy: false,
    sha256: world.platform.sha256(secret),
  };
  world.registry.addKey(key, usage ?? startUsage(world.windows, world.clock.now()));
  return secret;
}

/** The first of `ref`, `ref-2`, `ref-3` … that no key of the world has. */
export function freeRef({ registry }: World, ref: string): string {
  return freeRefIn((taken) => registry.keys.has(taken), ref);
}

/** Throws `key_limit_reached` when the organization already has five active keys in that environment (R32). */
export function requireRoomForKey(
  world: World,
  { organization, environment }: Pick<KeyRecord, "organization" | "environment">,
): void {
  const now = world.clock.now();
  let active = 0;
  for (const { key } of world.registry.keysOf(organization)) {
    if (key.environment !== environment) continue;
    const state = keyStateAt(key, now);
    if (state === "active" || (state === "retiring" && world.assumptions.retiring_counts_as_active))
      active += 1;
  }
  if (active < maximumActiveKeys) return;
  throw new SandboxError(
    "key_limit_reached",
    `Failed to create a key: ${organization} holds ${active} active ${environment} keys, and ${maximumActiveKeys} is the most (R32). Revoke one first.`,
    { organization, environment, active, maximum: maximumActiveKeys },
  );
}

function refProblem(ref: string): string | undefined {
  if (isReserved(ref))
    return `must not be ${listed(reservedKeyRefs, "or")}: stories use these words for no key`;
  return isRef(ref) ? undefined : "must not be a name that means something to JavaScript";
}

function randomSecret({ platform }: World, environment: Environment): string {
  return prefixOf(environment, false) + sandboxMark + base62From(platform.random, secretLength);
}

// None by default: the specification does not say that keys expire by themselves.
function defaultExpiry({ assumptions, clock }: World): number | undefined {
  const lifetime = parseDuration(assumptions.default_expiry);
  return lifetime === undefined ? undefined : clock.now() + lifetime;
}
