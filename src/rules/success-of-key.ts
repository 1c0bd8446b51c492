import type { KeyRecord } from "./key-record.js";
import type { MeSuccessId } from "./outcomes.js";

/** What decides which success a key has. */
interface AcceptedKey extends Pick<KeyRecord, "environment" | "legacy" | "replaces" | "overlapEndsAt"> {}

/**
 * The outcome of a success of `/me` with a key, which has been accepted: if it has an overlap, the overlap has not ended. Several
 * can fit a key, such as a retiring legacy key: the first that fits counts.
 */
export function successOfKey(key: AcceptedKey): MeSuccessId {
  if (key.overlapEndsAt !== undefined) return "200.retiring";
  if (key.replaces !== undefined) return "200.replacement";
  if (key.legacy) return "200.legacy";
  return key.environment === "live" ? "200.live" : "200.test";
}
