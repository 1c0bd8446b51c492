import { fingerprintOf } from "../../domain/api-key.js";
import { type KeyRecord, keyStateAt } from "../../domain/key.js";
import type { KeyEntry } from "../../sandbox/registry.js";
import { settleUsage } from "../../sandbox/usage.js";
import type { World } from "../../sandbox/world.js";

/** The world as the control plane shows it; never a key, only fingerprints (R34). */
export function worldState(world: World): Record<string, unknown> {
  return {
    scenario: world.name,
    seed: world.seed,
    clock: { now: new Date(world.clock.now()).toISOString(), frozen: world.clock.isFrozen() },
    assumptions: world.assumptions,
    organizations: [...world.registry.organizations.values()].map(({ organization }) => ({
      ref: organization.ref,
      id: organization.id,
      name: organization.name,
      type: organization.type,
      status: organization.status,
      sandbox_access: organization.sandboxAccess,
      live_access: organization.liveAccess,
    })),
    keys: [...world.registry.keys.values()].map((entry) => keyState(entry, world)),
  };
}

function keyState(entry: KeyEntry, world: World): Record<string, unknown> {
  const { key, usage } = entry;
  const now = world.clock.now();
  settleUsage(usage, world.windows, now);
  return {
    ref: key.ref,
    organization: key.organization,
    name: key.name,
    environment: key.environment,
    legacy: key.legacy,
    fingerprint: fingerprintOf(key.sha256),
    state: keyStateAt(key, now),
    scopes: key.scopes,
    limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
    usage: { this_minute: usage.minuteCount, today: usage.dayCount },
    ...times(key),
    replaced_by: key.replacedBy ?? null,
    replaces: key.replaces ?? null,
  };
}

function times(key: KeyRecord): Record<string, string | null> {
  const time = (instant: number | undefined) =>
    instant === undefined ? null : new Date(instant).toISOString();
  return {
    revoked_at: time(key.revokedAt),
    expires_at: time(key.expiresAt),
    overlap_ends_at: time(key.overlapEndsAt),
  };
}
