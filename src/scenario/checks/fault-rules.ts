import { type KeyRecord, type KeyStateName, keyStateTable } from "../../rules/api-key.js";
import { lastingSuccess } from "../../rules/authorize.js";
import { cachedBy } from "../../rules/cached-by.js";
import { type FaultKind, faultEffects, faultKindsOf } from "../../rules/fault-effects.js";
import { isSuccess, type OutcomeId, outcomeOf, outcomes } from "../../rules/outcomes.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { nearest, quote } from "../../rules/schema/words.js";
import { parseDuration, parseTime, timeFrom } from "../../rules/time.js";
import { isLegacy, populatedKeyAt, writtenKeys } from "../described-keys.js";
import { keyStateAtStart, readSettings } from "../format/key-settings.js";
import { addingTo, type FieldProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";
import { type Facts, type ScenarioRule, timeSince } from "./facts.js";
import { checkRef } from "./ref-rules.js";

type FaultFields = NonNullable<Scenario["faults"]>[number];
type WhenFields = NonNullable<FaultFields["when"]>;

interface FaultContext {
  readonly refs: Facts["refs"];
  readonly scenario: Pick<Scenario, "endpoints">;
  /** The start of durations (epoch milliseconds). */
  readonly now?: number | undefined;
  readonly keys: LastingKeys;
}

/** What no change of a key at run time changes. */
interface LastingKey
  extends Pick<KeyRecord, "organization" | "environment" | "legacy" | "limits" | "replaces"> {
  /** Of a key in a loaded scenario. One that is over stays so; only a key that a sandbox has may have worked before. */
  readonly stateAtStart?: KeyStateName | undefined;
}

interface LastingKeys {
  readonly at: (ref: string) => LastingKey | undefined;
  /** The organizations that have a legacy key: none is created at run time. */
  readonly legacyOwners: Pick<ReadonlySet<string>, "has" | "size">;
}

export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, start, addProblem } = facts;
  const { timeline = [], story = [], requests_responded: responded } = scenario;
  const keys = lastingKeysIn(scenario);
  const sandbox = { refs, scenario, now: start, addProblem, keys };
  checkFaults(scenario.faults, [], sandbox);
  const inSteps = {
    ...sandbox,
    // `checks/step-rules.ts` checks the keys, because steps may create them.
    refs: { ...refs, key: { ...refs.key, has: () => true } },
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    keys: responded === undefined ? keys : { ...keys, at: () => undefined },
  };
  for (const [index, { at, faults }] of timeline.entries()) {
    const now = start === undefined ? parseTime(at) : timeFrom(start, at);
    checkFaults(faults, ["timeline", index], { ...inSteps, now });
  }
  // Only a run shows when a step of a story happens.
  for (const [index, { faults }] of story.entries())
    checkFaults(faults, ["story", index], { ...inSteps, now: undefined });
};

/** The keys that a scenario starts with. */
function lastingKeysIn(scenario: Scenario): LastingKeys {
  const allKeys = [...writtenKeys(scenario)];
  const replaced = new Map(allKeys.map(({ ref, fields }) => [fields.replaced_by, ref]));
  const keys = new Map(allKeys.map((key) => [key.ref, key]));
  const isSnapshot = scenario.requests_responded !== undefined;
  return {
    at(ref) {
      const key = keys.get(ref) ?? populatedKeyAt(ref, scenario);
      if (key === undefined) return undefined;
      const { organization, fields } = key;
      const replaces = replaced.get(ref);
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readSettings(fields, () => "").limits,
        // A date would decide otherwise on another day.
        ...(!isSnapshot && { stateAtStart: keyStateAtStart(fields, undefined) }),
        ...(replaces !== undefined && { replaces }),
      };
    },
    legacyOwners: new Set(
      allKeys.filter(({ fields }) => isLegacy(fields)).map(({ organization }) => organization),
    ),
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
  { when = {}, then = {} }: FaultFields,
  { scenario, keys }: Pick<FaultContext, "scenario" | "keys">,
): Contradiction | undefined {
  return whyNoSender(when, keys) ?? whyNoBody(when, then, scenario) ?? whyNoMatch(when);
}

function whyNoSender(
  { key: ref, organization, outcome }: WhenFields,
  keys: LastingKeys,
): Contradiction | undefined {
  const key = ref === undefined ? undefined : keys.at(ref);
  const at = ["when", "outcome"];
  if (isWithoutKey(outcome) && (ref ?? organization) !== undefined) {
    const hint = `remove ${ref === undefined ? "organization" : "key"}, or write another outcome`;
    return { at, message: `a request with the outcome ${outcome} has no key of the sandbox`, hint };
  }
  if (key !== undefined && organization !== undefined && key.organization !== organization) {
    const message = `the key ${quote(ref)} belongs to ${quote(key.organization)}`;
    return { at: ["when", "organization"], message, hint: "remove one of the two" };
  }
  const { why, has = "another outcome" } = (key && outcome && whyNotOf(key, outcome)) ?? {};
  if (why !== undefined) {
    const message = `the key ${quote(ref)} never has the outcome ${outcome}: ${why}`;
    return { at, message, hint: `write ${has}, or another key` };
  }
  if (outcome !== "200.legacy" || ref !== undefined) return undefined;
  const { legacyOwners: owners } = keys;
  if (organization === undefined ? owners.size > 0 : owners.has(organization)) return undefined;
  const message = `${organization === undefined ? "the scenario" : quote(organization)} has no legacy key`;
  return { at, message, hint: "give a key legacy: true, or write another outcome" };
}

