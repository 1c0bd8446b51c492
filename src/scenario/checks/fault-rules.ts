import { parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import { type StartTime, timeFrom } from "../format/when.js";
import { type FieldProblem, ProblemList } from "../problems.js";
import {
  type FaultFields,
  whyBoundsSwapped,
  whyEffectsDoNotCombine,
  whyEndsBeforeFirstRequest,
  whyEndsBeforeStart,
  whyNoBodyBreaks,
  whyNumbersSelectNone,
} from "./fault-contradictions.js";
import { whyNoKeySends } from "./fault-key-contradictions.js";
import { type KeysForFaults, keysForFaults } from "./keys-for-faults.js";
import { checkRef, type KnownRefs } from "./known-refs.js";
import { checkOutcome, type EndpointSuccesses } from "./outcome-rules.js";
import type { ScenarioRule } from "./rule-input.js";

/** What faults are compared with: a scenario as it starts, one of its steps, or a running sandbox. */
interface FaultContext {
  readonly refs: KnownRefs;
  readonly keys: KeysForFaults;
  readonly successes: EndpointSuccesses;
  /** When the faults become active, from where their durations count. */
  readonly now: StartTime;
}

/** The faults of a scenario and of its steps can match requests, and their effects fit together. */
export const noUselessFaults: ScenarioRule = (input) => {
  const { scenario, isSnapshot, refs, refsInSteps, successes, clockStart, problems } = input;
  // The faults of a snapshot were checked before its sandbox ran. Since then, each key may have changed.
  if (isSnapshot) return;

  const keys = keysForFaults(input);
  checkFaults(scenario.faults, ["faults"], { refs, keys, successes, now: clockStart }, problems);

  const { timeline = [], story = [] } = scenario;
  for (const [index, { at, faults }] of timeline.entries()) {
    const context = { refs: refsInSteps, keys, successes, now: timeOfStep(at, clockStart) };
    checkFaults(faults, ["timeline", index, "faults"], context, problems);
  }
  for (const [index, { faults }] of story.entries()) {
    // Only a run shows when a story gets to its step.
    const context = { refs: refsInSteps, keys, successes, now: "unknown" } as const;
    checkFaults(faults, ["story", index, "faults"], context, problems);
  }
};

/** When a step of the timeline runs. */
function timeOfStep(at: string, clockStart: StartTime): StartTime {
  if (clockStart !== "unknown") return timeFrom(clockStart, at);
  // The end of a duration from an unknown start is unknown, too.
  return parseTime(at) ?? "unknown";
}

/** The problems of faults that a running sandbox is to get. */
export function faultProblems(
  faults: readonly FaultFields[],
  context: FaultContext,
): readonly FieldProblem[] {
  const problems = new ProblemList();
  checkFaults(faults, ["faults"], context, problems);
  return problems.found;
}

function checkFaults(
  faults: readonly FaultFields[] = [],
  field: FieldPath,
  context: FaultContext,
  problems: ProblemList,
): void {
  for (const [index, fault] of faults.entries()) checkFault(fault, [...field, index], context, problems);
}

function checkFault(
  fault: FaultFields,
  faultField: FieldPath,
  context: FaultContext,
  problems: ProblemList,
): void {
  const { refs, keys, successes, now } = context;
  const { key, organization, outcome } = fault.when ?? {};
  checkRef("key", key, [...faultField, "when", "key"], refs, problems);
  checkRef("organization", organization, [...faultField, "when", "organization"], refs, problems);
  checkOutcome(outcome, [...faultField, "when", "outcome"], successes, problems);

  const contradictions = [
    whyEndsBeforeStart(fault, now),
    whyBoundsSwapped(fault),
    whyEffectsDoNotCombine(fault),
    whyNoKeySends(fault, keys),
    whyNoBodyBreaks(fault, successes),
    whyNumbersSelectNone(fault),
    whyEndsBeforeFirstRequest(fault),
  ];
  for (const contradiction of contradictions) {
    if (contradiction === undefined) continue;
    const { field, message, hint } = contradiction;
    problems.add({ code: "fault_contradiction", field: [...faultField, ...field], message, hint });
  }
}
