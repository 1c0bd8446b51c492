import { faultKindsOf } from "../../rules/fault-effects.js";
import { keyStateTable } from "../../rules/key-state.js";
import { isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { successOfKind } from "../../rules/success-of-key.js";
import { parseDuration } from "../../rules/time.js";
import { quote } from "../../schema/words.js";
import type { FaultContradiction, FaultFields } from "./fault-contradictions.js";
import type { KeyForFaults, KeysForFaults } from "./keys-for-faults.js";
import { type EndpointSuccesses, hasBody } from "./outcome-rules.js";

type WhenFields = NonNullable<FaultFields["when"]>;

/** Why no request can match a fault, whatever changes at run time; `undefined` if one can. */
export function whyNeverMatches(
  fault: FaultFields,
  keys: KeysForFaults,
  successes: EndpointSuccesses,
): FaultContradiction | undefined {
  const { when = {} } = fault;
  // The first reason is told.
  return (
    whyNoKeySends(when, keys) ??
    whyNoBodyBreaks(fault, successes) ??
    whyNumbersSelectNone(when) ??
    whyEndsBeforeFirstRequest(when)
  );
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

/** Whether a key of this kind can have an outcome: `200.legacy` is of legacy keys. */
function fitsKindOfKey(outcome: OutcomeId, key: KeyForFaults): boolean {
  if (outcome === "403.live_not_approved" || outcome === "403.live_suspended") {
    return key.environment === "live";
  }
  // A key of any kind has this one once it is replaced.
  if (outcome === "200.retiring") return true;
  // Of the successes of `/me`, a key has that of its kind. A key of any kind has those of endpoints, and the other rejections.
  const isSuccessOfMe = isSuccess(outcome) && outcomeRow(outcome).promised;
  return !isSuccessOfMe || outcome === successOfKind(key);
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
export function whyNoBodyBreaks(
  { when, then }: FaultFields,
  successes: EndpointSuccesses,
): FaultContradiction | undefined {
  const outcome = when?.outcome;
  const kinds = faultKindsOf(then);
  const [first] = kinds;
  if (first === undefined || outcome === undefined) return undefined;
  const onlyBreaksBodies = kinds.every((kind) => kind === "truncate" || kind === "malformed");
  if (!onlyBreaksBodies || hasBody(outcome, successes)) return undefined;
  return {
    field: ["then", first],
    message: `a response with the outcome ${outcome} has no body`,
    hint: "write another effect, or another outcome",
  };
}

/** Why `every` and `requests` have no number in common: `every: 2` with `requests: [1]`. */
function whyNumbersSelectNone({ every, requests }: WhenFields): FaultContradiction | undefined {
  if (every === undefined || requests === undefined) return undefined;
  if (requests.some((number) => number % every === 0)) return undefined;
  return {
    field: ["when", "requests"],
    message: `every: ${every} selects none of these requests`,
    hint: "write a multiple of it, or remove one of the two",
  };
}

/** Why a fault is over when it becomes active. A time in the past is fine: the faults that the control plane returns have times. */
function whyEndsBeforeFirstRequest({ until }: WhenFields): FaultContradiction | undefined {
  const duration = parseDuration(until ?? "");
  if (until === undefined || duration === undefined || duration > 0) return undefined;
  return {
    field: ["when", "until"],
    message: `the fault ends before the first request: until is ${until}`,
    hint: "write a longer duration, or remove it",
  };
}
