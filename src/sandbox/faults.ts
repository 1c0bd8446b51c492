import {
  type FaultEffects,
  type FaultOutcomeId,
  faultExample,
  faultOutcomeId,
} from "../rules/fault-effects.js";
import { type ApiOutcomeId, isSuccess } from "../rules/outcomes.js";
import { mix32, randomStream } from "../rules/seed.js";
import { isoTime, parseDuration } from "../rules/time.js";
import type { Writable } from "../rules/writable.js";
import type { ScenarioFault } from "../scenario/format/faults-and-assumptions.js";
import { timeFrom } from "../scenario/format/times.js";
import type { RoutedCall } from "./call.js";

// A fault is read once, when it becomes active, and can be written again as scenarios have it.
//
// Each request asks all active faults in order, and has the first that fires. What a fault does to a request depends on its own
// count, on the number of the request and on its position in the list, never on what another fault does. So a fault also counts the
// requests on which an earlier fault fires, and its chances come from salts of its position: a fault that is added or removed behind
// it does not change them. A question about the next request (`faultsAhead`) counts nothing.

/** A fault as scenarios, the library and the control plane write it, with the refs that it may use. */
export type Fault<KeyRef extends string = string, OrganizationRef extends string = string> = Omit<
  ScenarioFault,
  "when"
> & {
  /** The requests that it affects: each of its members must match. Default: every request. */
  when?: Omit<NonNullable<ScenarioFault["when"]>, "key" | "organization"> & {
    key?: KeyRef;
    organization?: OrganizationRef;
  };
};

/** The effect of a fault, as its example has it: a status with the error body of the API, or as a gateway's page. */
export function exampleOfFault(
  fault: FaultOutcomeId,
  { asPage }: { readonly asPage: boolean },
): Fault["then"] {
  const example = faultExample(fault);
  if (fault === "fault.status" && asPage) return { ...example, body: "html" };
  return example;
}

interface FaultCondition extends Omit<NonNullable<ScenarioFault["when"]>, "outcome" | "after" | "until"> {
  readonly outcome?: ApiOutcomeId;
  readonly after?: number;
  readonly until?: number;
}

export interface ActiveFault {
  /** As it was written: durations have no start there. */
  readonly definition: Fault;
  readonly when: FaultCondition;
  readonly effect: FaultEffects;
  /** They make its random numbers differ from each other: for whether it fires, and for how long its latency is. */
  readonly salts: { readonly chance: number; readonly latency: number };
  /** The number of matching requests so far: `every` and `requests` choose by it. */
  matched: number;
}

/** Makes faults ready for requests. Their durations count from `start` (epoch milliseconds). */
export function activateFaults(faults: readonly Fault[], seed: number, start: number): ActiveFault[] {
  const active: ActiveFault[] = [];
  for (const [index, definition] of faults.entries()) {
    const random = randomStream(seed, "fault", String(index));
    const { after, until, ...otherConditions } = definition.when ?? {};
    const when: Writable<FaultCondition> = otherConditions;
    if (after !== undefined) when.after = timeFrom(start, after);
    if (until !== undefined) when.until = timeFrom(start, until);
    active.push({
      definition,
      when,
      effect: readEffect(definition.then),
      salts: { chance: random(), latency: random() },
      matched: definition.requests_matched ?? 0,
    });
  }
  return active;
}

function readEffect(then: Fault["then"]): FaultEffects {
  const { latency, status, body, retry_after: wait, ...otherEffects } = then;
  const effect: Writable<FaultEffects> = otherEffects;
  if (latency !== undefined) effect.latency = readLatency(latency);
  if (status !== undefined) {
    effect.status = status;
    effect.html = body === "html";
  }
  if (wait !== undefined) {
    const asDate = typeof wait !== "string";
    // A header has whole seconds.
    const seconds = Math.ceil(durationMs(asDate ? wait.date : wait) / 1000);
    effect.retryAfter = { seconds, asDate };
  }
  return effect;
}

