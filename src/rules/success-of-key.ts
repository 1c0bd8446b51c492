import type { KeyRecord } from "./api-key.js";
import type { SuccessOutcomeId } from "./outcomes.js";

// Which 200 a request of `/me` gets. A key can be several of these: what requires action from the client comes first.

/** The outcome of a success with a key, which has been accepted: the overlap of a retiring one has not ended. */
export function successOfKey(key: KeyRecord): SuccessOutcomeId {
  return key.overlapEndsAt === undefined ? lastingSuccess(key) : "200.retiring";
}

/** The outcome of a success with a key that has no replacement. */
export function lastingSuccess(
  key: Pick<KeyRecord, "environment" | "legacy" | "replaces">,
): SuccessOutcomeId {
  if (key.replaces !== undefined) return "200.replacement";
  if (key.legacy) return "200.legacy";
  return key.environment === "live" ? "200.live" : "200.test";
}
