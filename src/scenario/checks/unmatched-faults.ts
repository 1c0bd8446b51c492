import { faultKindsOf } from "../../rules/fault-effects.js";
import { keyStateTable } from "../../rules/key-state.js";
import { isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { successOfKey } from "../../rules/success-of-key.js";
import { parseDuration } from "../../rules/time.js";
import { quote } from "../../schema/words.js";
import type { Scenario } from "../scenario.generated.js";
import type { FaultContradiction, FaultFields } from "./fault-contradictions.js";
import type { KeyForFaults, KeysForFaults } from "./keys-for-faults.js";
import { hasBody } from "./outcome-rules.js";

type WhenFields = NonNullable<FaultFields["when"]>;

/** Why no request can match a fault, whatever changes at run time; `undefined` if one can. */
export function whyNeverMatches(
  fault: FaultFields,
  keys: KeysForFaults,
  endpoints: Scenario["endpoints"],
): FaultContradiction | undefined {
  const { when = {}, then = {} } = fault;
  // The first reason is told.
  return whyNoKeySends(when, keys) ?? whyNoBodyBreaks(when, then, endpoints) ?? whyNoneSelected(when);
}

/** Why no key can send a request that matches. */
function whyNoKeySends(when: WhenFields, keys: KeysForFaults): FaultContradiction | undefined {
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
  if (ref === undefined) return whyNoLegacyKey(when, keys);

  // The request of a known key is of its organization, and has an outcome that the key can have.
  const key = keys.keyOf(ref);
  if (key === "any_key") return undefined;
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
  if (outcome !== "200.legacy" || legacyOwners === "any_organization") return undefined;
  const hasLegacyKey = organization === undefined ? legacyOwners.size > 0 : legacyOwners.has(organization);
  if (hasLegacyKey) return undefined;

  const owner = organization === undefined ? "the scenario" : quote(organization);
  return {
    field: ["when", "outcome"],
    message: `${owner} has no legacy key`,
    hint: "give a key legacy: true, or write another outcome",
  };
}

/** Why no request with a key has an outcome, when the sandbox starts or after any change; `undefined` if one can. */
function whyKeyNeverHas(outcome: OutcomeId, ref: string, key: KeyForFaults): FaultContradiction | undefined {
  // A 404 and a 405 are decided before the key.
  if (outcome.startsWith("404.") || outcome.startsWith("405.")) return undefined;

  const { endedFromStart } = key;
  if (endedFromStart !== undefined) {
    const { rejection } = keyStateTable[endedFromStart];
    if (outcome === rejection) return undefined;
    return neverOfKey(outcome, ref, `it is ${endedFromStart} from the start`, `outcome: ${rejection}`);
  }

  if (!fitsKindOfKey(outcome, key)) return neverOfKey(outcome, ref, `it is ${keyInWords(key)}`);

  // A limit of 0 is never raised: each request that has passed the other checks gets a 429.
  const hasLimitOfZero = key.limits.perMinute === 0 || key.limits.perDay === 0;
  if (hasLimitOfZero && isSuccess(outcome)) return neverOfKey(outcome, ref, "one of its limits is 0");
  return undefined;
}

/** Whether an outcome is one of keys of this kind, such as `200.legacy` of a legacy key. */
function fitsKindOfKey(outcome: OutcomeId, key: KeyForFaults): boolean {
  if (outcome === "403.live_not_approved" || outcome === "403.live_suspended") {
    return key.environment === "live";
  }
  // The specification promises the successes of `/me`. Keys of each kind can have other rejections, and the successes of endpoints.
  const isSuccessOfMe = isSuccess(outcome) && outcomeRow(outcome).promised;
  if (!isSuccessOfMe) return true;
  // A key of any kind has this one once it is replaced.
  if (outcome === "200.retiring") return true;
  // A record of a running sandbox also has the end of its overlap, without which it has the success of its kind.
  const { environment, legacy, replaces } = key;
  const kind = { environment, legacy, ...(replaces !== undefined && { replaces }) };
  return outcome === successOfKey(kind);
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

/** Why a fault that only breaks bodies has none to break. */
function whyNoBodyBreaks(
  when: WhenFields,
  then: FaultFields["then"],
  endpoints: Scenario["endpoints"],
): FaultContradiction | undefined {
  const { outcome } = when;
  const kinds = faultKindsOf(then);
  const [first] = kinds;
  if (first === undefined || outcome === undefined) return undefined;
  const onlyBreaksBodies = kinds.every((kind) => kind === "truncate" || kind === "malformed");
  if (!onlyBreaksBodies || hasBody(outcome, endpoints)) return undefined;
  return {
    field: ["then", first],
    message: `a response with the outcome ${outcome} has no body`,
    hint: "write another effect, or another outcome",
  };
}

/** Why the numbers and times of a fault select no request. */
function whyNoneSelected(when: WhenFields): FaultContradiction | undefined {
  const { every, requests, until } = when;
  if (every !== undefined && requests !== undefined && !requests.some((number) => number % every === 0)) {
    return {
      field: ["when", "requests"],
      message: `every: ${every} selects none of these requests`,
      hint: "write a multiple of it, or remove one of the two",
    };
  }

  if (until === undefined) return undefined;
  const duration = parseDuration(until);
  // A time may be over: the faults that the control plane returns have times.
  if (duration === undefined || duration > 0) return undefined;
  return {
    field: ["when", "until"],
    message: `the fault ends before the first request: until is ${until}`,
    hint: "write a longer duration, or remove it",
  };
}
