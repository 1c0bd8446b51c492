import { faultKindsOf, faultKindTable } from "../../rules/fault-effects.js";
import { parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/shape.js";
import type { ScenarioFault } from "../format/faults-and-assumptions.js";
import { timeFrom } from "../format/times.js";
import { type FieldProblem, ProblemList } from "../problems.js";
import { checkOutcome, checkRef, type RuleInput, type ScenarioRule } from "./rule-input.js";

// What is wrong with a fault: its refs, its limits, and fields that contradict each other. Whether a fault that is right hits a request
// depends on what a client sends: the report names those that hit none.

/** What faults are compared with: a scenario as it starts, its steps, or a running sandbox. */
type FaultContext = Pick<RuleInput, "refs" | "successes">;

/** The faults of a scenario and of its steps refer to what exists, and their fields fit together. */
export const faultsAreRight: ScenarioRule = (input) => {
  const { scenario, refs, refsInSteps, successes, problems } = input;
  const { faults = [], timeline = [], story = [] } = scenario;
  checkFaults(faults, ["faults"], { refs, successes }, problems);
  const contextOfSteps = { refs: refsInSteps, successes };
  for (const [index, step] of timeline.entries()) {
    checkFaults(step.faults ?? [], ["timeline", index, "faults"], contextOfSteps, problems);
  }
  for (const [index, step] of story.entries()) {
    checkFaults(step.faults ?? [], ["story", index, "faults"], contextOfSteps, problems);
  }
};

/** The problems of faults that a running sandbox is to get `now`. */
export function faultProblems(
  faults: readonly ScenarioFault[],
  { now, ...context }: FaultContext & { readonly now: number },
): readonly FieldProblem[] {
  const problems = new ProblemList();
  checkFaults(faults, ["faults"], context, problems);
  checkWindows(faults, ["faults"], now, problems);
  return problems.found;
}

function checkFaults(
  faults: readonly ScenarioFault[],
  field: FieldPath,
  { refs, successes }: FaultContext,
  problems: ProblemList,
): void {
  for (const [index, fault] of faults.entries()) {
    const { key, organization, outcome } = fault.when ?? {};
    const when = [...field, index, "when"];
    checkRef("key", key, [...when, "key"], refs, problems);
    checkRef("organization", organization, [...when, "organization"], refs, problems);
    checkOutcome(outcome, [...when, "outcome"], successes, problems);

    const found = [
      boundsSwapped(fault),
      effectsThatDoNotCombine(fault),
      noRequestChosen(fault),
      keyOfRequestWithoutOne(fault),
      noEffect(fault),
    ];
    for (const problem of found) {
      if (problem !== undefined) problems.addAt([...field, index], problem);
    }
  }
}

/** Checks that each fault ends after it starts. Its durations count from `now`, when it becomes active. */
export function checkWindows(
  faults: readonly ScenarioFault[],
  field: FieldPath,
  now: number,
  problems: ProblemList,
): void {
  for (const [index, { when = {} }] of faults.entries()) {
    const { until } = when;
    if (until === undefined) continue;
    // A time in the past is fine: the faults that the control plane returns have times.
    const isTime = parseTime(until) !== undefined;
    const after = when.after ?? (isTime ? undefined : "0s");
    if (after === undefined || timeFrom(now, after) < timeFrom(now, until)) continue;
    const message = `the fault must end after it starts (${after}), not ${until}`;
    const hint = "write a later time, or remove it";
    problems.add("fault_contradiction", [...field, index, "when", "until"], message, hint);
  }
}

/** What is wrong with a fault. `field` is in the fault. */
function contradiction(field: FieldPath, message: string, hint: string): FieldProblem {
  return { code: "fault_contradiction", field, message, hint };
}

/** The lower bound of a delay is above its upper bound. */
function boundsSwapped(fault: ScenarioFault): FieldProblem | undefined {
  const latency = fault.then?.latency;
  if (typeof latency !== "object") return undefined;
  // Each has two bounds, the lower one first: `min` and `max`, or `median` and `p99`.
  const isSpread = "median" in latency;
  const [lower, low] = isSpread ? ["median", latency.median] : ["min", latency.min];
  const [upper, high] = isSpread ? ["p99", latency.p99] : ["max", latency.max];
  if (timeFrom(0, low) <= timeFrom(0, high)) return undefined;
  const message = `${upper} is ${high}, less than ${lower}, which is ${low}`;
  return contradiction(["then", "latency", upper], message, "swap the two");
}

/** No response can have all effects of the fault. */
function effectsThatDoNotCombine(fault: ScenarioFault): FieldProblem | undefined {
  const { then = {} } = fault;
  for (const part of ["body", "retry_after"] as const) {
    if (then[part] === undefined || then.status !== undefined) continue;
    const message = `${part} belongs to a response with a status, and the fault has none`;
    const hint = "add the status, such as status: 503, or remove the field";
    return contradiction(["then", part], message, hint);
  }

  const kinds = faultKindsOf(then);
  // Each pair is asked about once: if one kind combines with another, the other combines with it.
  for (const [index, second] of kinds.entries()) {
    for (const first of kinds.slice(0, index)) {
      const combinesWith: readonly string[] = faultKindTable[first].combinesWith;
      if (combinesWith.includes(second)) continue;
      const message = `a response cannot have both ${first} and ${second}`;
      const hint = "remove one of the two, or write a second fault for other requests";
      return contradiction(["then", second], message, hint);
    }
  }
  return undefined;
}

/** `{ hang: false }` has no effect. */
function noEffect({ then }: ScenarioFault): FieldProblem | undefined {
  if (faultKindsOf(then).length > 0) return undefined;
  return contradiction(["then"], "then has no effect", "write true, or remove the fault");
}

/** The numbers of the fault choose no request: `every: 2` with `requests: [1]`. */
function noRequestChosen({ when = {} }: ScenarioFault): FieldProblem | undefined {
  const { every = 1, requests } = when;
  if (!requests?.every((number) => number % every !== 0)) return undefined;
  const message = `every: ${every} selects none of these requests`;
  const hint = "write a multiple of it, or remove one of the two";
  return contradiction(["when", "requests"], message, hint);
}

/** The fault is for a key, and for an outcome of requests without a key of the sandbox. */
function keyOfRequestWithoutOne({ when = {} }: ScenarioFault): FieldProblem | undefined {
  const { key, organization, outcome } = when;
  const isWithoutKey = outcome === "401.missing" || outcome === "401.malformed" || outcome === "401.unknown";
  if (!isWithoutKey || (key === undefined && organization === undefined)) return undefined;
  const condition = key === undefined ? "organization" : "key";
  const message = `a request with the outcome ${outcome} has no key of the sandbox`;
  return contradiction(["when", "outcome"], message, `remove ${condition}, or write another outcome`);
}