function whyNoBody(
  { outcome }: WhenFields,
  then: FaultFields["then"],
  scenario: FaultContext["scenario"],
): Contradiction | undefined {
  const hasBody = successesIn(scenario.endpoints ?? noEndpoints);
  const kinds = faultKindsOf(then);
  const [first] = kinds;
  const breaksOnly = kinds.every((kind) => kind === "truncate" || kind === "malformed");
  if (first === undefined || !breaksOnly || hasBody.get(outcome ?? "") !== false) return undefined;
  const message = `a response with the outcome ${outcome} has no body`;
  return { at: ["then", first], message, hint: "write another effect, or another outcome" };
}

function whyNoMatch({ every, requests, until }: WhenFields): Contradiction | undefined {
  if (every !== undefined && requests?.every((number) => number % every !== 0)) {
    const message = `every: ${every} selects none of these requests`;
    return { at: ["when", "requests"], message, hint: "write a multiple of it, or remove one of the two" };
  }
  // What the control plane returns has times.
  if ((parseDuration(until ?? "") ?? 1) > 0) return undefined;
  const message = `the fault ends before the first request: until is ${until}`;
  return { at: ["when", "until"], message, hint: "write a longer duration, or remove it" };
}

function isWithoutKey(outcome: OutcomeId | undefined): boolean {
  return outcome === "401.missing" || outcome === "401.malformed" || outcome === "401.unknown";
}

/** Why no request with a key has an outcome of `/me` or of any endpoint, now or later, and what it has; `undefined` if one can. */
function whyNotOf(key: LastingKey, outcome: OutcomeId): { why: string; has?: string } | undefined {
  const { environment, limits, stateAtStart: state = "active" } = key;
  const { rejection } = keyStateTable[state];
  // They come before the key.
  if (/^40[45]/.test(outcome) || outcome === rejection) return undefined;
  if (rejection !== null) return { why: `it is ${state} from the start`, has: `outcome: ${rejection}` };
  const isOfMe = isSuccess(outcome) && outcomeOf(outcome).promised;
  const isOfLive = outcome === "403.live_not_approved" || outcome === "403.live_suspended";
  // Any key may be replaced later.
  const isOfOthers = isOfMe && outcome !== "200.retiring" && outcome !== lastingSuccess(key);
  if (isOfOthers || (isOfLive && environment !== "live")) return { why: `it is ${keyInWords(key)}` };
  const isLimited = limits.perMinute === 0 || limits.perDay === 0;
  return isLimited && isSuccess(outcome) ? { why: "one of its limits is 0" } : undefined;
}

function keyInWords({ environment, legacy, replaces }: LastingKey): string {
  const kind = `a ${legacy ? "legacy " : ""}${environment} key`;
  return replaces === undefined ? kind : `${kind} that replaces ${quote(replaces)}`;
}

const ownOutcomes: ReadonlySet<string> = new Set(outcomes.map(({ id }) => id));

type Endpoints = NonNullable<Scenario["endpoints"]>;
const noEndpoints: Endpoints = {};

/** Whether the success of each endpoint has a body, by its outcome: made once for many faults. */
const successesIn = /* @__PURE__ */ cachedBy(
  (endpoints: Endpoints): ReadonlyMap<string, boolean> =>
    new Map(
      writtenEndpoints({ endpoints }).map(([name, { status = 200, body }]) => [
        `${status}.${name}`,
        body !== undefined,
      ]),
    ),
);

/** An endpoint of the scenario has its own success. */
export function checkOutcome(
  outcome: OutcomeId | undefined,
  field: FieldPath,
  { scenario, addProblem }: Pick<FaultChecks, "scenario" | "addProblem">,
): void {
  if (outcome === undefined) return;
  const hasBody = successesIn(scenario.endpoints ?? noEndpoints);
  if (ownOutcomes.has(outcome) || hasBody.has(outcome)) return;
  addProblem({
    code: "bad_choice",
    field,
    message: `the sandbox has no outcome ${quote(outcome)}`,
    // Not made for a problem that is not added: it takes time.
    get hint() {
      const near = nearest(outcome, [...ownOutcomes, ...hasBody.keys()]);
      return near ? `did you mean ${near}?` : "the report of a sandbox lists its endpoints and outcomes";
    },
  });
}

const partsOfStatus = ["body", "retry_after"] as const;
type PartOfStatus = (typeof partsOfStatus)[number];
type Effect = FaultKind | PartOfStatus;

function fitTogether(one: Effect, other: Effect): boolean {
  const isPart = (effect: Effect): effect is PartOfStatus =>
    (partsOfStatus as readonly Effect[]).includes(effect);
  if (isPart(one)) return other === "status" || isPart(other) || fitTogether("status", other);
  if (isPart(other)) return fitTogether(other, one);
  return (faultEffects[one].fits as readonly string[]).includes(other);
}

function whyTooEarly({ when = {} }: FaultFields, now: number | undefined): Contradiction | undefined {
  const { after, until } = when;
  const [from, end] = [timeSince(now, after), timeSince(now, until)];
  if (from === undefined || end === undefined || end > from) return undefined;
  const message = `the fault must end after it starts (${after}), not ${until}`;
  return { at: ["when", "until"], message, hint: "write a later time, or remove one of the two" };
}

function whySwapped({ then = {} }: FaultFields): Contradiction | undefined {
  const { latency } = then;
  const bounds = typeof latency === "object" ? (latency as Readonly<Record<string, string>>) : {};
  const [min, max] = "median" in bounds ? (["median", "p99"] as const) : (["min", "max"] as const);
  const { [min]: low = "", [max]: high = "" } = bounds;
  if ((parseDuration(low) ?? 0) <= (parseDuration(high) ?? 0)) return undefined;
  const message = `${max} is ${high}, less than ${min}, which is ${low}`;
  return { at: ["then", "latency", max], message, hint: "swap the two" };
}

function whyNotTogether({ then = {} }: FaultFields): Contradiction | undefined {
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
