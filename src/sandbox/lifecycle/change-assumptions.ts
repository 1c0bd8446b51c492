import { type Assumptions, assumptionsFor, type Profile } from "../../domain/assumptions.js";
import { SandboxError } from "../../domain/errors.js";
import { keyStateAt, maximumActiveKeys } from "../../domain/key.js";
import { minuteStart } from "../../domain/limits.js";
import { settleUsage, startUsage, type Usage, type Windows, windowsOf } from "../usage.js";
import type { World } from "../world.js";

/**
 * Changes assumptions from the next request on, and with a profile all others to what it sets; what keys have used in
 * their minute and day stays counted.
 *
 * Throws `validation_failed` for assumptions with which the world would contradict itself, and changes nothing then.
 */
export function changeAssumptions(
  world: World,
  change: Partial<Assumptions>,
  profile?: Profile,
): Assumptions {
  const given = profile === undefined ? { ...world.givenAssumptions, ...change } : change;
  const next = assumptionsFor(profile ?? world.profile, given);
  refuse({
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

function refuse(problems: Readonly<Record<string, string | undefined>>): void {
  const fields = Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined));
  const [first] = Object.values(fields);
  if (first === undefined) return;
  throw new SandboxError("validation_failed", `Failed to change the assumptions: ${first}.`, { fields });
}

function neededScopeProblem({ me_scope: needed, scopes }: Assumptions): string | undefined {
  if (needed === null || scopes.includes(needed)) return undefined;
  return `me_scope is ${JSON.stringify(needed)}, which is not one of scopes`;
}

function heldScopeProblem({ registry }: World, { scopes }: Assumptions): string | undefined {
  for (const { key } of registry.keys.values()) {
    const held = key.scopes.find((scope) => !scopes.includes(scope));
    if (held !== undefined)
      return `the key ${JSON.stringify(key.ref)} holds ${held}, which is not one of scopes`;
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
    : `${crowded} would hold more than ${maximumActiveKeys} active keys (R32)`;
}

function carryOver(usage: Usage, from: Windows, to: Windows, now: number): void {
  settleUsage(usage, from, now);
  const thisMinute =
    from.sliding && !to.sliding ? countSince(usage.recent, minuteStart(now)) : usage.minuteCount;
  // How the requests of a fixed minute were spread is not known; in a sliding one they count as of now.
  const countedAt = from.sliding && to.sliding ? [...usage.recent] : undefined;
  const { recent, ...counts } = startUsage(to, now, { thisMinute, today: usage.dayCount, countedAt });
  Object.assign(usage, counts);
  usage.recent.splice(0, usage.recent.length, ...recent);
}

function countSince(times: readonly number[], start: number): number {
  return times.filter((time) => time >= start).length;
}
