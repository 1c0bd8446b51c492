import type { KeyRecord } from "../../domain/key.js";
import { viewKey } from "../views.js";
import type { World } from "../world.js";
import { requireActiveKey } from "./active-key.js";
import { type Actor, requireAdministrator } from "./administrator.js";

/** Revokes an active key; the very next request with it gets 401 (R41). Throws `key_not_active` (R42) or `unknown_ref`. */
export function revokeKey(world: World, ref: string, actor: Actor = "administrator"): KeyRecord {
  requireAdministrator(actor);
  const entry = requireActiveKey(world, ref, "revoke");
  entry.key = { ...entry.key, revokedAt: world.clock.now() };
  world.events.announce({ type: "key.revoked", key: viewKey(entry, world) });
  return entry.key;
}
