import type { FaultEffects } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import { mix32, randomStream } from "../rules/seed.js";
import { isoTime, parseDuration } from "../rules/time.js";
import type { Writable } from "../rules/writable.js";
import { timeFrom } from "../scenario/format/when.js";
import type { Scenario } from "../scenario/scenario.generated.js";

// A fault is read once, when it becomes active. Each request then asks all of them in order, and has the first that fires.
//
// What a fault does to a request depends on its own count, on the number of the request and on its position in the list, never on
// what another fault does. So a fault also counts the requests on which an earlier fault fires, and its chances come from salts of
// its position: a fault that is added or removed behind it does not change them. A question about the next request
// (`possibleEffects`) counts nothing.

type ScenarioFault = NonNullable<Scenario["faults"]>[number];
type WrittenCondition = NonNullable<ScenarioFault["when"]>;
type WrittenEffect = ScenarioFault["then"];

/** A fault as scenarios, the library and the control plane write it, with the refs that it may use. */
export type Fault<KeyRef extends string = string, OrganizationRef extends string = string> = Omit<
  ScenarioFault,
  "when"
> & {
  /** The requests that it affects: each of its members must match. Default: every request. */
  when?: Omit<WrittenCondition, "key" | "organization"> & { key?: KeyRef; organization?: OrganizationRef };
};

/** A condition with its times as epoch milliseconds. */
interface FaultCondition extends Omit<WrittenCondition, "outcome" | "after" | "until"> {
  readonly outcome?: ApiOutcomeId;
  readonly after?: number;
  readonly until?: number;
}

/** A fault of a running sandbox. */
export interface ActiveFault {
  /** As it was written: durations have no start there. */
  readonly definition: Fault;
  readonly when: FaultCondition;
  readonly effect: FaultEffects;
  /** They make its random numbers differ from each other: for whether it fires, and two for how long its latency is. */
  readonly salts: { readonly chance: number; readonly latency: number; readonly secondLatency: number };
  /** The number of matching requests so far: `every` and `requests` choose by it. */
  matched: number;
}

/** What a fault does to one request. */
export interface FiredFault {
  readonly effect: FaultEffects;
  /** Milliseconds of real time. */
  readonly latency: number;
}

/** What faults see of a request. */
export interface FaultFacts {
  /** The refs of its key and of that key's organization. */
  readonly key: string | undefined;
  readonly organization: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The outcome of the request without a fault; computed only if needed. */
  readonly expectedOutcome: () => OutcomeId;
  /** Whether its response has a body: one with the status of a fault, or `undefined` if the fault keeps the response. */
  readonly hasBody: (faultStatus: number | undefined) => boolean;
}

/** In the standard normal distribution, with a deviation of 1, 99% of the values are below this one. */
const normalP99 = 2.326;

/** No delay is longer than this many times its `p99`, so that no test waits for one in a billion. */
const maxTimesP99 = 10;

/** Makes faults ready for requests. Their durations count from `start` (epoch milliseconds). */
export function activateFaults(faults: readonly Fault[], seed: number, start: number): ActiveFault[] {
  const active: ActiveFault[] = [];
  for (const [index, definition] of faults.entries()) {
    const random = randomStream(seed, "fault", String(index));
    active.push({
      definition,
      when: readCondition(definition.when ?? {}, start),
      effect: readEffect(definition.then),
      salts: { chance: random(), latency: random(), secondLatency: random() },
      matched: definition.requests_matched ?? 0,
    });
  }
  return active;
}

function readCondition(when: NonNullable<Fault["when"]>, start: number): FaultCondition {
  const { after, until, ...same } = when;
  const condition: Writable<FaultCondition> = same;
  if (after !== undefined) condition.after = timeFrom(start, after);
  if (until !== undefined) condition.until = timeFrom(start, until);
  return condition;
}

function readEffect(then: WrittenEffect): FaultEffects {
  const { latency, status, body, retry_after: wait, ...same } = then;
  const effect: Writable<FaultEffects> = same;
  if (latency !== undefined) effect.latency = readLatency(latency);
  if (status !== undefined) {
    effect.status = status;
    effect.html = body === "html";
  }
  if (wait !== undefined) effect.retryAfter = readWait(wait);
  return effect;
}

function readLatency(latency: NonNullable<WrittenEffect["latency"]>): NonNullable<FaultEffects["latency"]> {
  if (typeof latency === "string") {
    const always = durationMs(latency);
    return { min: always, max: always };
  }
  if ("median" in latency) {
    return { median: durationMs(latency.median), p99: durationMs(latency.p99) };
  }
  return { min: durationMs(latency.min), max: durationMs(latency.max) };
}

function readWait(wait: NonNullable<WrittenEffect["retry_after"]>): NonNullable<FaultEffects["retryAfter"]> {
  const asDate = typeof wait !== "string";
  const duration = asDate ? wait.date : wait;
  // A header has whole seconds.
  const seconds = Math.ceil(durationMs(duration) / 1000);
  return { seconds, asDate };
}

/** The length of a duration, which the shape of the fault has checked. */
function durationMs(duration: string): number {
  return parseDuration(duration) ?? 0;
}

/** The first fault that fires on a request. Each fault counts the request if it matches, also behind the one that fires. */
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

    const chance = chanceFrom(fault.salts.chance, requestNumber);
    if (firesOn(fault.when, fault.matched, chance)) {
      fired = { effect, latency: drawLatency(fault, requestNumber) };
    }
  }
  return fired;
}

