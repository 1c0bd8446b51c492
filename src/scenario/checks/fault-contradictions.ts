import { type FaultKind, faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import { parseDuration } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import { compareTimes, readTimeOrDuration, type StartTime } from "../format/when.js";
import type { Scenario } from "../scenario.generated.js";

// Why a fault is useless: its fields contradict each other. `unmatched-faults.ts` has why no request matches it.

export type FaultFields = NonNullable<Scenario["faults"]>[number];

/** What makes a fault useless. */
export interface FaultContradiction {
  /** The field to point at, in the fault. */
  readonly field: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** Why a fault ends before it starts. Its durations count from `now`, when it becomes active. */
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
export function whyDelaySwapped(fault: FaultFields): FaultContradiction | undefined {
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
export function whyEffectsExclude(fault: FaultFields): FaultContradiction | undefined {
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

  const [part] = parts;
  if (part === undefined || then.status !== undefined) return undefined;
  return {
    field: ["then", part],
    message: `${part} belongs to a response with a status, and the fault has none`,
    hint: "add the status, such as status: 503, or remove the field",
  };
}

/** Whether a response can have both effects: a part of a status fits what the status fits. */
function fitTogether(one: Effect, other: Effect): boolean {
  const first = kindOf(one);
  const second = kindOf(other);
  if (first === second) return true;
  const combinesWith: readonly string[] = faultKindTable[first].combinesWith;
  return combinesWith.includes(second);
}

function kindOf(effect: Effect): FaultKind {
  return effect === "body" || effect === "retry_after" ? "status" : effect;
}
