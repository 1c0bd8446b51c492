import { type FaultKind, faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import { keyStateTable } from "../../rules/key-state.js";
import { isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { successOfKey } from "../../rules/success-of-key.js";
import { parseDuration } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import { quote } from "../../schema/words.js";
import type { Scenario } from "../scenario.generated.js";
import { timeSince } from "./facts.js";
import type { LastingKey, LastingKeys } from "./lasting-keys.js";
import { hasBody } from "./outcome-rules.js";

// Why a fault is useless: its fields contradict each other, or no request can match it, whatever changes at run time.

export type FaultFields = NonNullable<Scenario["faults"]>[number];
type WhenFields = NonNullable<FaultFields["when"]>;

/** What makes a fault useless. */
interface FaultContradiction {
  /** The field to point at, in the fault. */
  readonly field: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** Why a fault ends before it starts. Its durations count from `now`, which is `undefined` if only a run shows it. */
export function whyEndsBeforeStart(
  fault: FaultFields,
  now: number | undefined,
): FaultContradiction | undefined {
  const { after, until } = fault.when ?? {};
  const start = timeSince(now, after);
  const end = timeSince(now, until);
  if (start === undefined || end === undefined || end > start) return undefined;
  return {
    field: ["when", "until"],
    message: `the fault must end after it starts (${after}), not ${until}`,
    hint: "write a later time, or remove one of the two",
  };
}

/** Why a delay has no value: its lower bound is above its upper bound. */
export function whyDelaySwapped(fault: FaultFields): FaultContradiction | undefined {
  const { latency } = fault.then ?? {};
  if (typeof latency !== "object") return undefined;

  const bounds: Readonly<Record<string, string>> = latency;
  const [lower, upper] = "median" in bounds ? ["median", "p99"] : ["min", "max"];
  const low = bounds[lower] ?? "";
  const high = bounds[upper] ?? "";
  if ((parseDuration(low) ?? 0) <= (parseDuration(high) ?? 0)) return undefined;
  return {
    field: ["then", "latency", upper],
    message: `${upper} is ${high}, less than ${lower}, which is ${low}`,
    hint: "swap the two",
  };
}

/** The fields of `then` that are parts of a response with a `status`. */
const partsOfStatus = ["body", "retry_after"] as const;
type PartOfStatus = (typeof partsOfStatus)[number];
type Effect = FaultKind | PartOfStatus;

/** Why no response can have all effects of a fault. */
export function whyEffectsExclude(fault: FaultFields): FaultContradiction | undefined {
  const { then = {} } = fault;
  const parts = partsOfStatus.filter((name) => then[name] !== undefined);
  const effects: readonly Effect[] = [...faultKindsOf(then), ...parts];

  for (const [index, second] of effects.entries()) {
    const first = effects.slice(0, index).find((effect) => !fitTogether(effect, second));
    if (first === undefined) continue;
    return {
      field: ["then", second],
      message: `a response cannot have both ${first} and ${second}`,
      hint: "remove one of the two, or add a second fault",
    };
  }

  const [part] = parts;
  if (part === undefined || then.status !== undefined) return undefined;
  return {
    field: ["then", part],
    message: `${part} belongs to a response with a status, and the fault has none`,
    hint: "add the status, such as status: 503, or remove the field",
  };
}

/** Whether a response can have both effects: a part of a status fits what the status fits. */
function fitTogether(one: Effect, other: Effect): boolean {
  const first = kindOf(one);
  const second = kindOf(other);
  if (first === second) return true;
  const fits: readonly string[] = faultKindTable[first].fits;
  return fits.includes(second);
}

function kindOf(effect: Effect): FaultKind {
  return effect === "body" || effect === "retry_after" ? "status" : effect;
}

/** Why no request can match a fault, whatever changes at run time; `undefined` if one can. */
export function whyNeverMatches(
  fault: FaultFields,
  keys: LastingKeys,
  endpoints: Scenario["endpoints"],
): FaultContradiction | undefined {
  const { when = {}, then = {} } = fault;
  // The first reason is told.
  return whyNoKeySends(when, keys) ?? whyNoBodyBreaks(when, then, endpoints) ?? whyNoneSelected(when);
}

/** Why no key can send a request that matches. */
function whyNoKeySends(when: WhenFields, keys: LastingKeys): FaultContradiction | undefined {
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
  if (key === "unknown") return undefined;
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
function whyNoLegacyKey(when: WhenFields, { legacyOwners }: LastingKeys): FaultContradiction | undefined {
  const { organization, outcome } = when;
  if (outcome !== "200.legacy" || legacyOwners === "any") return undefined;
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
function whyKeyNeverHas(outcome: OutcomeId, ref: string, key: LastingKey): FaultContradiction | undefined {
  // A 404 and a 405 are decided before the key.
  if (outcome.startsWith("404.") || outcome.startsWith("405.")) return undefined;

  if (key.endedAs !== undefined) {
    const { rejection } = keyStateTable[key.endedAs];
    if (outcome === rejection) return undefined;
    return neverOfKey(outcome, ref, `it is ${key.endedAs} from the start`, `outcome: ${rejection}`);
  }

  if (isSuccessOfOtherKeys(outcome, key) || isForLiveKeysOnly(outcome, key)) {
    return neverOfKey(outcome, ref, `it is ${keyInWords(key)}`);
  }

  // A limit of 0 is never raised: each request that has passed the other checks gets a 429.
  const hasLimitOfZero = key.limits.perMinute === 0 || key.limits.perDay === 0;
  if (hasLimitOfZero && isSuccess(outcome)) return neverOfKey(outcome, ref, "one of its limits is 0");
  return undefined;
}

/** `200.legacy` for a test key: of the successes of `/me`, a key has that of its kind, and `200.retiring` once it is replaced. */
function isSuccessOfOtherKeys(outcome: OutcomeId, key: LastingKey): boolean {
  // The success of an endpoint of the scenario is no promise of the specification: any key can have it.
  const isSuccessOfMe = isSuccess(outcome) && outcomeRow(outcome).promised;
  return isSuccessOfMe && outcome !== successOfKey(key) && outcome !== "200.retiring";
}

function isForLiveKeysOnly(outcome: OutcomeId, key: LastingKey): boolean {
  const isForLiveKeys = outcome === "403.live_not_approved" || outcome === "403.live_suspended";
  return isForLiveKeys && key.environment !== "live";
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

function keyInWords(key: LastingKey): string {
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
