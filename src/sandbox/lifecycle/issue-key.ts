import { type Environment, prefixOf, sandboxMark } from "../../domain/api-key.js";
import { SandboxError } from "../../domain/errors.js";
import type { KeyRecord } from "../../domain/key.js";
import { base62From } from "../../domain/seed.js";
import { parseDuration } from "../../scenario/duration.js";
import { deriveSecret, secretLength } from "../scenario-keys.js";
import { startUsage, type Usage } from "../usage.js";
import type { World } from "../world.js";

/** A key that was just made, with its secret: the only time that anyone sees it (R34). */
export interface IssuedKey {
  readonly key: KeyRecord;
  readonly secret: string;
}

/** Makes the secret of a new key. */
export type SecretMaker = (
  world: World,
  key: { readonly ref: string; readonly environment: Environment },
) => string;

/** A secret that nobody can work out: for keys that people and programs create. */
export const randomSecret: SecretMaker = (world, { environment }) =>
  prefixOf(environment, false) + sandboxMark + base62From(world.platform.random, secretLength);

/** The secret that the seed and the ref give: for keys that the scenario itself creates, the same in every run. */
export const seededSecret: SecretMaker = ({ seed }, key) => deriveSecret(seed, { ...key, legacy: false });

/**
 * Puts a new key into the world, which keeps only its hash (R35).
 *
 * New keys always have the current prefix (R17). Throws `name_taken` when the ref is one that the world has.
 */
export function issueKey(
  world: World,
  described: Omit<KeyRecord, "sha256" | "legacy">,
  makeSecret: SecretMaker,
  usage: Usage = startUsage(world.windows, world.clock.now()),
): IssuedKey {
  requireFreeRef(world, described.ref);
  const secret = makeSecret(world, described);
  const expiresAt = described.expiresAt ?? defaultExpiry(world);
  const key: KeyRecord = {
    ...described,
    ...(expiresAt !== undefined && { expiresAt }),
    legacy: false,
    sha256: world.platform.sha256(secret),
  };
  world.registry.addKey(key, usage);
  return { key, secret };
}

function requireFreeRef(world: World, ref: string): void {
  if (!world.registry.keys.has(ref)) return;
  throw new SandboxError(
    "name_taken",
    `Failed to create the key ${JSON.stringify(ref)}: there is one of that ref already.`,
    {
      ref,
    },
  );
}

// None by default: when a key expires by itself is not in the specification.
function defaultExpiry({ assumptions, clock }: World): number | undefined {
  const lifetime = parseDuration(assumptions.default_expiry);
  return lifetime === undefined ? undefined : clock.now() + lifetime;
}
