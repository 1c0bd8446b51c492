import { keyStateTable } from "../../rules/key-state.js";
import { isSuccess, type OutcomeId, successBeforeReplacement } from "../../rules/outcomes.js";
import { quote } from "../../schema/words.js";
import type { FaultContradiction, FaultFields } from "./fault-contradictions.js";
import type { KeyForFaults, KeysForFaults } from "./keys-for-faults.js";

// Why a fault is useless: no key can send a request that it matches, whatever changes at run time.

type WhenFields = NonNullable<FaultFields["when"]>;

/** Why no key can send a request that matches a fault. */
export function whyNoKeySends(fault: FaultFields, keys: KeysForFaults): FaultContradiction | undefined {
  const { when = {} } = fault;
  const { key: ref, organization, outcome } = when;

  // A request without a key of the sandbox is of no key and of no organization.
  if (isWithoutKey(outcome) && (ref !== undefined || organization !== undefined)) {
    const condition = ref === undefined ? "organization" : "key";
    return {
      field: ["when", "outcome"],
      message: `a request with the outcome ${outcome} has no key of the sandbox`,
      hint: `remove ${condition}, or write another outcome`,
    };
  }
  // Without a ref, any key may send the request. Only legacy keys may be missing: no key becomes one.
  if (ref === undefined) return whyNoLegacyKey(when, keys);

  const key = keys.keyOf(ref);
  if (key === undefined) return undefined;
  if (organization !== undefined && key.organization !== organization) {
    return {
      field: ["when", "organization"],
      message: `the key ${quote(ref)} belongs to ${quote(key.organization)}`,
      hint: "remove one of the two",
    };
  }
  return outcome === undefined ? undefined : whyKeyNeverHas(outcome, ref, key);
}

function isWithoutKey(outcome: OutcomeId | undefined): boolean {
  return outcome === "401.missing" || outcome === "401.malformed" || outcome === "401.unknown";
}

/** Why no key of any ref has the outcome of legacy keys. */
function whyNoLegacyKey(when: WhenFields, { legacyOwners }: KeysForFaults): FaultContradiction | undefined {
  const { organization, outcome } = when;
  if (outcome !== "200.legacy") return undefined;
  const hasLegacyKey = organization === undefined ? legacyOwners.size > 0 : legacyOwners.has(organization);
  if (hasLegacyKey) return undefined;

  const owner = organization === undefined ? "the scenario" : quote(organization);
  return {
    field: ["when", "outcome"],
    message: `${owner} has no legacy key`,
    hint: "give a key legacy: true, or write another outcome",
  };
}

/**
 * Why no request with a key has an outcome, when the sandbox starts or after any change; `undefined` if one can. The key may have
 * ended from the start, be of another kind than the outcome, or have a limit of 0.
 */
function whyKeyNeverHas(outcome: OutcomeId, ref: string, key: KeyForFaults): FaultContradiction | undefined {
  // A 404 and a 405 are decided before the key.
  if (outcome.startsWith("404.") || outcome.startsWith("405.")) return undefined;

  const { endedFromStart, limits } = key;
  if (endedFromStart !== undefined) {
    const { rejection } = keyStateTable[endedFromStart];
    if (outcome === rejection) return undefined;
    return neverOfKey(outcome, ref, `it is ${endedFromStart} from the start`, `outcome: ${rejection}`);
  }

  if (!fitsKindOfKey(outcome, key)) return neverOfKey(outcome, ref, `it is ${keyInWords(key)}`);

  // A limit of 0 is never raised: each request that has passed the other checks gets a 429.
  const hasLimitOfZero = limits.perMinute === 0 || limits.perDay === 0;
  if (hasLimitOfZero && isSuccess(outcome)) return neverOfKey(outcome, ref, "one of its limits is 0");
  return undefined;
}

/** Whether a key of this kind can have an outcome: `200.legacy` is of legacy keys. */
function fitsKindOfKey(outcome: OutcomeId, key: KeyForFaults): boolean {
  switch (outcome) {
    case "403.live_not_approved":
    case "403.live_suspended":
      return key.environment === "live";
    case "200.test":
    case "200.live":
    case "200.legacy":
    case "200.replacement":
      return outcome === successBeforeReplacement(key);
    default:
      // A key of any kind has 200.retiring once it is replaced, the successes of endpoints, and all other rejections.
      return true;
  }
}

function neverOfKey(
  outcome: OutcomeId,
  ref: string,
  why: string,
  instead = "another outcome",
): FaultContradiction {
  return {
    field: ["when", "outcome"],
    message: `the key ${quote(ref)} never has the outcome ${outcome}: ${why}`,
    hint: `write ${instead}, or another key`,
  };
}

function keyInWords(key: KeyForFaults): string {
  const legacy = key.legacy ? "legacy " : "";
  const kind = `a ${legacy}${key.environment} key`;
  if (key.replaces === undefined) return kind;
  return `${kind} that replaces ${quote(key.replaces)}`;
}
