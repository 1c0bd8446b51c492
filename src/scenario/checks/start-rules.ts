import { parseTime } from "../../rules/time.js";
import { readTimeOrDuration } from "../format/times.js";
import { type KeyFields, listedKeys } from "../keys.js";
import { type FieldProblem, ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { keyRulesOfTime } from "./key-rules.js";
import { assumptionsOf } from "./rule-input.js";

// What only the start of the clock shows: the rules of a scenario that does not set its clock could not decide it.

/**
 * The problems of keys whose times are over when the clock starts, or are too far ahead. An example, at a start in 2026:
 * six test keys of one bank with `expires: 2099-01-01T00:00:00Z` are too many (R32).
 */
export function keyProblemsAtStart(scenario: Scenario, startOfClock: number): readonly FieldProblem[] {
  const keys = [...listedKeys(scenario)];
  // Nearly all scenarios have no such key, and tests start them often.
  if (!keys.some(({ fields }) => hasTime(fields))) return [];

  const problems = new ProblemList();
  const input = { keys, assumptions: assumptionsOf(scenario), clockStart: startOfClock, problems };
  for (const rule of keyRulesOfTime) rule(input);
  return problems.found;
}

/** Whether a key ends at a time, and not only after a duration, which counts from any start. */
function hasTime({ expires, overlap_ends }: KeyFields): boolean {
  for (const end of [expires, overlap_ends]) {
    if (end !== undefined && readTimeOrDuration(end).kind === "time") return true;
  }
  return false;
}

/** The problem of the first step that is before the start of the clock, which neither the scenario nor an option sets. */
export function pastStepProblem({ timeline = [] }: Scenario, startOfClock: number): FieldProblem | undefined {
  for (const [index, { at }] of timeline.entries()) {
    const time = parseTime(at);
    if (time === undefined || time >= startOfClock) continue;
    return {
      code: "timeline_order",
      field: ["timeline", index, "at"],
      message: `the step is earlier (${at}) than the start of the clock, which the scenario does not set`,
      hint: "write a later time, or set clock.now",
    };
  }
  return undefined;
}
