import { parseDuration, timeFrom } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { chanceOf, type FaultCondition, type FaultFacts, fires, matches } from "../spec/fault.js";
import type { FaultEffect } from "../spec/fault-effects.js";
import { randomStream } from "../spec/seed.js";
import { isoOf } from "./clock.js";

type AnyFault = NonNullable<Scenario["faults"]>[number];
type Condition = NonNullable<AnyFault["when"]>;

/** A fault as scenarios, the library and the control plane write it, with the refs that it may use. */
export type Fault<KeyRef extends string = string, OrganizationRef extends string = string> = Omit<
  AnyFault,
  "when"
> & {
  /** The requests that it affects: all conditions must match. Default: every request. */
  when?: Omit<Condition, "key" | "organization"> & { key?: KeyRef; organization?: OrganizationRef };
};

export interface ActiveFault {
  readonly given: Fault;
  readonly when: FaultCondition;
  readonly effect: FaultEffect;
  readonly salts: { readonly chance: number; readonly latency: number };
  /** The number of matching requests so far; counted only if `every` or `requests` needs it. */
  matched: number;
}

export interface FiredFault {
  readonly effect: FaultEffect;
  /** Milliseconds of real time. */
  readonly latency: number;
}

/** Activates faults; their durations count from `start` (epoch milliseconds). */
export function activateFaults(faults: readonly Fault[], seed: number, start: number): ActiveFault[] {
  return faults.map((given, index) => {
    const random = randomStream(seed, "fault", String(index));
    return {
      given,
      when: conditionOf(given.when ?? {}, start),
      effect: effectOf(given.then),
      salts: { chance: random(), latency: random() },
      matched: given.requests_matched ?? 0,
    };
  });
}

/**
 * Returns the first fault that fires on the request, if any. Each fault counts its matching requests even if another
 * one fires, so that adding a fault does not change others.
 */
export function fireFault(
  active: readonly ActiveFault[],
  requestNumber: number,
  facts: FaultFacts,
): FiredFault | undefined {
  let fired: FiredFault | undefined;
  for (const fault of active) {
    // After one fired, only faults that count matter.
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

/** Copies the active faults as scenarios write them, with absolute times. */
export function describeFaults(active: readonly ActiveFault[]): Fault[] {
  return active.map((fault) => {
    const { when, then, requests_matched: _, ...rest } = structuredClone(fault.given);
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
    ...(after !== undefined && { after: timeFrom(start, after) }),
    ...(until !== undefined && { until: timeFrom(start, until) }),
  };
}

function effectOf({ latency, status, body, ...same }: Fault["then"]): FaultEffect {
  return {
    ...same,
    ...(latency !== undefined && { latency: rangeOf(latency) }),
    ...(status !== undefined && { status, html: body === "html" }),
  };
}

function rangeOf(latency: NonNullable<Fault["then"]["latency"]>): { min: number; max: number } {
  const { min, max } = typeof latency === "string" ? { min: latency, max: latency } : latency;
  return { min: parseDuration(min) ?? 0, max: parseDuration(max) ?? 0 };
}
