import { type KeyRecord, type KeyStateName, keyStateTable } from "../../rules/api-key.js";
import { lastingSuccess } from "../../rules/authorize.js";
import { cachedByObject } from "../../rules/cached-by.js";
import { type FaultKind, faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import { isSuccess, type OutcomeId, outcomeRow, outcomes } from "../../rules/outcomes.js";
import { parseDuration, parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/shape.js";
import { nearest, quote } from "../../schema/words.js";
import { isLegacy, populatedKeyAt, type ScenarioKey, writtenKeys } from "../described-keys.js";
import { keyStateAtStart, readSettings } from "../format/key-settings.js";
import { timeFrom } from "../format/when.js";
import { addingTo, type FieldProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";
import { type Facts, type ScenarioRule, timeSince } from "./facts.js";
import { checkRef } from "./ref-rules.js";

type FaultFields = NonNullable<Scenario["faults"]>[number];
type WhenFields = NonNullable<FaultFields["when"]>;
type Endpoints = NonNullable<Scenario["endpoints"]>;

/** What gives a sandbox its outcomes, besides the specification. */
interface WithEndpoints {
  readonly endpoints?: Endpoints | undefined;
}

/** What requests can be: a fault that matches none is useless. */
interface PossibleRequests {
  readonly scenario: WithEndpoints;
  readonly keys: LastingKeys;
}

/** What faults are compared with: a scenario as it starts, or a running sandbox. */
interface FaultContext extends PossibleRequests {
  readonly refs: Facts["refs"];
  /** When the durations of a fault start (epoch milliseconds); `undefined` if that is not known. */
  readonly now?: number | undefined;
}

/** What outcomes are compared with, and where the problems of a scenario go. */
interface OutcomeChecks {
  readonly scenario: WithEndpoints;
  readonly addProblem: Facts["addProblem"];
}

interface FaultChecks extends FaultContext, OutcomeChecks {}

/** The part of a key that stays the same at run time: a fault that contradicts it can never match. */
interface LastingKey {
  readonly organization: KeyRecord["organization"];
  readonly environment: KeyRecord["environment"];
  readonly legacy: KeyRecord["legacy"];
  readonly limits: KeyRecord["limits"];
  readonly replaces?: string;
  /** The state that a scenario gives the key: a key that is over stays so. Missing in a running sandbox, where the key may have worked before. */
  readonly stateAtStart?: KeyStateName | undefined;
}

interface LastingKeys {
  /** `undefined` for a key that is not known: it may have any request. */
  readonly at: (ref: string) => LastingKey | undefined;
  /** The organizations that have a legacy key: none is created at run time. */
  readonly legacyOwners: LegacyOwners;
}

/** A set of organizations, which need not be listed. */
interface LegacyOwners {
  readonly has: (organization: string) => boolean;
  readonly size: number;
}

/** What makes a fault useless. */
interface FaultContradiction {
  /** The field to point at, in the fault. */
  readonly field: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** The faults of a scenario and of its steps can match requests, and their effects fit together. */
export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, start, addProblem } = facts;
  const { timeline = [], story = [] } = scenario;
  const keys = lastingKeysOf(scenario);
  const atStart: FaultChecks = { refs, scenario, now: start, addProblem, keys };
  checkFaults(scenario.faults, [], atStart);

  // `checks/step-rules.ts` checks the keys of steps, because other steps may create them.
  const refsInSteps = { ...refs, key: { ...refs.key, has: () => true } };
  let keysInSteps = keys;
  // In a snapshot, earlier changes may have made steps of the timeline impossible.
  if (scenario.requests_responded !== undefined) keysInSteps = { ...keys, at: () => undefined };
  const inSteps: FaultChecks = { ...atStart, refs: refsInSteps, keys: keysInSteps };

  for (const [index, { at, faults }] of timeline.entries()) {
    const now = start === undefined ? parseTime(at) : timeFrom(start, at);
    checkFaults(faults, ["timeline", index], { ...inSteps, now });
  }
  for (const [index, { faults }] of story.entries()) {
    // Only a run shows when a step of a story happens.
    checkFaults(faults, ["story", index], { ...inSteps, now: undefined });
  }
};

/** The keys that a scenario starts with. */
function lastingKeysOf(scenario: Scenario): LastingKeys {
  const keys = new Map<string, ScenarioKey>();
  const replacedRefs = new Map<string, string>();
  const legacyOwners = new Set<string>();
  for (const key of writtenKeys(scenario)) {
    const { ref, organization, fields } = key;
    keys.set(ref, key);
    if (fields.replaced_by !== undefined) replacedRefs.set(fields.replaced_by, ref);
    if (isLegacy(fields)) legacyOwners.add(organization);
  }

  const isSnapshot = scenario.requests_responded !== undefined;
  return {
    at(ref) {
      const key = keys.get(ref) ?? populatedKeyAt(ref, scenario);
      if (key === undefined) return undefined;

      const { organization, fields } = key;
      const replaces = replacedRefs.get(ref);
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readSettings(fields, () => "").limits,
        // Without the start of the clock: a date would decide otherwise on another day.
        stateAtStart: isSnapshot ? undefined : keyStateAtStart(fields, undefined),
        ...(replaces !== undefined && { replaces }),
      };
    },
    legacyOwners,
  };
}

/** The problems of faults that a running sandbox is to get. */
export function faultProblems(faults: readonly FaultFields[], context: FaultContext): FieldProblem[] {
  const problems: FieldProblem[] = [];
  checkFaults(faults, [], { ...context, addProblem: addingTo(problems) });
  return problems;
}

function checkFaults(faults: readonly FaultFields[] = [], path: FieldPath, checks: FaultChecks): void {
  for (const [index, fault] of faults.entries()) {
    const { when } = fault;
    const faultField = [...path, "faults", index];
    checkRef("key", when?.key, [...faultField, "when", "key"], checks);
    checkRef("organization", when?.organization, [...faultField, "when", "organization"], checks);
    checkOutcome(when?.outcome, [...faultField, "when", "outcome"], checks);

    const contradictions = [
      whyEndsBeforeStart(fault, checks.now),
      whyDelaySwapped(fault),
      whyEffectsExclude(fault),
      whyNeverMatches(fault, checks),
    ];
    for (const contradiction of contradictions) {
      if (contradiction === undefined) continue;
      const { field, message, hint } = contradiction;
      checks.addProblem({ code: "fault_contradiction", field: [...faultField, ...field], message, hint });
    }
  }
}

const outcomesOfSpecification: ReadonlySet<string> = new Set(outcomes.map(({ id }) => id));

const noEndpoints: Endpoints = {};

/** Whether the success of each endpoint has a body, by its outcome: made once for many faults. */
const hasBodyByOutcome = /* @__PURE__ */ cachedByObject(
  (endpoints: Endpoints): ReadonlyMap<string, boolean> => {
    const hasBody = new Map<string, boolean>();
    for (const [name, { status = 200, body }] of writtenEndpoints({ endpoints })) {
      hasBody.set(`${status}.${name}`, body !== undefined);
    }
    return hasBody;
  },
);

/** The sandbox has the outcomes of the specification, and the success of each endpoint of the scenario. */
export function checkOutcome(outcome: OutcomeId | undefined, field: FieldPath, context: OutcomeChecks): void {
  if (outcome === undefined) return;
  const successes = hasBodyByOutcome(context.scenario.endpoints ?? noEndpoints);
  if (outcomesOfSpecification.has(outcome) || successes.has(outcome)) return;
  const message = `the sandbox has no outcome ${quote(outcome)}`;
  context.addProblem({ code: "bad_choice", field, message }, () => {
    const near = nearest(outcome, [...outcomesOfSpecification, ...successes.keys()]);
    if (near === undefined) return "the report of a sandbox lists its endpoints and outcomes";
    return `did you mean ${near}?`;
  });
}

function whyEndsBeforeStart(fault: FaultFields, now: number | undefined): FaultContradiction | undefined {
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

/** Why a delay has no value: its lower bound is above the upper one. */
function whyDelaySwapped(fault: FaultFields): FaultContradiction | undefined {
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
function whyEffectsExclude(fault: FaultFields): FaultContradiction | undefined {
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
  return undefined;
}

/** Whether a response can have both effects: the parts of a status fit what the status fits. */
function fitTogether(one: Effect, other: Effect): boolean {
  const first = isPartOfStatus(one) ? "status" : one;
  const second = isPartOfStatus(other) ? "status" : other;
  if (first === second) return true;
  const fits: readonly string[] = faultKindTable[first].fits;
  return fits.includes(second);
}

function isPartOfStatus(effect: Effect): effect is PartOfStatus {
  return partsOfStatus.some((part) => part === effect);
}

/** Why no request can match a fault, whatever changes at run time; `undefined` if one can. */
export function whyNeverMatches(
  fault: FaultFields,
  context: PossibleRequests,
): FaultContradiction | undefined {
  const { when = {}, then = {} } = fault;
  return (
    whyNoKeySends(when, context.keys) ??
    whyNoBodyBreaks(when, then, context.scenario) ??
    whyNoneSelected(when)
  );
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
  const key = keys.at(ref);
  if (key === undefined) return undefined;
  if (organization !== undefined && key.organization !== organization) {
    return {
      field: ["when", "organization"],
      message: `the key ${quote(ref)} belongs to ${quote(key.organization)}`,
      hint: "remove one of the two",
    };
  }
  if (outcome === undefined) return undefined;
  const never = whyKeyNeverHas(outcome, key);
  if (never === undefined) return undefined;
  const { why, instead = "another outcome" } = never;
  return {
    field: ["when", "outcome"],
    message: `the key ${quote(ref)} never has the outcome ${outcome}: ${why}`,
    hint: `write ${instead}, or another key`,
  };
}

function isWithoutKey(outcome: OutcomeId | undefined): boolean {
  return outcome === "401.missing" || outcome === "401.malformed" || outcome === "401.unknown";
}

/** Why no key of any ref has the outcome of legacy keys: none is created at run time. */
function whyNoLegacyKey(when: WhenFields, keys: LastingKeys): FaultContradiction | undefined {
  const { organization, outcome } = when;
  if (outcome !== "200.legacy") return undefined;

  const { legacyOwners } = keys;
  const hasOne = organization === undefined ? legacyOwners.size > 0 : legacyOwners.has(organization);
  if (hasOne) return undefined;

  const owner = organization === undefined ? "the scenario" : quote(organization);
  return {
    field: ["when", "outcome"],
    message: `${owner} has no legacy key`,
    hint: "give a key legacy: true, or write another outcome",
  };
}

interface NeverOfKey {
  readonly why: string;
  /** What the requests of the key have instead, if that is known. */
  readonly instead?: string;
}

/** Why no request with a key has an outcome of `/me` or of any endpoint, now or later; `undefined` if one can. */
function whyKeyNeverHas(outcome: OutcomeId, key: LastingKey): NeverOfKey | undefined {
  const { environment, limits, stateAtStart = "active" } = key;
  const { rejection } = keyStateTable[stateAtStart];
  // A 404 and a 405 are decided before the key.
  if (/^40[45]/.test(outcome) || outcome === rejection) return undefined;
  if (rejection !== null) {
    return { why: `it is ${stateAtStart} from the start`, instead: `outcome: ${rejection}` };
  }

  const isOfMe = isSuccess(outcome) && outcomeRow(outcome).promised;
  // Any key may be replaced later.
  const isOfKey = outcome === "200.retiring" || outcome === lastingSuccess(key);
  const isOfLive = outcome === "403.live_not_approved" || outcome === "403.live_suspended";
  if ((isOfMe && !isOfKey) || (isOfLive && environment !== "live")) {
    return { why: `it is ${keyInWords(key)}` };
  }

  const isBlocked = limits.perMinute === 0 || limits.perDay === 0;
  if (isBlocked && isSuccess(outcome)) return { why: "one of its limits is 0" };
  return undefined;
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
  scenario: WithEndpoints,
): FaultContradiction | undefined {
  const { outcome } = when;
  const kinds = faultKindsOf(then);
  const [first] = kinds;
  if (first === undefined || outcome === undefined) return undefined;
  if (!kinds.every((kind) => kind === "truncate" || kind === "malformed")) return undefined;

  // Each error and `/me` have a body; only an endpoint of the scenario may have none.
  const hasBody = hasBodyByOutcome(scenario.endpoints ?? noEndpoints).get(outcome) ?? true;
  if (hasBody) return undefined;
  return {
    field: ["then", first],
    message: `a response with the outcome ${outcome} has no body`,
    hint: "write another effect, or another outcome",
  };
}

/** Why the numbers and times of a fault select no request. */
function whyNoneSelected(when: WhenFields): FaultContradiction | undefined {
  const { every, requests, until } = when;
  if (every !== undefined && requests?.every((number) => number % every !== 0)) {
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
