import { authorize } from "../domain/authorize.js";
import type { ApiPathId } from "../domain/outcomes.js";
import { countRequest } from "../sandbox/usage.js";
import type { World } from "../sandbox/world.js";
import type { BegunCall } from "./call.js";
import { authorizationFacts, presentedAs } from "./facts.js";

/** Passes a call through the gate, and counts it if it is let in (R24). Answers the path it is on. */
export function authorizeAndCount(
  world: World,
  { apiKey, entry, now }: BegunCall,
  scope: string | null,
): ApiPathId {
  const { assumptions, windows } = world;
  const pathId = authorize(authorizationFacts(world, presentedAs(apiKey), entry, scope, now));
  // Who holds no key of this world has no counter that could count.
  if (entry !== undefined && (isAdmitted(pathId) || assumptions.count_refused)) {
    countRequest(entry.usage, windows, now);
  }
  return pathId;
}

/** Whether a request on this path was let in. */
export function isAdmitted(pathId: ApiPathId): boolean {
  return pathId.startsWith("200");
}
