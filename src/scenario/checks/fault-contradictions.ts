import { type FaultKind, faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import type { FieldPath } from "../../schema/field-path.js";
import { compareTimes, readTimeOrDuration, type StartTime } from "../format/when.js";
import type { Scenario } from "../scenario.generated.js";
import type { EndpointSuccesses } from "./outcome-rules.js";

// Why a fault is useless: its fields contradict each other. `fault-key-contradictions.ts` compares it with the keys.

export type FaultFields = NonNullable<Scenario["faults"]>[number];

/** What makes a fault useless. */
export interface FaultContradiction {
  /** The field to point at, in the fault. */
  readonly field: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** Why `until` is not after `after`. Durations count from `now`, when the fault becomes active. */
export function whyEndsBeforeStart(fault: FaultFields, now: StartTime): FaultContradiction | undefined {
  const { after, until } = fault.when ?? {};
  if (after === undefined || until === undefined) return undefined;
  const order = compareTimes(now, readTimeOrDuration(after), readTimeOrDuration(until));
  if (order === "before" || order === "unknown") return undefined;
  return {
    field: ["when", "until"],
    message: `the fault must end after it starts (${after}), not ${until}`,
    hint: "write a later time, or remove one of the two",
  };
}

/** Why a delay has no value: its lower bound is above its upper bound. */
export function whyBoundsSwapped(fault: FaultFields): FaultContradiction | undefined {
  const latency = fault.then?.latency;
  if (typeof latency !== "object") return undefined;
  if ("median" in latency) {
    return whySwapped({ name: "median", delay: latency.median }, { name: "p99", delay: latency.p99 });
  }
  return whySwapped({ name: "min", delay: latency.min }, { name: "max", delay: latency.max });
}

interface BoundOfDelay {
  readonly name: string;
  readonly delay: string;
}

function whySwapped(lower: BoundOfDelay, upper: BoundOfDelay): FaultContradiction | undefined {
  const low = readTimeOrDuration(lower.delay).milliseconds;
  const high = readTimeOrDuration(upper.delay).milliseconds;
  if (low <= high) return undefined;
  return {
    field: ["then", "latency", upper.name],
    message: `${upper.name} is ${upper.delay}, less than ${lower.name}, which is ${lower.delay}`,
    hint: "swap the two",
  };
}

/** Why no response can have all effects of a fault. */
export function whyEffectsDoNotCombine(fault: FaultFields): FaultContradiction | undefined {
  const { then = {} } = fault;
  for (const part of ["body", "retry_after"] as const) {
    if (then[part] === undefined || then.status !== undefined) continue;
    return {
      field: ["then", part],
      message: `${part} belongs to a response with a status, and the fault has none`,
      hint: "add the status, such as status: 503, or remove the field",
    };
  }

  const kinds = faultKindsOf(then);
  // Each pair is asked about once: if one kind combines with another, the other combines with it.
  for (const [index, second] of kinds.entries()) {
    for (const first of kinds.slice(0, index)) {
      if (combines(first, second)) continue;
      return {
        field: ["then", second],
        message: `a response cannot have both ${first} and ${second}`,
        hint: "remove one of the two, or add a second fault",
      };
    }
  }
  return undefined;
}

function combines(one: FaultKind, other: FaultKind): boolean {
  const combinesWith: readonly string[] = faultKindTable[one].combinesWith;
  return combinesWith.includes(other);
}

/** Why a fault that only breaks bodies has none to break. */
export function whyNoBodyBreaks(
  { when, then }: FaultFields,
  successes: EndpointSuccesses,
): FaultContradiction | undefined {
  const outcome = when?.outcome;
  const kinds = faultKindsOf(then);
  const [first] = kinds;
  if (first === undefined || outcome === undefined) return undefined;
  const onlyBreaksBodies = kinds.every((kind) => faultKindTable[kind].breaksBody);
  if (!onlyBreaksBodies) return undefined;

  // Each error has a body, and `/me` has one. Only a success of an endpoint of the scenario may have none.
  const success = successes.get(outcome);
  const hasBody = success === undefined || success.hasBody;
  if (hasBody) return undefined;
  return {
    field: ["then", first],
    message: `a response with the outcome ${outcome} has no body`,
    hint: "write another effect, or another outcome",
  };
}

/** Why `every` and `requests` have no number in common: `every: 2` with `requests: [1]`. */
export function whyNumbersSelectNone({ when = {} }: FaultFields): FaultContradiction | undefined {
  const { every, requests } = when;
  if (every === undefined || requests === undefined) return undefined;
  if (requests.some((number) => number % every === 0)) return undefined;
  return {
    field: ["when", "requests"],
    message: `every: ${every} selects none of these requests`,
    hint: "write a multiple of it, or remove one of the two",
  };
}

/**
 * Why `until` is no later than the moment at which the fault becomes active, if it is a duration from it: `until: 0s`. A time in
 * the past is fine: the faults that the control plane returns have times.
 */
export function whyEndsBeforeFirstRequest({ when = {} }: FaultFields): FaultContradiction | undefined {
  const { until } = when;
  if (until === undefined) return undefined;
  const { kind, milliseconds } = readTimeOrDuration(until);
  if (kind === "time" || milliseconds > 0) return undefined;
  return {
    field: ["when", "until"],
    message: `the fault ends before the first request: until is ${until}`,
    hint: "write a longer duration, or remove it",
  };
}
