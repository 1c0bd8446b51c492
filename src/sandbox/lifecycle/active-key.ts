import { SandboxError } from "../../domain/errors.js";
import { type KeyRecord, keyStateAt, maximumActiveKeys } from "../../domain/key.js";
import type { KeyEntry } from "../registry.js";
import type { World } from "../world.js";

/** The key, if it is active: only an active key is rotated or revoked (R42). Throws `unknown_ref` or `key_not_active`. */
export function requireActiveKey(world: World, ref: string, verb: "rotate" | "revoke"): KeyEntry {
  const entry = world.registry.key(ref);
  const state = keyStateAt(entry.key, world.clock.now());
  if (state === "active") return entry;
  throw new SandboxError(
    "key_not_active",
    `Failed to ${verb} the key ${JSON.stringify(ref)}: it is ${state}, and only an active key can be ${verb}d.`,
    { ref, state },
  );
}

/** Throws `key_limit_reached` when the organization holds five active keys in that environment already (R32). */
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
