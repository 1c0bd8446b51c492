import type { FaultEffect } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import { mix32, randomStream } from "../rules/seed.js";
import { isoOf, parseDuration, timeFrom } from "../rules/time.js";
import type { Writable } from "../rules/writable.js";
import type { Scenario } from "../scenario/scenario.generated.js";

type AnyFault = NonNullable<Scenario["faults"]>[number];
type Condition = NonNullable<AnyFault["when"]>;

/** A fault as scenarios, the library and the control plane write it, with the refs that it may use. */
export type Fault<KeyRef extends string = string, OrganizationRef extends string = string> = Omit<
  AnyFault,
  "when"
> & {
  /** The requests that it affects: each of its members must match. Default: every request. */
  when?: Omit<Condition, "key" | "organization"> & { key?: KeyRef; organization?: OrganizationRef };
};

/** A condition with its times as epoch milliseconds. */
interface FaultMatch extends Omit<Condition, "outcome" | "after" | "until"> {
  readonly outcome?: ApiOutcomeId;
  readonly after?: number;
  readonly until?: number;
}

export interface FaultFacts {
  readonly key: string | undefined;
  readonly organization: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The outcome of the request without a fault; computed only if needed. */
  readonly expectedOutcome: () => OutcomeId;
  /** Whether its response has a body, without a fault or with the status of one. */
  readonly hasBody: (status?: number) => boolean;
}

/** The effect of a fault on a request; `undefined` if that does not match. {@link fires} decides whether the fault then fires. */
export function effectOn(fault: ActiveFault, facts: FaultFacts): FaultEffect | undefined {
  if (!isMatching(fault.when, facts)) return undefined;
  const { effect } = fault;
  const breaksBody = effect.truncate || effect.malformed;
  if (!breaksBody || facts.hasBody(effect.status)) return effect;

  // There is no body to break.
  const { truncate, malformed, ...otherEffects } = effect;
  return Object.values(otherEffects).some(Boolean) ? otherEffects : undefined;
}

function isMatching(when: FaultMatch, facts: FaultFacts): boolean {
  if (when.key !== undefined && when.key !== facts.key) return false;
  if (when.organization !== undefined && when.organization !== facts.organization) return false;
  if (when.after !== undefined && facts.now < when.after) return false;
  if (when.until !== undefined && facts.now >= when.until) return false;
  // Last, because the outcome is computed for it.
  return when.outcome === undefined || when.outcome === facts.expectedOutcome();
}

/** Whether the fault fires on the `nth` matching request; `chance` is random, from 0 to less than 1. */
function fires(when: FaultMatch, nth: number, chance: number): boolean {
  const { every, requests, probability } = when;
  if (every !== undefined && nth % every !== 0) return false;
  if (requests !== undefined && !requests.includes(nth)) return false;
  return probability === undefined || chance < probability;
}

/** Whether the fault fires on no later request: chance excludes it, or each of its requests has come. */
export function firesNoMore(fault: ActiveFault): boolean {
  const { probability, requests } = fault.when;
  if (probability === 0) return true;
  if (requests === undefined) return false;
  return requests.every((number) => number <= fault.matched);
}

/** A number from 0 to less than 1 that depends only on the salt and the number of the request. */
function chanceOf(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}

export interface ActiveFault {
  readonly definition: Fault;
  readonly when: FaultMatch;
  readonly effect: FaultEffect;
  readonly salts: { readonly chance: number; readonly latency: number; readonly tail: number };
  /** The number of matching requests so far; counted only if `every` or `requests` needs it. */
  matched: number;
}

export interface FiredFault {
  readonly effect: FaultEffect;
  /** Milliseconds of real time. */
  readonly latency: number;
}

export function activateFaults(faults: readonly Fault[], seed: number, start: number): ActiveFault[] {
  const active: ActiveFault[] = [];
  for (const [index, definition] of faults.entries()) {
    const random = randomStream(seed, "fault", String(index));
    active.push({
      definition,
      when: faultMatchOf(definition.when ?? {}, start),
      effect: effectOf(definition.then),
      salts: { chance: random(), latency: random(), tail: random() },
      matched: definition.requests_matched ?? 0,
    });
  }
  return active;
}

