import { type KeyRecord, type KeyStateName, keyStateTable } from "../../rules/api-key.js";
import { lastingSuccess } from "../../rules/authorize.js";
import { cachedBy } from "../../rules/cached-by.js";
import { type FaultKind, faultEffects, faultKindsOf } from "../../rules/fault-effects.js";
import { isSuccess, type OutcomeId, outcomeOf, outcomes } from "../../rules/outcomes.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { nearest, quote } from "../../rules/schema/words.js";
import { parseDuration, parseTime, timeFrom } from "../../rules/time.js";
import { isLegacy, populatedKeyAt, type WrittenKey, writtenKeys } from "../described-keys.js";
import { keyStateAtStart, readSettings } from "../format/key-settings.js";
import { addingTo, type FieldProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";
import { type Facts, type ScenarioRule, timeSince } from "./facts.js";
import { checkRef } from "./ref-rules.js";

type FaultFields = NonNullable<Scenario["faults"]>[number];
type WhenFields = NonNullable<FaultFields["when"]>;

/** What faults are compared with: a scenario, or a running sandbox. */
interface FaultContext {
  readonly refs: Facts["refs"];
  readonly scenario: Pick<Scenario, "endpoints">;
  /** The start of durations (epoch milliseconds). */
  readonly now?: number | undefined;
  readonly keys: LastingKeys;
}

/** The part of a key that stays the same at run time: a fault that contradicts it can never match. */
interface LastingKey
  extends Pick<KeyRecord, "organization" | "environment" | "legacy" | "limits" | "replaces"> {
  /** The state that a scenario gives the key: a key that is over stays so. Missing in a running sandbox, where the key may have worked before. */
  readonly stateAtStart?: KeyStateName | undefined;
}

interface LastingKeys {
  readonly at: (ref: string) => LastingKey | undefined;
  /** The organizations that have a legacy key: none is created at run time. */
  readonly legacyOwners: Pick<ReadonlySet<string>, "has" | "size">;
}

export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, start, addProblem } = facts;
  const { timeline = [], story = [] } = scenario;
  const keys = lastingKeysIn(scenario);
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
function lastingKeysIn(scenario: Scenario): LastingKeys {
  const keys = new Map<string, WrittenKey>();
  const oldRefs = new Map<string, string>();
  const legacyOwners = new Set<string>();
  for (const key of writtenKeys(scenario)) {
    const { ref, organization, fields } = key;
    keys.set(ref, key);
    if (fields.replaced_by !== undefined) oldRefs.set(fields.replaced_by, ref);
    if (isLegacy(fields)) legacyOwners.add(organization);
  }

  const isSnapshot = scenario.requests_responded !== undefined;
  return {
    at(ref) {
      const key = keys.get(ref) ?? populatedKeyAt(ref, scenario);
      if (key === undefined) return undefined;

      const { organization, fields } = key;
      const replaces = oldRefs.get(ref);
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

export function faultProblems(faults: readonly FaultFields[], sandbox: FaultContext): FieldProblem[] {
  const problems: FieldProblem[] = [];
  checkFaults(faults, [], { ...sandbox, addProblem: addingTo(problems) });
  return problems;
}

type FaultChecks = FaultContext & Pick<Facts, "addProblem">;

function checkFaults(faults: readonly FaultFields[] = [], path: FieldPath, checking: FaultChecks): void {
  for (const [index, fault] of faults.entries()) {
    const at = [...path, "faults", index];
    checkRef("key", fault.when?.key, [...at, "when", "key"], checking);
    checkRef("organization", fault.when?.organization, [...at, "when", "organization"], checking);
    checkOutcome(fault.when?.outcome, [...at, "when", "outcome"], checking);
    const contradictions = [
      whyTooEarly(fault, checking.now),
      whySwapped(fault),
      whyNotTogether(fault),
      whyNever(fault, checking),
    ];
    for (const why of contradictions) {
      if (why === undefined) continue;
      const { message, hint } = why;
      checking.addProblem({ code: "fault_contradiction", field: [...at, ...why.at], message, hint });
    }
  }
}

interface Contradiction {
  /** The field of the fault to point at. */
  readonly at: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** Why no request can match a fault, whatever changes at run time; `undefined` if one can. */
export function whyNever(
  fault: FaultFields,
  context: Pick<FaultContext, "scenario" | "keys">,
): Contradiction | undefined {
  const { when = {}, then = {} } = fault;
  return whyNoSender(when, context.keys) ?? whyNoBody(when, then, context.scenario) ?? whyNoMatch(when);
}

/** Why no key can send a request that matches. */
function whyNoSender(when: WhenFields, keys: LastingKeys): Contradiction | undefined {
  const { organization, outcome } = when;
  const ref = when.key;
  const at = ["when", "outcome"];

  if (isWithoutKey(outcome) && (ref !== undefined || organization !== undefined)) {
    const condition = ref === undefined ? "organization" : "key";
    const message = `a request with the outcome ${outcome} has no key of the sandbox`;
    return { at, message, hint: `remove ${condition}, or write another outcome` };
  }
  if (ref === undefined) return whyNoLegacyKey(when, keys);
  const key = keys.at(ref);
  if (key === undefined) return undefined;

  if (organization !== undefined && key.organization !== organization) {
    const message = `the key ${quote(ref)} belongs to ${quote(key.organization)}`;
    return { at: ["when", "organization"], message, hint: "remove one of the two" };
  }
  if (outcome === undefined) return undefined;
  const never = whyKeyNeverHas(outcome, key);
  if (never === undefined) return undefined;

  const { why, instead = "another outcome" } = never;
  const message = `the key ${quote(ref)} never has the outcome ${outcome}: ${why}`;
  return { at, message, hint: `write ${instead}, or another key` };
}

function isWithoutKey(outcome: OutcomeId | undefined): boolean {
  return outcome === "401.missing" || outcome === "401.malformed" || outcome === "401.unknown";
}

// No legacy key is created at run time.
function whyNoLegacyKey(when: WhenFields, keys: LastingKeys): Contradiction | undefined {
  const { organization, outcome } = when;
  if (outcome !== "200.legacy") return undefined;

  const { legacyOwners } = keys;
  const hasOne = organization === undefined ? legacyOwners.size > 0 : legacyOwners.has(organization);
  if (hasOne) return undefined;

  const owner = organization === undefined ? "the scenario" : quote(organization);
  const hint = "give a key legacy: true, or write another outcome";
  return { at: ["when", "outcome"], message: `${owner} has no legacy key`, hint };
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

  const isOfMe = isSuccess(outcome) && outcomeOf(outcome).promised;
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
function whyNoBody(
  when: WhenFields,
  then: FaultFields["then"],
  scenario: FaultContext["scenario"],
): Contradiction | undefined {
  const { outcome } = when;
  const kinds = faultKindsOf(then);
  const [first] = kinds;
  if (first === undefined || outcome === undefined) return undefined;
  if (!kinds.every((kind) => kind === "truncate" || kind === "malformed")) return undefined;

  const hasBody = successesIn(scenario.endpoints ?? noEndpoints).get(outcome);
  // It is `undefined` for an outcome that has an error body, or the one of `/me`.
  if (hasBody !== false) return undefined;
  const message = `a response with the outcome ${outcome} has no body`;
  return { at: ["then", first], message, hint: "write another effect, or another outcome" };
}

/** Why the numbers and times of a fault select no request. */
function whyNoMatch(when: WhenFields): Contradiction | undefined {
  const { every, requests, until } = when;
  if (every !== undefined && requests?.every((number) => number % every !== 0)) {
    const message = `every: ${every} selects none of these requests`;
    return { at: ["when", "requests"], message, hint: "write a multiple of it, or remove one of the two" };
  }

  if (until === undefined) return undefined;
  const duration = parseDuration(until);
  // A time may be over: the faults that the control plane returns have times.
  if (duration === undefined || duration > 0) return undefined;
  const message = `the fault ends before the first request: until is ${until}`;
  return { at: ["when", "until"], message, hint: "write a longer duration, or remove it" };
}

const ownOutcomes: ReadonlySet<string> = new Set(outcomes.map(({ id }) => id));

type Endpoints = NonNullable<Scenario["endpoints"]>;
const noEndpoints: Endpoints = {};

/** Whether the success of each endpoint has a body, by its outcome: made once for many faults. */
const successesIn = /* @__PURE__ */ cachedBy((endpoints: Endpoints): ReadonlyMap<string, boolean> => {
  const hasBody = new Map<string, boolean>();
  for (const [name, { status = 200, body }] of writtenEndpoints({ endpoints })) {
    hasBody.set(`${status}.${name}`, body !== undefined);
  }
  return hasBody;
});

/** The sandbox has the outcomes of the specification, and the success of each endpoint of the scenario. */
export function checkOutcome(
  outcome: OutcomeId | undefined,
  field: FieldPath,
  context: Pick<FaultChecks, "scenario" | "addProblem">,
): void {
  if (outcome === undefined) return;
  const successes = successesIn(context.scenario.endpoints ?? noEndpoints);
  if (ownOutcomes.has(outcome) || successes.has(outcome)) return;
  context.addProblem({
    code: "bad_choice",
    field,
    message: `the sandbox has no outcome ${quote(outcome)}`,
    // Not made for a problem that is not added: it takes time.
    get hint() {
      const near = nearest(outcome, [...ownOutcomes, ...successes.keys()]);
      if (near === undefined) return "the report of a sandbox lists its endpoints and outcomes";
      return `did you mean ${near}?`;
    },
  });
}

const partsOfStatus = ["body", "retry_after"] as const;
type PartOfStatus = (typeof partsOfStatus)[number];
type Effect = FaultKind | PartOfStatus;

function whyTooEarly(fault: FaultFields, now: number | undefined): Contradiction | undefined {
  const { after, until } = fault.when ?? {};
  const start = timeSince(now, after);
  const end = timeSince(now, until);
  if (start === undefined || end === undefined || end > start) return undefined;
  const message = `the fault must end after it starts (${after}), not ${until}`;
  return { at: ["when", "until"], message, hint: "write a later time, or remove one of the two" };
}

function whySwapped(fault: FaultFields): Contradiction | undefined {
  const { latency } = fault.then ?? {};
  if (typeof latency !== "object") return undefined;

  const bounds: Readonly<Record<string, string>> = latency;
  const [lower, upper] = "median" in bounds ? ["median", "p99"] : ["min", "max"];
  const low = bounds[lower] ?? "";
  const high = bounds[upper] ?? "";
  if ((parseDuration(low) ?? 0) <= (parseDuration(high) ?? 0)) return undefined;
  const message = `${upper} is ${high}, less than ${lower}, which is ${low}`;
  return { at: ["then", "latency", upper], message, hint: "swap the two" };
}

function whyNotTogether(fault: FaultFields): Contradiction | undefined {
  const { then = {} } = fault;
  const parts = partsOfStatus.filter((name) => then[name] !== undefined);
  const effects: readonly Effect[] = [...faultKindsOf(then), ...parts];

  for (const [index, second] of effects.entries()) {
    const first = effects.slice(0, index).find((effect) => !fitTogether(effect, second));
    if (first === undefined) continue;
    const message = `a response cannot have both ${first} and ${second}`;
    return { at: ["then", second], message, hint: "remove one of the two, or add a second fault" };
  }
  return undefined;
}

/** Whether a response can have both effects: the parts of a status fit what the status fits. */
function fitTogether(one: Effect, other: Effect): boolean {
  const first = isPartOfStatus(one) ? "status" : one;
  const second = isPartOfStatus(other) ? "status" : other;
  if (first === second) return true;
  const fits: readonly string[] = faultEffects[first].fits;
  return fits.includes(second);
}

function isPartOfStatus(effect: Effect): effect is PartOfStatus {
  return partsOfStatus.some((part) => part === effect);
}
