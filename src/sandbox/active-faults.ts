import type { FaultEffect } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import { mix32, randomStream } from "../rules/seed.js";
import { isoOf, parseDuration, timeFrom } from "../rules/time.js";
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
export function effectOn({ when, effect }: ActiveFault, facts: FaultFacts): FaultEffect | undefined {
  const isMatching =
    (when.key === undefined || when.key === facts.key) &&
    (when.organization === undefined || when.organization === facts.organization) &&
    (when.after === undefined || facts.now >= when.after) &&
    (when.until === undefined || facts.now < when.until) &&
    (when.outcome === undefined || when.outcome === facts.expectedOutcome());
  if (!isMatching) return undefined;
  const { truncate, malformed, ...otherEffects } = effect;
  if (!(truncate || malformed) || facts.hasBody(effect.status)) return effect;
  // There is no body to break.
  return Object.values(otherEffects).some(Boolean) ? otherEffects : undefined;
}

/** Whether the fault fires on the `nth` matching request; `chance` is random, from 0 to less than 1. */
function fires({ every, requests, probability }: FaultMatch, nth: number, chance: number): boolean {
  return (
    (every === undefined || nth % every === 0) &&
    (requests === undefined || requests.includes(nth)) &&
    (probability === undefined || chance < probability)
  );
}

/** Whether the fault fires on no later request: chance excludes it, or each of its requests has come. */
export function firesNoMore({ when: { probability, requests }, matched }: ActiveFault): boolean {
  return probability === 0 || requests?.every((number) => number <= matched) === true;
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
  return faults.map((definition, index) => {
    const random = randomStream(seed, "fault", String(index));
    return {
      definition,
      when: faultMatchOf(definition.when ?? {}, start),
      effect: effectOf(definition.then),
      salts: { chance: random(), latency: random(), tail: random() },
      matched: definition.requests_matched ?? 0,
    };
  });
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
    const effect = fired !== undefined && !needsCount(fault) ? undefined : effectOn(fault, facts);
    if (effect === undefined) continue;
    if (needsCount(fault)) fault.matched += 1;
    if (
      fired === undefined &&
      fires(fault.when, fault.matched, chanceOf(fault.salts.chance, requestNumber))
    ) {
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
    if (effect === undefined || !fires(fault.when, fault.matched + 1, 0)) continue;
    possible.push(effect);
    // A fault that always fires leaves nothing to those behind it.
    if ((fault.when.probability ?? 1) === 1) break;
  }
  return possible;
}

/** Copies the active faults as scenarios write them, with absolute times. */
export function writtenFaults(active: readonly ActiveFault[]): Fault[] {
  return active.map((fault) => {
    const { when, then, requests_matched: _, ...rest } = structuredClone(fault.definition);
    const { after, until } = fault.when;
    return {
      ...rest,
      ...(when !== undefined && {
        when: {
          ...when,
          ...(after !== undefined && { after: isoOf(after) }),
          ...(until !== undefined && { until: isoOf(until) }),
        },
      }),
      then,
      ...(needsCount(fault) && { requests_matched: fault.matched }),
    };
  });
}

function needsCount({ when }: ActiveFault): boolean {
  return when.every !== undefined || when.requests !== undefined;
}

function latencyOf({ effect: { latency }, salts }: ActiveFault, requestNumber: number): number {
  if (latency === undefined) return 0;
  const chance = chanceOf(salts.latency, requestNumber);
  if ("min" in latency) return latency.min + Math.floor(chance * (latency.max - latency.min + 1));
  // The method of Box and Muller makes a normal deviate of two chances.
  const secondChance = chanceOf(salts.tail, requestNumber);
  const normal = Math.sqrt(-2 * Math.log(1 - chance)) * Math.cos(2 * Math.PI * secondChance);
  const { median, p99 } = latency;
  const late = median === 0 ? 0 : median * (p99 / median) ** (normal / normalP99);
  return Math.min(Math.round(late), maxTimesP99 * p99);
}

const normalP99 = 2.326;
/** No delay is longer, so that no test waits for one in a billion. */
const maxTimesP99 = 10;

function faultMatchOf(when: NonNullable<Fault["when"]>, start: number): FaultMatch {
  const { outcome, after, until, ...same } = when;
  return {
    ...same,
    ...(outcome !== undefined && { outcome }),
    ...(after !== undefined && { after: timeFrom(start, after) }),
    ...(until !== undefined && { until: timeFrom(start, until) }),
  };
}

function effectOf({ latency, status, body, retry_after, ...same }: Fault["then"]): FaultEffect {
  return {
    ...same,
    ...(latency !== undefined && { latency: delayOf(latency) }),
    ...(status !== undefined && { status, html: body === "html" }),
    ...(retry_after !== undefined && { retryAfter: retryAfterOf(retry_after) }),
  };
}

function delayOf(latency: NonNullable<Fault["then"]["latency"]>): NonNullable<FaultEffect["latency"]> {
  const ms = (duration: string) => parseDuration(duration) ?? 0;
  if (typeof latency === "string") return { min: ms(latency), max: ms(latency) };
  if ("median" in latency) return { median: ms(latency.median), p99: ms(latency.p99) };
  return { min: ms(latency.min), max: ms(latency.max) };
}

// A header has whole seconds.
function retryAfterOf(wait: NonNullable<Fault["then"]["retry_after"]>) {
  const asDate = typeof wait !== "string";
  return { seconds: Math.ceil((parseDuration(asDate ? wait.date : wait) ?? 0) / 1000), asDate };
}
