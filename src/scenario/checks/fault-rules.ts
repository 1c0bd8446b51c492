import { type FaultKind, faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import type { KeyRecord } from "../../rules/key-record.js";
import { type KeyStateName, keyStateTable } from "../../rules/key-state.js";
import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import { successBeforeReplacement } from "../../rules/success-of-key.js";
import { parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import { quote } from "../../schema/words.js";
import { compareTimes, readTimeOrDuration, type StartTime, timeFrom } from "../format/times.js";
import { keyStateAtStart, positionsInRotations } from "../key-ends.js";
import { isLegacy, type KeyFields, readLimits } from "../keys.js";
import { type FieldProblem, ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import {
  checkOutcome,
  checkRef,
  type EndpointSuccesses,
  type KnownRefs,
  type RuleInput,
  type ScenarioRule,
} from "./rule-input.js";

/** What faults are compared with: a scenario as it starts, one of its steps, or a running sandbox. */
interface FaultContext {
  readonly refs: KnownRefs;
  readonly keys: KeysForFaults;
  readonly successes: EndpointSuccesses;
  /** When the faults become active, from where their durations count. */
  readonly now: StartTime;
}

/** The faults of a scenario and of its steps can match requests, and their effects fit together. */
export const noUselessFaults: ScenarioRule = (input) => {
  const { scenario, isSnapshot, refs, refsInSteps, successes, clockStart, problems } = input;
  // The faults of a snapshot were checked before its sandbox ran. Since then, each key may have changed.
  if (isSnapshot) return;

  const keys = keysForFaults(input);
  checkFaults(scenario.faults, ["faults"], { refs, keys, successes, now: clockStart }, problems);

  const { timeline = [], story = [] } = scenario;
  for (const [index, { at, faults }] of timeline.entries()) {
    const context = { refs: refsInSteps, keys, successes, now: timeOfStep(at, clockStart) };
    checkFaults(faults, ["timeline", index, "faults"], context, problems);
  }
  for (const [index, { faults }] of story.entries()) {
    // Only a run shows when a story gets to its step.
    const context = { refs: refsInSteps, keys, successes, now: "unknown" } as const;
    checkFaults(faults, ["story", index, "faults"], context, problems);
  }
};

/** When a step of the timeline runs. */
function timeOfStep(at: string, clockStart: StartTime): StartTime {
  if (clockStart !== "unknown") return timeFrom(clockStart, at);
  // The end of a duration from an unknown start is unknown, too.
  return parseTime(at) ?? "unknown";
}

/** The problems of faults that a running sandbox is to get. */
export function faultProblems(
  faults: readonly FaultFields[],
  context: FaultContext,
): readonly FieldProblem[] {
  const problems = new ProblemList();
  checkFaults(faults, ["faults"], context, problems);
  return problems.found;
}

function checkFaults(
  faults: readonly FaultFields[] = [],
  field: FieldPath,
  context: FaultContext,
  problems: ProblemList,
): void {
  for (const [index, fault] of faults.entries()) checkFault(fault, [...field, index], context, problems);
}

function checkFault(
  fault: FaultFields,
  faultField: FieldPath,
  context: FaultContext,
  problems: ProblemList,
): void {
  const { refs, keys, successes, now } = context;
  const { key, organization, outcome } = fault.when ?? {};
  checkRef("key", key, [...faultField, "when", "key"], refs, problems);
  checkRef("organization", organization, [...faultField, "when", "organization"], refs, problems);
  checkOutcome(outcome, [...faultField, "when", "outcome"], successes, problems);

  const contradictions = [
    whyEndsBeforeStart(fault, now),
    whyBoundsSwapped(fault),
    whyEffectsDoNotCombine(fault),
    whyNoKeySends(fault, keys),
    whyNoBodyBreaks(fault, successes),
    whyNumbersSelectNone(fault),
    whyEndsBeforeFirstRequest(fault),
  ];
  for (const contradiction of contradictions) {
    if (contradiction === undefined) continue;
    const { field, message, hint } = contradiction;
    problems.add("fault_contradiction", [...faultField, ...field], message, hint);
  }
}

// Why a fault is useless: its fields contradict each other. `fault-key-contradictions.ts` compares it with the keys.

type FaultFields = NonNullable<Scenario["faults"]>[number];

/** What makes a fault useless. */
interface FaultContradiction {
  /** The field to point at, in the fault. */
  readonly field: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** Why `until` is not after `after`. Durations count from `now`, when the fault becomes active. */
function whyEndsBeforeStart(fault: FaultFields, now: StartTime): FaultContradiction | undefined {
  const { after, until } = fault.when ?? {};
  if (after === undefined || until === undefined) return undefined;
  const order = compareTimes(now, readTimeOrDuration(after), readTimeOrDuration(until));
  if (order === "before" || order === "unknown") return undefined;
  return {
    field: ["when", "until"],
    message: `the fault must end after it starts (${after}), not ${until}`,
    hint: "write a later time, or remove one of the two",
  };
}

/** Why a delay has no value: its lower bound is above its upper bound. */
function whyBoundsSwapped(fault: FaultFields): FaultContradiction | undefined {
  const latency = fault.then?.latency;
  if (typeof latency !== "object") return undefined;
  if ("median" in latency) {
    return whySwapped({ name: "median", delay: latency.median }, { name: "p99", delay: latency.p99 });
  }
  return whySwapped({ name: "min", delay: latency.min }, { name: "max", delay: latency.max });
}

interface BoundOfDelay {
  readonly name: string;
  readonly delay: string;
}

function whySwapped(lower: BoundOfDelay, upper: BoundOfDelay): FaultContradiction | undefined {
  const low = readTimeOrDuration(lower.delay).milliseconds;
  const high = readTimeOrDuration(upper.delay).milliseconds;
  if (low <= high) return undefined;
  return {
    field: ["then", "latency", upper.name],
    message: `${upper.name} is ${upper.delay}, less than ${lower.name}, which is ${lower.delay}`,
    hint: "swap the two",
  };
}

/** Why no response can have all effects of a fault. */
function whyEffectsDoNotCombine(fault: FaultFields): FaultContradiction | undefined {
  const { then = {} } = fault;
  for (const part of ["body", "retry_after"] as const) {
    if (then[part] === undefined || then.status !== undefined) continue;
    return {
      field: ["then", part],
      message: `${part} belongs to a response with a status, and the fault has none`,
      hint: "add the status, such as status: 503, or remove the field",
    };
  }

  const kinds = faultKindsOf(then);
  // Each pair is asked about once: if one kind combines with another, the other combines with it.
  for (const [index, second] of kinds.entries()) {
    for (const first of kinds.slice(0, index)) {
      if (combines(first, second)) continue;
      return {
        field: ["then", second],
        message: `a response cannot have both ${first} and ${second}`,
        hint: "remove one of the two, or add a second fault",
      };
    }
  }
  return undefined;
}

function combines(one: FaultKind, other: FaultKind): boolean {
  const combinesWith: readonly string[] = faultKindTable[one].combinesWith;
  return combinesWith.includes(other);
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
  if (!onlyBreaksBodies) return undefined;

  // Each error has a body, and `/me` has one. Only a success of an endpoint of the scenario may have none.
  const success = successes.get(outcome);
  const hasBody = success === undefined || success.hasBody;
  if (hasBody) return undefined;
  return {
    field: ["then", first],
    message: `a response with the outcome ${outcome} has no body`,
    hint: "write another effect, or another outcome",
  };
}

/** Why `every` and `requests` have no number in common: `every: 2` with `requests: [1]`. */
function whyNumbersSelectNone({ when = {} }: FaultFields): FaultContradiction | undefined {
  const { every, requests } = when;
  if (every === undefined || requests === undefined) return undefined;
  if (requests.some((number) => number % every === 0)) return undefined;
  return {
    field: ["when", "requests"],
    message: `every: ${every} selects none of these requests`,
    hint: "write a multiple of it, or remove one of the two",
  };
}

/**
 * Why `until` is no later than the moment at which the fault becomes active, if it is a duration from it: `until: 0s`. A time in
 * the past is fine: the faults that the control plane returns have times.
 */
function whyEndsBeforeFirstRequest({ when = {} }: FaultFields): FaultContradiction | undefined {
  const { until } = when;
  if (until === undefined) return undefined;
  const { kind, milliseconds } = readTimeOrDuration(until);
  if (kind === "time" || milliseconds > 0) return undefined;
  return {
    field: ["when", "until"],
    message: `the fault ends before the first request: until is ${until}`,
    hint: "write a longer duration, or remove it",
  };
}

// Why a fault is useless: no key can send a request that it matches, whatever changes at run time.

type WhenFields = NonNullable<FaultFields["when"]>;

/** Why no key can send a request that matches a fault. */
function whyNoKeySends(fault: FaultFields, keys: KeysForFaults): FaultContradiction | undefined {
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

// What faults are compared with: the members of a key that no action changes. A fault that contradicts them can never match.

interface KeyForFaults {
  readonly organization: KeyRecord["organization"];
  readonly environment: KeyRecord["environment"];
  readonly legacy: KeyRecord["legacy"];
  readonly limits: KeyRecord["limits"];
  readonly replaces?: string | undefined;
  /** The state of a key that has ended before its sandbox gets any request; `undefined` for any other key. */
  readonly endedFromStart?: KeyStateName | undefined;
}

interface KeysForFaults {
  /** `undefined` if no key has the ref yet: any key may get it. */
  readonly keyOf: (ref: string) => KeyForFaults | undefined;
  /** The organizations that have a legacy key. No legacy key is created at run time. */
  readonly legacyOwners: ReadonlySet<string>;
}

/** The keys of a scenario as it starts. Its refs and its rotations are valid. */
function keysForFaults({ keys, keyOf }: RuleInput): KeysForFaults {
  const legacyOwners = new Set<string>();
  for (const key of keys) {
    if (isLegacy(key.fields)) legacyOwners.add(key.organization);
  }

  const positions = positionsInRotations(keys);
  return {
    keyOf(ref) {
      const key = keyOf(ref);
      if (key === undefined) return undefined;

      const { organization, fields } = key;
      // A key of the population is in no rotation.
      const position = positions.get(ref);
      const { limits } = position?.rotation.writtenSettings ?? fields;
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readLimits(limits),
        replaces: position?.replaces,
        endedFromStart: endedStateAtAnyStart(fields),
      };
    },
    legacyOwners,
  };
}

/** The state of a key that has ended when its scenario starts, whenever that is; `undefined` for any other key. */
function endedStateAtAnyStart(fields: KeyFields): KeyStateName | undefined {
  const state = keyStateAtStart(fields, "unknown");
  if (state === "unknown" || !keyStateTable[state].isOver) return undefined;
  return state;
}