/** The effects that the next request with these facts may get: chance decides which one, if there are several. */
export function possibleEffects(active: readonly ActiveFault[], facts: FaultFacts): FaultEffects[] {
  const possible: FaultEffects[] = [];
  for (const fault of active) {
    const effect = matchingEffect(fault, facts);
    if (effect === undefined) continue;
    // By the lowest chance, a fault of any probability but 0 fires.
    const lowestChance = 0;
    if (!firesOn(fault.when, fault.matched + 1, lowestChance)) continue;
    possible.push(effect);

    // No later fault can fire if this one is certain to.
    const { probability = 1 } = fault.when;
    if (probability === 1) break;
  }
  return possible;
}

/** The effect that a fault has on a request, or on a later one like it; `undefined` if it fires on none of them. */
export function effectAhead(fault: ActiveFault, facts: FaultFacts): FaultEffects | undefined {
  return isUsedUp(fault) ? undefined : matchingEffect(fault, facts);
}

/** The effect that a fault has on a request if it fires; `undefined` if the request does not match its condition. */
function matchingEffect(fault: ActiveFault, facts: FaultFacts): FaultEffects | undefined {
  if (!isMatching(fault.when, facts)) return undefined;
  const { effect } = fault;
  const breaksBody = effect.truncate || effect.malformed;
  if (!breaksBody || facts.hasBody(effect.status)) return effect;

  // There is no body to break.
  const { truncate, malformed, ...otherEffects } = effect;
  return Object.values(otherEffects).some(Boolean) ? otherEffects : undefined;
}

/** Whether the request itself matches: its key, its time, its outcome. */
function isMatching(when: FaultCondition, facts: FaultFacts): boolean {
  if (when.key !== undefined && when.key !== facts.key) return false;
  if (when.organization !== undefined && when.organization !== facts.organization) return false;
  if (when.after !== undefined && facts.now < when.after) return false;
  if (when.until !== undefined && facts.now >= when.until) return false;
  // Last, because the outcome is computed for it.
  return when.outcome === undefined || when.outcome === facts.expectedOutcome();
}

/** Whether a fault fires on its `nth` matching request; `chance` is random, from 0 to less than 1. */
function firesOn(when: FaultCondition, nth: number, chance: number): boolean {
  const { every, requests, probability } = when;
  if (every !== undefined && nth % every !== 0) return false;
  if (requests !== undefined && !requests.includes(nth)) return false;
  return probability === undefined || chance < probability;
}

/** Whether a fault fires on no later request: chance excludes it, or each of its requests has come. */
function isUsedUp(fault: ActiveFault): boolean {
  const { probability, requests, every = 1 } = fault.when;
  if (probability === 0) return true;
  if (requests === undefined) return false;
  const isComing = requests.some((number) => number > fault.matched && number % every === 0);
  return !isComing;
}

/** Whether a fault fires on each request that matches its condition. */
export function firesAlways({ when }: ActiveFault): boolean {
  const { every, requests, probability } = when;
  return every === undefined && requests === undefined && probability === undefined;
}

/** Whether a fault chooses by its count. */
function choosesByCount({ when }: ActiveFault): boolean {
  return when.every !== undefined || when.requests !== undefined;
}

/** The latency of a fault on one request, in milliseconds. */
function drawLatency({ effect, salts }: ActiveFault, requestNumber: number): number {
  const { latency } = effect;
  if (latency === undefined) return 0;
  const chance = chanceFrom(salts.latency, requestNumber);
  if ("min" in latency) {
    const choices = latency.max - latency.min + 1;
    return latency.min + Math.floor(chance * choices);
  }
  return lognormalDelay(latency, chance, chanceFrom(salts.secondLatency, requestNumber));
}

/** A delay in milliseconds from a lognormal distribution, as delays of services have, by two chances. */
function lognormalDelay(
  { median, p99 }: { readonly median: number; readonly p99: number },
  chance: number,
  secondChance: number,
): number {
  if (median === 0) return 0;
  // By the method of Box and Muller, two chances make a value of the standard normal distribution: 0 in the middle.
  const normal = Math.sqrt(-2 * Math.log(1 - chance)) * Math.cos(2 * Math.PI * secondChance);
  // 0 becomes the median, and `normalP99` becomes `p99`.
  const delay = median * (p99 / median) ** (normal / normalP99);
  return Math.min(Math.round(delay), maxTimesP99 * p99);
}

/** A number from 0 to less than 1 that depends only on the salt and the number of the request. */
function chanceFrom(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}

/** Copies the active faults as scenarios write them: with absolute times, and with the requests that they have counted. */
export function writtenFaults(active: readonly ActiveFault[]): Fault[] {
  return active.map(writtenFault);
}

function writtenFault(fault: ActiveFault): Fault {
  const { when, then, requests_matched, ...rest } = structuredClone(fault.definition);
  const { after, until } = fault.when;
  if (when !== undefined && after !== undefined) when.after = isoTime(after);
  if (when !== undefined && until !== undefined) when.until = isoTime(until);

  const written: Fault = { ...rest, ...(when !== undefined && { when }), then };
  if (choosesByCount(fault)) written.requests_matched = fault.matched;
  return written;
}
