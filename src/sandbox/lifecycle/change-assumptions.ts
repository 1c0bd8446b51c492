import { type Assumptions, assumptionsFor, type Profile } from "../../domain/assumptions.js";
import { SandboxError } from "../../domain/sandbox-error.js";
import { settleUsage, startUsage, type Usage, windowsOf } from "../usage.js";
import type { World } from "../world.js";

/**
 * Changes assumptions from the next request on, and with a profile all others to what it sets; what keys have used in their minute and day stays counted.
 *
 * Throws `validation_failed` when the scope that the endpoint needs is not one of the scopes, and changes nothing then.
 */
export function changeAssumptions(
  world: World,
  change: Partial<Assumptions>,
  profile?: Profile,
): Assumptions {
  const base = profile === undefined ? world.assumptions : assumptionsFor(profile);
  const next: Assumptions = { ...base, ...change };
  if (next.me_scope !== null && !next.scopes.includes(next.me_scope)) {
    const problem = `me_scope is ${JSON.stringify(next.me_scope)}, which is not one of scopes`;
    throw new SandboxError("validation_failed", `Failed to change the assumptions: ${problem}.`, {
      fields: { me_scope: problem },
    });
  }
  const now = world.clock.now();
  const windows = windowsOf(next);
  for (const { usage } of world.registry.keys.values()) {
    settleUsage(usage, world.windows, now);
    carryOver(usage, startUsage(windows, now, { thisMinute: usage.minuteCount, today: usage.dayCount }));
  }
  world.assume(next, profile ?? world.profile);
  world.events.announce({ type: "assumptions.changed" });
  return next;
}

// How the minute's requests were spread is not known when a fixed minute becomes a sliding one: they count as of now.
function carryOver(usage: Usage, next: Usage): void {
  const { recent, ...counts } = next;
  Object.assign(usage, counts);
  usage.recent.splice(0, usage.recent.length, ...recent);
}
