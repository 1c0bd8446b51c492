import type { KeyRecord } from "./key-state.js";
import type { MeSuccessId } from "./outcomes.js";

/** What of a key decides its success. */
interface KeyFacts {
  readonly environment: KeyRecord["environment"];
  readonly legacy: boolean;
  readonly replaces?: string | undefined;
  /** Only of a replaced key: the key is accepted until then. */
  readonly overlapEndsAt?: number | undefined;
}

// Several successes can fit a key, such as a retiring legacy key: the first that fits counts.

/** The outcome of a success of `/me` with a key. */
export function successOfKey(key: KeyFacts): MeSuccessId {
  if (key.overlapEndsAt !== undefined) return "200.retiring";
  return successBeforeReplacement(key);
}

/** The outcome of a success of `/me` with a key that has not been replaced, or as it was before. */
export function successBeforeReplacement(key: KeyFacts): MeSuccessId {
  if (key.replaces !== undefined) return "200.replacement";
  if (key.legacy) return "200.legacy";
  return key.environment === "live" ? "200.live" : "200.test";
}
