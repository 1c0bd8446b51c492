import { faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import { type KeyRecord, type KeyStateName, keyStateTable } from "../../rules/key-state.js";
import { isSuccess, type OutcomeId, successBeforeReplacement } from "../../rules/outcomes.js";
import { parseTime } from "../../rules/time.js";
import { type FieldPath, pathText } from "../../schema/field-path.js";
import { quote } from "../../schema/words.js";
import { compareTimes, readTimeOrDuration, type StartTime, timeFrom } from "../format/times.js";
import { keyStateAtStart, positionsInRotations } from "../key-ends.js";
import { isLegacy, readLimits } from "../keys.js";
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

type FaultFields = NonNullable<Scenario["faults"]>[number];

/** What faults are compared with: a scenario as it starts, one of its steps, or a running sandbox. */
interface FaultContext {
  readonly refs: KnownRefs;
  /** `undefined` if no key has the ref yet: any key may get it. */
  readonly keyOf: (ref: string) => KeyForFaults | undefined;
  /** The organizations that have a legacy key. No legacy key is created at run time. */
  readonly legacyOwners: ReadonlySet<string>;
  readonly successes: EndpointSuccesses;
  /** When the faults become active, from where their durations count. */
  readonly now: StartTime;
}

/** What no action changes of a key: a fault that contradicts it can never match. */
type KeyForFaults = Pick<KeyRecord, "organization" | "environment" | "legacy" | "limits" | "replaces"> & {
  /** The state of a key that has ended before its sandbox gets any request; `undefined` for any other key. */
  readonly endedFromStart?: KeyStateName | undefined;
};

/** The faults of a scenario and of its steps can match requests, and their effects fit together. */
export const noUselessFaults: ScenarioRule = (input) => {
  const { scenario, isSnapshot, refsInSteps, clockStart, problems } = input;
  // The faults of a snapshot were checked before its sandbox ran. Since then, each key may have changed.
  if (isSnapshot) return;

  const atStart = contextAtStart(input);
  checkList(scenario.faults, ["faults"], atStart, problems);

  const { timeline = [], story = [] } = scenario;
  for (const [index, { at, faults }] of timeline.entries()) {
    // The end of a duration from an unknown start is unknown, too.
    const now = clockStart === "unknown" ? (parseTime(at) ?? "unknown") : timeFrom(clockStart, at);
    checkList(faults, ["timeline", index, "faults"], { ...atStart, refs: refsInSteps, now }, problems);
  }
  for (const [index, { faults }] of story.entries()) {
    // Only a run shows when a story gets to its step.
    const context: FaultContext = { ...atStart, refs: refsInSteps, now: "unknown" };
    checkList(faults, ["story", index, "faults"], context, problems);
  }
};

/** What the faults of a scenario are compared with as it starts. Its refs and its rotations are valid. */
function contextAtStart({ keys, keyOf, refs, successes, clockStart }: RuleInput): FaultContext {
  const legacyOwners = new Set<string>();
  for (const key of keys) {
    if (isLegacy(key.fields)) legacyOwners.add(key.organization);
  }

  const positions = positionsInRotations(keys);
  const keyForFaults = (ref: string): KeyForFaults | undefined => {
    const key = keyOf(ref);
    if (key === undefined) return undefined;

    const { organization, fields } = key;
    // A key of the population is in no rotation.
    const position = positions.get(ref);
    const { limits } = position?.rotation.writtenSettings ?? fields;
    // The state when the scenario starts, whenever that is.
    const state = keyStateAtStart(fields, "unknown");
    const hasEnded = state !== "unknown" && keyStateTable[state].isOver;
    return {
      organization,
      environment: fields.environment,
      legacy: isLegacy(fields),
      limits: readLimits(limits),
      ...(position?.replaces !== undefined && { replaces: position.replaces }),
      endedFromStart: hasEnded ? state : undefined,
    };
  };
  return { refs, keyOf: keyForFaults, legacyOwners, successes, now: clockStart };
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
  faults: readonly FaultFields[],
  field: FieldPath,
  context: FaultContext,
  problems: ProblemList,
): void {
  const { refs, successes, now } = context;
  for (const [index, fault] of faults.entries()) {
    const { key, organization, outcome } = fault.when ?? {};
    const when = [...field, index, "when"];
    checkRef("key", key, [...when, "key"], refs, problems);
    checkRef("organization", organization, [...when, "organization"], refs, problems);
    checkOutcome(outcome, [...when, "outcome"], successes, problems);

    const contradictions = [
      whyEndsBeforeStart(fault, now),
      whyBoundsSwapped(fault),
      whyEffectsDoNotCombine(fault),
      whyNoKeySends(fault, context),
      whyNoDelay(fault),
      whyNoBodyBreaks(fault, successes),
      whyNoneIsChosen(fault),
      whyEndsBeforeFirstRequest(fault),
    ];
    for (const contradiction of contradictions) {
      if (contradiction === undefined) continue;
      problems.addAt([...field, index], contradiction);
    }
  }
}

// Why a fault is useless: its fields contradict each other.

/** What makes a fault useless. `field` is in the fault. */
function contradiction(field: FieldPath, message: string, hint: string): FieldProblem {
  return { code: "fault_contradiction", field, message, hint };
}

/** Why `until` is not after `after`. Durations count from `now`, when the fault becomes active. */
export function whyEndsBeforeStart(fault: FaultFields, now: StartTime): FieldProblem | undefined {
  const { after, until } = fault.when ?? {};
  if (after === undefined || until === undefined) return undefined;
  const order = compareTimes(now, readTimeOrDuration(after), readTimeOrDuration(until));
  if (order === "before" || order === "unknown") return undefined;
  const message = `the fault must end after it starts (${after}), not ${until}`;
  return contradiction(["when", "until"], message, "write a later time, or remove one of the two");
}

/** Why a delay has no value: its lower bound is above its upper bound. */
function whyBoundsSwapped(fault: FaultFields): FieldProblem | undefined {
  const latency = fault.then?.latency;
  if (typeof latency !== "object") return undefined;
  // Each has two bounds, the lower one first: `min` and `max`, or `median` and `p99`.
  const isSpread = "median" in latency;
  const [lower, low] = isSpread ? ["median", latency.median] : ["min", latency.min];
  const [upper, high] = isSpread ? ["p99", latency.p99] : ["max", latency.max];
  if (readTimeOrDuration(low).milliseconds <= readTimeOrDuration(high).milliseconds) return undefined;
  const message = `${upper} is ${high}, less than ${lower}, which is ${low}`;
  return contradiction(["then", "latency", upper], message, "swap the two");
}

/** Why no response can have all effects of a fault. */
function whyEffectsDoNotCombine(fault: FaultFields): FieldProblem | undefined {
  const { then = {} } = fault;
  for (const part of ["body", "retry_after"] as const) {
    if (then[part] === undefined || then.status !== undefined) continue;
    const message = `${part} belongs to a response with a status, and the fault has none`;
    const hint = "add the status, such as status: 503, or remove the field";
    return contradiction(["then", part], message, hint);
  }

  const kinds = faultKindsOf(then);
  // Each pair is asked about once: if one kind combines with another, the other combines with it.
  for (const [index, second] of kinds.entries()) {
    for (const first of kinds.slice(0, index)) {
      const combinesWith: readonly string[] = faultKindTable[first].combinesWith;
      if (combinesWith.includes(second)) continue;
      const message = `a response cannot have both ${first} and ${second}`;
      return contradiction(
        ["then", second],
        message,
        "remove one of the two, or write a second fault for other requests",
      );
    }
  }
  return undefined;
}

/** Why a delay delays nothing. If the median is 0, so is each delay. */
function whyNoDelay({ then = {} }: FaultFields): FieldProblem | undefined {
  const { latency } = then;
  if (latency === undefined) return undefined;
  let longest = latency;
  if (typeof longest === "object") longest = "median" in longest ? longest.median : longest.max;
  if (readTimeOrDuration(longest).milliseconds > 0) return undefined;
  const message = `a latency of ${longest} delays nothing`;
  return contradiction(["then", "latency"], message, "write a longer one, or remove it");
}

/** Why a fault that only breaks bodies has none to break. */
export function whyNoBodyBreaks(
  { when, then }: FaultFields,
  successes: EndpointSuccesses,
): FieldProblem | undefined {
  const outcome = when?.outcome;
  const [first] = faultKindsOf(then);
  if (first === undefined || outcome === undefined || !onlyBreaksBodies(then)) return undefined;

  // Each error has a body, and `/me` has one. Only a success of an endpoint of the scenario may have none.
  const success = successes.get(outcome);
  const hasBody = success === undefined || success.hasBody;
  if (hasBody) return undefined;
  const message = `a response with the outcome ${outcome} has no body`;
  return contradiction(["then", first], message, "write another effect, or another outcome");
}

function onlyBreaksBodies(then: FaultFields["then"]): boolean {
  return faultKindsOf(then).every((kind) => faultKindTable[kind].breaksBody);
}

/** Why neither the numbers of a fault nor its chance choose a request: `every: 2` with `requests: [1]`, `probability: 0`. */
function whyNoneIsChosen({ when = {} }: FaultFields): FieldProblem | undefined {
  const { every = 1, requests, probability } = when;
  if (requests?.every((number) => number % every !== 0)) {
    const message = `every: ${every} selects none of these requests`;
    const hint = "write a multiple of it, or remove one of the two";
    return contradiction(["when", "requests"], message, hint);
  }
  if (probability !== 0) return undefined;
  const message = "a fault with a probability of 0 hits no request";
  return contradiction(["when", "probability"], message, "write a number above 0, or remove the fault");
}

/**
 * Why `until` is no later than the moment at which the fault becomes active, if it is a duration from it: `until: 0s`. A time in
 * the past is fine: the faults that the control plane returns have times.
 */
function whyEndsBeforeFirstRequest({ when = {} }: FaultFields): FieldProblem | undefined {
  const { until } = when;
  if (until === undefined) return undefined;
  const { kind, milliseconds } = readTimeOrDuration(until);
  if (kind === "time" || milliseconds > 0) return undefined;
  const message = `the fault ends before the first request: until is ${until}`;
  return contradiction(["when", "until"], message, "write a longer duration, or remove it");
}

// Why a fault is useless: each request that it would hit has an earlier fault of the list.

/**
 * Checks the faults of a scenario, and whether each gets its turn. Those of a running sandbox may have none: a fault is often put in
 * front of others for a while.
 */
function checkList(
  faults: readonly FaultFields[] = [],
  field: FieldPath,
  context: FaultContext,
  problems: ProblemList,
): void {
  const problemsBefore = problems.found.length;
  checkFaults(faults, field, context, problems);
  if (problems.found.length > problemsBefore) return;

  for (const [index, fault] of faults.entries()) {
    const first = faults
      .slice(0, index)
      .findIndex((earlier) => isFirstOnAllOf(fault, earlier, context.keyOf));
    if (first === -1) continue;
    const message = `the fault never gets its turn: ${pathText([...field, first])} hits its requests first`;
    const hint = "remove one of the two, or let the first hit fewer requests, such as with every: 2";
    problems.add("fault_contradiction", [...field, index], message, hint);
  }
}

// | earlier fault        | fault                       | no turn | why                                                |
// |----------------------|-----------------------------|---------|----------------------------------------------------|
// | hang                 | key: main, hang             | yes     | the earlier one counts and hits all                |
// | key: main, hang      | hang                        | no      | it leaves the requests of other keys               |
// | truncate             | hang                        | no      | it leaves the responses without a body             |
// | probability: 0.5     | any                         | no      | it may leave any request                           |
// | every: 2, hang       | every: 4, hang              | yes     | both count the same requests                       |
// | every: 2, hang       | key: main, every: 2, hang   | no      | the earlier one also counts requests of other keys |
// | every: 2, hang       | every: 2, truncate          | no      | the earlier one also counts responses without body |

/** Whether an earlier fault hits each request that a fault would hit. */
function isFirstOnAllOf(fault: FaultFields, earlier: FaultFields, keyOf: FaultContext["keyOf"]): boolean {
  if (!countsAllOf(fault, earlier, keyOf)) return false;
  const { every: earlierEvery = 1, requests: earlierRequests, probability = 1 } = earlier.when ?? {};
  if (probability < 1) return false;
  if (earlierEvery === 1 && earlierRequests === undefined) return true;

  // The numbers of two faults are compared only if both count the same requests.
  if (!countsAllOf(earlier, fault, keyOf)) return false;
  const { every = 1, requests } = fault.when ?? {};
  if (requests === undefined) return earlierRequests === undefined && every % earlierEvery === 0;
  return requests.every((number) => {
    if (number % every !== 0) return true;
    return number % earlierEvery === 0 && (earlierRequests?.includes(number) ?? true);
  });
}

/** Whether an earlier fault counts each request that a fault counts, and maybe others. */
function countsAllOf(fault: FaultFields, earlier: FaultFields, keyOf: FaultContext["keyOf"]): boolean {
  // A fault that only breaks bodies does not count a response without one.
  if (onlyBreaksBodies(earlier.then) && !onlyBreaksBodies(fault.then)) return false;

  const { when = {} } = fault;
  const { when: earlierWhen = {} } = earlier;
  for (const name of ["key", "organization", "outcome", "after", "until"] as const) {
    const condition = earlierWhen[name];
    if (condition === undefined || condition === when[name]) continue;
    const isOrganizationOfKey =
      name === "organization" && when.key !== undefined && keyOf(when.key)?.organization === condition;
    if (!isOrganizationOfKey) return false;
  }
  return true;
}

// Why a fault is useless: no key can send a request that it matches, whatever changes at run time.

/** Why no key can send a request that matches a fault. */
function whyNoKeySends(fault: FaultFields, context: FaultContext): FieldProblem | undefined {
  const { when = {} } = fault;
  const { key: ref, organization, outcome } = when;

  // A request without a key of the sandbox is of no key and of no organization.
  const isWithoutKey = outcome === "401.missing" || outcome === "401.malformed" || outcome === "401.unknown";
  if (isWithoutKey && (ref !== undefined || organization !== undefined)) {
    const condition = ref === undefined ? "organization" : "key";
    const message = `a request with the outcome ${outcome} has no key of the sandbox`;
    return contradiction(["when", "outcome"], message, `remove ${condition}, or write another outcome`);
  }
  // Without a ref, any key may send the request. Only legacy keys may be missing: no key becomes one.
  if (ref === undefined) return whyNoLegacyKey(fault, context);

  const key = context.keyOf(ref);
  if (key === undefined) return undefined;
  if (organization !== undefined && key.organization !== organization) {
    const message = `the key ${quote(ref)} belongs to ${quote(key.organization)}`;
    return contradiction(["when", "organization"], message, "remove one of the two");
  }
  return outcome === undefined ? undefined : whyKeyNeverHas(outcome, ref, key);
}

/** Why no key of any ref has the outcome of legacy keys. */
function whyNoLegacyKey({ when }: FaultFields, { legacyOwners }: FaultContext): FieldProblem | undefined {
  const { organization, outcome } = when ?? {};
  if (outcome !== "200.legacy") return undefined;
  const hasLegacyKey = organization === undefined ? legacyOwners.size > 0 : legacyOwners.has(organization);
  if (hasLegacyKey) return undefined;

  const owner = organization === undefined ? "the scenario" : quote(organization);
  const hint = "give a key legacy: true, or write another outcome";
  return contradiction(["when", "outcome"], `${owner} has no legacy key`, hint);
}

/**
 * Why no request with a key has an outcome, when the sandbox starts or after any change; `undefined` if one can. The key may have
 * ended from the start, be of another kind than the outcome, or have a limit of 0.
 */
function whyKeyNeverHas(outcome: OutcomeId, ref: string, key: KeyForFaults): FieldProblem | undefined {
  // A 404 and a 405 are decided before the key.
  if (outcome.startsWith("404.") || outcome.startsWith("405.")) return undefined;

  const never = (why: string, instead = "another outcome") => {
    const message = `the key ${quote(ref)} never has the outcome ${outcome}: ${why}`;
    return contradiction(["when", "outcome"], message, `write ${instead}, or another key`);
  };
  const { endedFromStart, limits } = key;
  if (endedFromStart !== undefined) {
    const { rejection } = keyStateTable[endedFromStart];
    if (outcome === rejection) return undefined;
    return never(`it is ${endedFromStart} from the start`, `outcome: ${rejection}`);
  }

  if (!fitsKindOfKey(outcome, key)) {
    const kind = `a ${key.legacy ? "legacy " : ""}${key.environment} key`;
    if (key.replaces === undefined) return never(`it is ${kind}`);
    return never(`it is ${kind} that replaces ${quote(key.replaces)}`);
  }

  // A limit of 0 is never raised: each request that has passed the other checks gets a 429.
  const hasLimitOfZero = limits.perMinute === 0 || limits.perDay === 0;
  if (hasLimitOfZero && isSuccess(outcome)) return never("one of its limits is 0");
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
