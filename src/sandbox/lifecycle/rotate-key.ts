import { SandboxError } from "../../domain/errors.js";
import { defaultOverlap, type KeyRecord, maximumOverlap } from "../../domain/key.js";
import type { KeyEntry } from "../registry.js";
import { settleUsage, type Usage } from "../usage.js";
import { viewKey } from "../views.js";
import type { World } from "../world.js";
import { requireActiveKey, requireRoomForKey } from "./active-key.js";
import { type Actor, requireAdministrator } from "./administrator.js";
import { type IssuedKey, issueKey, randomSecret, type SecretMaker } from "./issue-key.js";
import { freeRef } from "./refs.js";
import { refProblem, requireFields } from "./require-fields.js";

/** How to rotate. */
export interface Rotation {
  /** How long the old key goes on working, in milliseconds. Default: 60 minutes. At most 7 days; 0 ends it at once. */
  readonly overlap?: number;
  /** The replacement's ref. Default: the old ref with the next free number. */
  readonly as?: string;
}

/**
 * Replaces an active key by a new one with the same name, scopes and limits (R37); the old one works until the
 * overlap ends (R38–R40). The replacement does not inherit an expiry: rotating is the way out for a key about to end.
 *
 * Throws `unknown_ref`, `key_not_active`, `overlap_out_of_range`, `validation_failed`, `key_limit_reached` or
 * `name_taken`, and changes nothing then.
 */
export function rotateKey(
  world: World,
  ref: string,
  { overlap = defaultOverlap, as }: Rotation = {},
  actor: Actor = "administrator",
  makeSecret: SecretMaker = randomSecret,
): IssuedKey & { readonly replaced: KeyRecord } {
  requireAdministrator(actor);
  const entry = requireActiveKey(world, ref, "rotate");
  requireOverlap(overlap);
  requireFields("rotate the key", { as: refProblem(as) });
  const old = entry.key;
  // The old key counts as active during its overlap only where that is assumed; then there must be room for both.
  if (overlap > 0 && world.assumptions.retiring_counts_as_active) requireRoomForKey(world, old);
  const replacementRef = as ?? freeRef(world, ref);
  const { name, organization, environment, scopes, limits } = old;
  const described = { ref: replacementRef, organization, name, environment, scopes, limits, replaces: ref };
  const issued = issueKey(world, described, makeSecret, replacementUsage(world, entry));
  entry.key = { ...old, overlapEndsAt: world.clock.now() + overlap, replacedBy: replacementRef };
  world.events.announce({
    type: "key.rotated",
    key: viewKey(entry, world),
    replacement: viewKey(world.registry.key(replacementRef), world),
  });
  return { ...issued, replaced: entry.key };
}

// Undefined is a fresh one.
function replacementUsage({ assumptions, windows, clock }: World, { usage }: KeyEntry): Usage | undefined {
  if (assumptions.replacement_usage === "fresh") return undefined;
  settleUsage(usage, windows, clock.now());
  return { ...usage, recent: [...usage.recent] };
}

function requireOverlap(overlap: number): void {
  if (Number.isSafeInteger(overlap) && overlap >= 0 && overlap <= maximumOverlap) return;
  throw new SandboxError(
    "overlap_out_of_range",
    `Failed to rotate with an overlap of ${overlap} ms: it must be between 0 and 7 days (${maximumOverlap} ms).`,
    { overlap, maximum: maximumOverlap },
  );
}
