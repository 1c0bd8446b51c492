import type { KeyRecord } from "./key-record.js";
import type { MeSuccessId } from "./outcomes.js";

/** What decides which success a key has before it is replaced. */
interface KindOfKey {
  readonly environment: KeyRecord["environment"];
  readonly legacy: boolean;
  readonly replaces?: string | undefined;
}

interface AcceptedKey extends KindOfKey {
  readonly overlapEndsAt?: number | undefined;
}

/**
 * The outcome of a success of `/me` with a key, which has been accepted: if it has an overlap, the overlap has not ended. Several
 * can fit a key, such as a retiring legacy key: the first that fits counts.
 */
export function successOfKey(key: AcceptedKey): MeSuccessId {
  if (key.overlapEndsAt !== undefined) return "200.retiring";
  return successOfKind(key);
}

/** The outcome of a success of `/me` with a key that has no overlap. */
export function successOfKind(key: KindOfKey): MeSuccessId {
  if (key.replaces !== undefined) return "200.replacement";
  if (key.legacy) return "200.legacy";
  return key.environment === "live" ? "200.live" : "200.test";
}