/** Each fault counts its matching requests even if another one fires, so that a new fault changes no other. */
export function fireFault(
  active: readonly ActiveFault[],
  requestNumber: number,
  facts: FaultFacts,
): FiredFault | undefined {
  let fired: FiredFault | undefined;
  for (const fault of active) {
    // After one fired, only faults that count matter.
    const isCounting = needsCount(fault);
    if (fired !== undefined && !isCounting) continue;
    const effect = effectOn(fault, facts);
    if (effect === undefined) continue;
    if (isCounting) fault.matched += 1;
    if (fired !== undefined) continue;

    const chance = chanceOf(fault.salts.chance, requestNumber);
    if (fires(fault.when, fault.matched, chance)) {
      fired = { effect, latency: latencyOf(fault, requestNumber) };
    }
  }
  return fired;
}

/** The effects that the next request with these facts may get, by the counts so far: chance decides between them. */
export function possibleEffects(active: readonly ActiveFault[], facts: FaultFacts): FaultEffect[] {
  const possible: FaultEffect[] = [];
  for (const fault of active) {
    const effect = effectOn(fault, facts);
    if (effect === undefined) continue;
    // With the lowest chance, each fault fires that chance does not exclude.
    if (!fires(fault.when, fault.matched + 1, 0)) continue;
    possible.push(effect);

    // A fault that always fires leaves nothing to those behind it.
    const { probability = 1 } = fault.when;
    if (probability === 1) break;
  }
  return possible;
}

/** Copies the active faults as scenarios write them, with absolute times. */
export function writtenFaults(active: readonly ActiveFault[]): Fault[] {
  return active.map(writtenFault);
}

function writtenFault(fault: ActiveFault): Fault {
  const { when, then, requests_matched, ...rest } = structuredClone(fault.definition);
  const { after, until } = fault.when;
  if (when !== undefined && after !== undefined) when.after = isoOf(after);
  if (when !== undefined && until !== undefined) when.until = isoOf(until);

  const written: Fault = { ...rest, ...(when !== undefined && { when }), then };
  if (needsCount(fault)) written.requests_matched = fault.matched;
  return written;
}

function needsCount(fault: ActiveFault): boolean {
  return fault.when.every !== undefined || fault.when.requests !== undefined;
}

const normalP99 = 2.326;
/** No delay is longer, so that no test waits for one in a billion. */
const maxTimesP99 = 10;

function latencyOf(fault: ActiveFault, requestNumber: number): number {
  const { latency } = fault.effect;
  if (latency === undefined) return 0;
  const chance = chanceOf(fault.salts.latency, requestNumber);
  if ("min" in latency) {
    const choices = latency.max - latency.min + 1;
    return latency.min + Math.floor(chance * choices);
  }

  const { median, p99 } = latency;
  if (median === 0) return 0;
  // The method of Box and Muller makes a normal deviate of two chances.
  const secondChance = chanceOf(fault.salts.tail, requestNumber);
  const normal = Math.sqrt(-2 * Math.log(1 - chance)) * Math.cos(2 * Math.PI * secondChance);
  const delay = median * (p99 / median) ** (normal / normalP99);
  return Math.min(Math.round(delay), maxTimesP99 * p99);
}

function faultMatchOf(when: NonNullable<Fault["when"]>, start: number): FaultMatch {
  const { after, until, ...same } = when;
  const match: Writable<FaultMatch> = same;
  if (after !== undefined) match.after = timeFrom(start, after);
  if (until !== undefined) match.until = timeFrom(start, until);
  return match;
}

function effectOf(then: Fault["then"]): FaultEffect {
  const { latency, status, body, retry_after: wait, ...same } = then;
  const effect: Writable<FaultEffect> = same;
  if (latency !== undefined) effect.latency = delayOf(latency);
  if (status !== undefined) {
    effect.status = status;
    effect.html = body === "html";
  }
  if (wait !== undefined) effect.retryAfter = retryAfterOf(wait);
  return effect;
}

function delayOf(latency: NonNullable<Fault["then"]["latency"]>): NonNullable<FaultEffect["latency"]> {
  if (typeof latency === "string") {
    const always = millisecondsOf(latency);
    return { min: always, max: always };
  }
  if ("median" in latency) {
    return { median: millisecondsOf(latency.median), p99: millisecondsOf(latency.p99) };
  }
  return { min: millisecondsOf(latency.min), max: millisecondsOf(latency.max) };
}

function retryAfterOf(wait: NonNullable<Fault["then"]["retry_after"]>) {
  const asDate = typeof wait !== "string";
  const duration = asDate ? wait.date : wait;
  // A header has whole seconds.
  const seconds = Math.ceil(millisecondsOf(duration) / 1000);
  return { seconds, asDate };
}

/** The length of a duration, which the shape of the fault has checked. */
function millisecondsOf(duration: string): number {
  return parseDuration(duration) ?? 0;
}