function readLatency(latency: NonNullable<Fault["then"]["latency"]>): NonNullable<FaultEffects["latency"]> {
  if (typeof latency === "string") {
    const always = durationMs(latency);
    return { min: always, max: always };
  }
  if ("median" in latency) {
    return { median: durationMs(latency.median), p99: durationMs(latency.p99) };
  }
  return { min: durationMs(latency.min), max: durationMs(latency.max) };
}

/** The length of a duration, which the shape of the fault has checked. */
function durationMs(duration: string): number {
  return parseDuration(duration) ?? 0;
}

export interface FiredFault {
  readonly effect: FaultEffects;
  readonly latencyMs: number;
}

export interface FaultFacts extends Pick<RoutedCall, "entry" | "endpoint" | "now"> {
  /** Whether its method is HEAD, to which no response has a body. */
  readonly isHead: boolean;
  /** The outcome of the call without a fault; computed once, and only if a fault asks for it. */
  readonly expectedOutcome: () => ApiOutcomeId;
}

export function faultFacts(
  { entry, endpoint, now }: Pick<RoutedCall, "entry" | "endpoint" | "now">,
  method: string | undefined,
  findOutcome: () => ApiOutcomeId,
): FaultFacts {
  let outcome: ApiOutcomeId | undefined;
  function expectedOutcome(): ApiOutcomeId {
    outcome ??= findOutcome();
    return outcome;
  }
  return { entry, endpoint, now, isHead: method === "HEAD", expectedOutcome };
}

/** The first fault that fires on a request. Each fault counts the request if it has an effect on it, also after another fault has fired. */
export function fireFault(
  active: readonly ActiveFault[],
  requestNumber: number,
  facts: FaultFacts,
): FiredFault | undefined {
  let fired: FiredFault | undefined;
  for (const fault of active) {
    const effect = matchingEffect(fault, facts);
    if (effect === undefined) continue;
    fault.matched += 1;
    if (fired !== undefined) continue;

    const { every = 1, requests, probability = 1 } = fault.when;
    const isChosen = fault.matched % every === 0 && (requests?.includes(fault.matched) ?? true);
    if (isChosen && chanceFrom(fault.salts.chance, requestNumber) < probability) {
      fired = { effect, latencyMs: drawLatency(fault, requestNumber) };
    }
  }
  return fired;
}

/**
 * The faults that may hit a request with this outcome, the next one or a later one like it: `every: 2` hits the second. The list
 * ends at a certain fault, which hits each of them that no fault before it hits: none after it gets its turn.
 */
export function faultsAhead(
  active: readonly ActiveFault[],
  facts: FaultFacts,
): { readonly outcome: FaultOutcomeId; readonly isCertain: boolean }[] {
  const ahead: { outcome: FaultOutcomeId; isCertain: boolean }[] = [];
  for (const fault of active) {
    if (isUsedUp(fault)) continue;
    const effect = matchingEffect(fault, facts);
    if (effect === undefined) continue;

    const { every = 1, requests, probability = 1 } = fault.when;
    const isCertain = every === 1 && requests === undefined && probability === 1;
    ahead.push({ outcome: faultOutcomeId(effect), isCertain });
    if (isCertain) break;
  }
  return ahead;
}

/**
 * The effect that a fault has on a request if it fires; `undefined` if the request does not match its condition, or if the fault
 * only breaks bodies and the response has none. Such a request is not counted by the fault.
 */
function matchingEffect(fault: ActiveFault, facts: FaultFacts): FaultEffects | undefined {
  if (!isMatching(fault.when, facts)) return undefined;
  const { effect } = fault;
  const breaksBody = effect.truncate || effect.malformed;
  if (!breaksBody || hasBody(effect, facts)) return effect;

  // There is no body to break. The other effects are left, if there are any.
  const { truncate, malformed, ...otherEffects } = effect;
  const isAnyLeft = Object.values(otherEffects).some(Boolean);
  return isAnyLeft ? otherEffects : undefined;
}

