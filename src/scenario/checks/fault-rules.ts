import { parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import { type StartTime, timeFrom } from "../format/when.js";
import { type AddProblem, addingTo, type FieldProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import {
  type FaultFields,
  whyDelaySwapped,
  whyEffectsExclude,
  whyEndsBeforeStart,
} from "./fault-contradictions.js";
import { type KeysForFaults, keysForFaults, keysForFaultsOfSteps } from "./keys-for-faults.js";
import { checkOutcome } from "./outcome-rules.js";
import { checkRef } from "./ref-rules.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";
import { whyNeverMatches } from "./unmatched-faults.js";

/** What faults are compared with: a scenario as it starts, one of its steps, or a running sandbox. */
interface FaultContext {
  readonly refs: RuleInput["refs"];
  readonly keys: KeysForFaults;
  readonly endpoints: Scenario["endpoints"];
  /** When the faults become active, from where their durations count. */
  readonly now: StartTime;
}

/** The faults of a scenario and of its steps can match requests, and their effects fit together. */
export const noUselessFaults: ScenarioRule = (input) => {
  const { scenario, refs, start, addProblem } = input;
  const { timeline = [], story = [], endpoints } = scenario;
  const keys = keysForFaults(input);
  const atStart: FaultContext = { refs, keys, endpoints, now: start };
  checkFaultsWithKeys(scenario.faults, atStart, addProblem);

  // Whether the key of a fault in a step exists is a rule of steps (`checks/step-rules.ts`): another step may create the key.
  const inSteps: FaultContext = { ...atStart, keys: keysForFaultsOfSteps(input, keys) };
  for (const [index, { at, faults = [] }] of timeline.entries()) {
    const now = timeOfStep(at, start);
    for (const [position, fault] of faults.entries()) {
      checkFault(fault, ["timeline", index, "faults", position], { ...inSteps, now }, addProblem);
    }
  }
  for (const [index, { faults = [] }] of story.entries()) {
    for (const [position, fault] of faults.entries()) {
      const field = ["story", index, "faults", position];
      // Only a run shows when a story gets to its step.
      checkFault(fault, field, { ...inSteps, now: "unknown" }, addProblem);
    }
  }
};

/** When a step of the timeline runs. */
function timeOfStep(at: string, start: StartTime): StartTime {
  if (start !== "unknown") return timeFrom(start, at);
  // Of a duration from an unknown start, the end is unknown, too.
  return parseTime(at) ?? "unknown";
}

/** The problems of faults that a running sandbox is to get. */
export function faultProblems(faults: readonly FaultFields[], context: FaultContext): FieldProblem[] {
  const problems: FieldProblem[] = [];
  checkFaultsWithKeys(faults, context, addingTo(problems));
  return problems;
}

/** Checks faults that are in the field `faults`, and whether their keys exist. */
function checkFaultsWithKeys(
  faults: readonly FaultFields[] = [],
  context: FaultContext,
  addProblem: AddProblem,
): void {
  for (const [index, fault] of faults.entries()) {
    const field = ["faults", index];
    checkRef("key", fault.when?.key, [...field, "when", "key"], context.refs, addProblem);
    checkFault(fault, field, context, addProblem);
  }
}

/** Checks a fault, except whether its key exists. */
function checkFault(
  fault: FaultFields,
  faultField: FieldPath,
  context: FaultContext,
  addProblem: AddProblem,
): void {
  const { refs, keys, endpoints, now } = context;
  const { organization, outcome } = fault.when ?? {};
  checkRef("organization", organization, [...faultField, "when", "organization"], refs, addProblem);
  checkOutcome(outcome, [...faultField, "when", "outcome"], endpoints, addProblem);

  const contradictions = [
    whyEndsBeforeStart(fault, now),
    whyDelaySwapped(fault),
    whyEffectsExclude(fault),
    whyNeverMatches(fault, keys, endpoints),
  ];
  for (const contradiction of contradictions) {
    if (contradiction === undefined) continue;
    const { field, message, hint } = contradiction;
    addProblem({ code: "fault_contradiction", field: [...faultField, ...field], message, hint });
  }
}
