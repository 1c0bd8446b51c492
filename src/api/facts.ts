import { isWellFormedKey } from "../domain/api-key.js";
import type { AuthorizationFacts, Presented } from "../domain/authorize.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { settleUsage } from "../sandbox/usage.js";
import type { World } from "../sandbox/world.js";

/** What was presented as the key (R9, R10). An empty header is there, but it is not a key. */
export function presentedAs(apiKey: string | undefined): Presented {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}

/** What the gate has to know of a request with this key at `now`. Forgets what the key used in windows that are over. */
export function authorizationFacts(
  world: World,
  presented: Presented,
  entry: KeyEntry | undefined,
  scope: string | null,
  now: number,
): AuthorizationFacts {
  if (entry === undefined) {
    return {
      presented,
      key: undefined,
      organization: undefined,
      now,
      scope,
      usedThisMinute: 0,
      usedToday: 0,
    };
  }
  const { key, holder, usage } = entry;
  settleUsage(usage, world.windows, now);
  return {
    presented,
    key,
    organization: holder.organization,
    now,
    scope,
    usedThisMinute: usage.minuteCount,
    usedToday: usage.dayCount,
  };
}
