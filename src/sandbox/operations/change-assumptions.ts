import { keyStateAt, maximumActiveKeys } from "../../domain/api-key.js";
import { type Assumptions, assumptionsFor, type Profile } from "../../domain/assumptions.js";
import { minuteStart } from "../../domain/limits.js";
import { settleUsage, startUsage, type Usage, type Windows, windowsOf } from "../usage.js";
import type { World } from "../world.js";
import { requireFields } from "./check-input.js";

/** Assumptions to change, and the profile to base all others on. */
export type AssumptionsInput = Partial<Assumptions> & { readonly profile?: Profile };

/**
 * Changes assumptions from the next request on; with a profile, all others become the profile's. What keys have used
 * in their minute and day stays counted.
 *
 * Throws `validation_failed` for assumptions that contradict the world, and changes nothing then.
 */
export function changeAssumptions(world: World, { profile, ...input }: AssumptionsInput): Assumptions {
  const given = profile === undefined ? { ...world.givenAssumptions, ...input } : input;
  const next = assumptionsFor(profile ?? world.profile, given);
  requireFields("change the assumptions", {
    me_scope: neededScopeProblem(next),
    scopes: heldScopeProblem(world, next),
    retiring_counts_as_active: tooManyActiveProblem(world, next),
  });
  const now = world.clock.now();
  const windows = windowsOf(next);
  for (const { usage } of world.registry.keys.values()) carryOver(usage, world.windows, windows, now);
  world.assume(profile ?? world.profile, given);
  world.events.announce({ type: "assumptions.changed" });
  return next;
}

function neededScopeProblem({ me_scope: needed, scopes }: Assumptions): string | undefined {
  if (needed === null || scopes.includes(needed)) return undefined;
  return `is ${JSON.stringify(needed)}, which is not one of scopes`;
}

function heldScopeProblem({ registry }: World, { scopes }: Assumptions): string | undefined {
  for (const { key } of registry.keys.values()) {
    const held = key.scopes.find((scope) => !scopes.includes(scope));
    if (held !== undefined) return `lack ${held}, which the key ${JSON.stringify(key.ref)} has`;
  }
  return undefined;
}

function tooManyActiveProblem({ registry, clock }: World, next: Assumptions): string | undefined {
  if (!next.retiring_counts_as_active) return undefined;
  const counts = new Map<string, number>();
  for (const { key } of registry.keys.values()) {
    if (!["active", "retiring"].includes(keyStateAt(key, clock.now()))) continue;
    const holder = `${key.organization} (${key.environment})`;
    counts.set(holder, (counts.get(holder) ?? 0) + 1);
  }
  const [crowded] = [...counts].find(([, count]) => count > maximumActiveKeys) ?? [];
  return crowded === undefined
    ? undefined
    : `would give ${crowded} more than ${maximumActiveKeys} active keys (R32)`;
}

function carryOver(usage: Usage, from: Windows, to: Windows, now: number): void {
  settleUsage(usage, from, now);
  const thisMinute =
    from.sliding && !to.sliding ? countSince(usage.recent, minuteStart(now)) : usage.minuteCount;
  // A fixed minute does not record when its requests came; in a sliding one they count as of now.
  const countedAt = from.sliding && to.sliding ? [...usage.recent] : undefined;
  const { recent, ...counts } = startUsage(to, now, { thisMinute, today: usage.dayCount, countedAt });
  Object.assign(usage, counts);
  usage.recent.splice(0, usage.recent.length, ...recent);
}

function countSince(times: readonly number[], start: number): number {
  return times.filter((time) => time >= start).length;
}
