import {
  chanceOf,
  type FailureStatus,
  type FaultCondition,
  type FaultEffect,
  type FaultFacts,
  fires,
  matches,
} from "../domain/fault.js";
import { randomStream } from "../domain/seed.js";
import { parseDuration, parseWhen } from "../scenario/format/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { isoOf } from "./clock.js";

/** A fault as scenarios, the library and the control plane write it. */
export type Fault = NonNullable<Scenario["faults"]>[number];

/** A fault that is in force. */
export interface ActiveFault {
  readonly given: Fault;
  readonly when: FaultCondition;
  readonly effect: FaultEffect;
  /** What the chances of this fault are drawn with, and how long its latency is. */
  readonly salts: { readonly chance: number; readonly latency: number };
  /** How many requests it was meant for; counted only where `every` or `requests` ask for it. */
  matched: number;
}

/** The faults of a world, in their order; the list is replaced as a whole. */
export interface Faults {
  active: readonly ActiveFault[];
}

/** A fault that hits a request, with what was drawn for it. */
export interface FiredFault {
  readonly effect: FaultEffect;
  /** Milliseconds of real time. */
  readonly latency: number;
}

/** The faults in force from `start` (epoch milliseconds) on, from which their durations count. */
export function activateFaults(faults: readonly Fault[], seed: number, start: number): ActiveFault[] {
  return faults.map((given, index) => {
    const draw = randomStream(seed, "fault", String(index));
    return {
      given,
      when: conditionOf(given.when ?? {}, start),
      effect: effectOf(given.then),
      salts: { chance: draw(), latency: draw() },
      matched: given.requests_matched ?? 0,
    };
  });
}

/**
 * The first fault that hits the request, if one does.
 *
 * Each counts the requests that it is meant for, whether or not another one hits them: a fault more changes no other.
 */
export function fireFault(
  armed: readonly ActiveFault[],
  requestNumber: number,
  facts: FaultFacts,
): FiredFault | undefined {
  let fired: FiredFault | undefined;
  for (const fault of armed) {
    // One that does not count need not be looked at once another has hit.
    if ((fired !== undefined && !counts(fault)) || !matches(fault.when, facts)) continue;
    if (counts(fault)) fault.matched += 1;
    if (
      fired === undefined &&
      fires(fault.when, fault.matched, chanceOf(fault.salts.chance, requestNumber))
    ) {
      fired = { effect: fault.effect, latency: latencyOf(fault, requestNumber) };
    }
  }
  return fired;
}

/** The faults that look at such a request; which of its kind they hit is another question. Counts nothing. */
export function matchingFaults({ active }: Faults, facts: FaultFacts): ActiveFault[] {
  return active.filter(({ when }) => matches(when, facts));
}

/** The faults in force, as scenarios write them; times are instants, so that they mean the same later. Copies. */
export function describeFaults({ active }: Faults): Fault[] {
  return active.map((fault) => {
    const { when, then, requests_matched: _, ...rest } = plainCopy(fault.given);
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
      ...(counts(fault) && { requests_matched: fault.matched }),
    };
  });
}

function counts({ when }: ActiveFault): boolean {
  return when.every !== undefined || when.requests !== undefined;
}

function latencyOf({ effect: { latency }, salts }: ActiveFault, requestNumber: number): number {
  if (latency === undefined) return 0;
  const { min, max } = latency;
  return min + Math.floor(chanceOf(salts.latency, requestNumber) * (max - min + 1));
}

function conditionOf(when: NonNullable<Fault["when"]>, start: number): FaultCondition {
  const { path_id: pathId, after, until, ...same } = when;
  return {
    ...same,
    ...(pathId !== undefined && { pathId }),
    ...(after !== undefined && { after: parseWhen(after, start) ?? start }),
    ...(until !== undefined && { until: parseWhen(until, start) ?? start }),
  };
}

function effectOf({ latency, status, body, ...same }: Fault["then"]): FaultEffect {
  return {
    ...same,
    ...(latency !== undefined && { latency: rangeOf(latency) }),
    ...(status !== undefined && { status: status as FailureStatus, html: body === "html" }),
  };
}

function rangeOf(latency: NonNullable<Fault["then"]["latency"]>): { min: number; max: number } {
  const { min, max } = typeof latency === "string" ? { min: latency, max: latency } : latency;
  return { min: parseDuration(min) ?? 0, max: parseDuration(max) ?? 0 };
}

function plainCopy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