/** Whether the request itself matches: its key, its time, its outcome. */
function isMatching(when: ActiveFault["when"], { entry, now, expectedOutcome }: FaultFacts): boolean {
  if (when.key !== undefined && when.key !== entry?.key.ref) return false;
  if (when.organization !== undefined && when.organization !== entry?.key.organization) return false;
  if (when.after !== undefined && now < when.after) return false;
  if (when.until !== undefined && now >= when.until) return false;
  // Last, because the outcome is computed for it.
  return when.outcome === undefined || when.outcome === expectedOutcome();
}

/** Whether the response to a request has a body: its usual one, or the error of an effect that sets the status. */
export function hasBody(
  { status }: FaultEffects,
  { endpoint, isHead, expectedOutcome }: FaultFacts,
): boolean {
  if (isHead) return false;
  const isErrorOfFault = status !== undefined;
  if (isErrorOfFault) return true;
  // Each error has a body: also the 404 or 405 of a call without an endpoint.
  if (endpoint === undefined || endpoint.hasBody) return true;
  // The endpoint's success has none, such as a 204. The endpoint's checks may still reject the call.
  return !isSuccess(expectedOutcome());
}

/** Whether a fault fires on no later request: each of its `requests` has come. */
function isUsedUp(fault: ActiveFault): boolean {
  const { requests, every = 1 } = fault.when;
  if (requests === undefined) return false;
  const isComing = requests.some((number) => number > fault.matched && number % every === 0);
  return !isComing;
}

/** No delay is longer than this many times its `p99`, so that no test waits for one in a billion. */
const maxTimesP99 = 10;

function drawLatency({ effect, salts }: ActiveFault, requestNumber: number): number {
  const { latency } = effect;
  if (latency === undefined) return 0;
  const chance = chanceFrom(salts.latency, requestNumber);
  if ("min" in latency) {
    const choices = latency.max - latency.min + 1;
    return latency.min + Math.floor(chance * choices);
  }
  return longTailedDelay(latency, chance);
}

/** A delay in milliseconds, by a chance from 0 to less than 1: half of the delays are below `median`, 99% below `p99`, some far above. */
function longTailedDelay(
  { median, p99 }: { readonly median: number; readonly p99: number },
  chance: number,
): number {
  if (median === 0) return 0;
  // A log-logistic distribution. The odds are 1 in the middle, where the delay is `median`, and 99 where it is `p99`.
  const odds = chance / (1 - chance);
  const exponent = Math.log(p99 / median) / Math.log(99);
  const delay = median * odds ** exponent;
  return Math.min(Math.round(delay), maxTimesP99 * p99);
}

/** A number from 0 to less than 1 that depends only on the salt and the number of the request. */
function chanceFrom(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}

/** The faults that may still hit a request, as scenarios write them: with absolute times, and with the requests that they have counted. */
export function writtenFaults(active: readonly ActiveFault[], now: number): Fault[] {
  const written: Fault[] = [];
  for (const fault of active) {
    const { until = Number.POSITIVE_INFINITY } = fault.when;
    if (now < until && !isUsedUp(fault)) written.push(writtenFault(fault));
  }
  return written;
}

function writtenFault(fault: ActiveFault): Fault {
  const { when, then, requests_matched, ...rest } = structuredClone(fault.definition);
  const { after, until } = fault.when;
  if (when !== undefined && after !== undefined) when.after = isoTime(after);
  if (when !== undefined && until !== undefined) when.until = isoTime(until);

  const written: Fault = { ...rest, ...(when !== undefined && { when }), then };
  const choosesByCount = fault.when.every !== undefined || fault.when.requests !== undefined;
  if (choosesByCount) written.requests_matched = fault.matched;
  return written;
}
