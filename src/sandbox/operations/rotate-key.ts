import { defaultOverlap, keyStateAt, maximumOverlap } from "../../domain/api-key.js";
import { SandboxError } from "../../domain/errors.js";
import type { KeyEntry } from "../registry.js";
import { settleUsage, type Usage } from "../usage.js";
import { type KeyView, viewKey } from "../views.js";
import type { World } from "../world.js";
import { type Initiator, requireAdministrator } from "./check-input.js";
import { type Duration, durationOf } from "./input-times.js";
import { freeRef, issueKey, requireRoomForKey } from "./issue-key.js";

/** A key to rotate, and how. */
export interface RotateInput {
  readonly key: string;
  /** The overlap in which the old key goes on working: 0 to 7 days. Default: 60 minutes. */
  readonly overlap?: Duration | undefined;
  /** The ref of the replacement. Default: the old ref with the next free number. */
  readonly as?: string | undefined;
}

/**
 * Replaces an active key by a new one with the same name, scopes and limits (R37); the old one works until the
 * overlap ends (R38–R40). The replacement does not inherit an expiry, so that an expiring key can be rotated.
 *
 * Throws `unknown_ref`, `key_not_active`, `overlap_out_of_range`, `validation_failed`, `key_limit_reached` or
 * `name_taken`, and changes nothing then.
 */
export function rotateKey(
  world: World,
  input: RotateInput,
  by: Initiator = {},
): { readonly key: KeyView; readonly replacement: KeyView; readonly secret: string } {
  requireAdministrator(by);
  const entry = requireActiveKey(world, input.key, "rotate");
  const overlap = overlapOf(input.overlap);
  const old = entry.key;
  // Where a retiring key counts as active, there must be room for both during the overlap.
  if (overlap > 0 && world.assumptions.retiring_counts_as_active) requireRoomForKey(world, old);
  const ref = input.as ?? freeRef(world, old.ref);
  const { name, organization, environment, scopes, limits } = old;
  const described = { ref, organization, name, environment, scopes, limits, replaces: old.ref };
  const secret = issueKey(world, described, { ...by, usage: inheritedUsage(world, entry) });
  entry.key = { ...old, overlapEndsAt: world.clock.now() + overlap, replacedBy: ref };
  const [key, replacement] = [viewKey(entry, world), viewKey(world.registry.key(ref), world)];
  world.events.announce({ type: "key.rotated", key, replacement });
  return { key, replacement, secret };
}

/** Revokes an active key; the very next request with it gets 401 (R41). Throws `key_not_active` (R42) or `unknown_ref`. */
export function revokeKey(
  world: World,
  input: { readonly key: string },
  by: Initiator = {},
): { readonly key: KeyView } {
  requireAdministrator(by);
  const entry = requireActiveKey(world, input.key, "revoke");
  entry.key = { ...entry.key, revokedAt: world.clock.now() };
  const key = viewKey(entry, world);
  world.events.announce({ type: "key.revoked", key });
  return { key };
}

function requireActiveKey(world: World, ref: string, verb: "rotate" | "revoke"): KeyEntry {
  const entry = world.registry.key(ref);
  const state = keyStateAt(entry.key, world.clock.now());
  if (state === "active") return entry;
  throw new SandboxError(
    "key_not_active",
    `Failed to ${verb} the key ${JSON.stringify(ref)}: it is ${state}, and only an active key can be ${verb}d.`,
    { ref, state },
  );
}

function inheritedUsage({ assumptions, windows, clock }: World, { usage }: KeyEntry): Usage | undefined {
  if (assumptions.replacement_usage === "fresh") return undefined;
  settleUsage(usage, windows, clock.now());
  return { ...usage, recent: [...usage.recent] };
}

function overlapOf(input: Duration = defaultOverlap): number {
  const overlap = typeof input === "number" ? input : durationOf(input);
  if (Number.isSafeInteger(overlap) && overlap >= 0 && overlap <= maximumOverlap) return overlap;
  throw new SandboxError(
    "overlap_out_of_range",
    `Failed to rotate with an overlap of ${overlap} ms: it must be between 0 and 7 days (${maximumOverlap} ms).`,
    { overlap, maximum: maximumOverlap },
  );
}
