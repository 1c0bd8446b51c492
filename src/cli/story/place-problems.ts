import { placeInScenario } from "../../node/place-in-scenario.js";
import { type StepProblem, stepProblems } from "../../sandbox/story/differences.js";
import type { StepResult } from "../../sandbox/story/story.js";
import type { FoundPlace } from "../../scenario/parse-scenario.js";

/** A problem of a step, and where it stands. */
export interface PlacedProblem extends StepProblem {
  /** `undefined` when no file of the user's holds it. */
  readonly place: FoundPlace | undefined;
}

/** The problems of a step with their places in the file of its scenario. */
export function placeProblems(result: StepResult, scenario: string, cwd: string): Promise<PlacedProblem[]> {
  return Promise.all(
    stepProblems(result).map(async (one) => ({
      ...one,
      place: await placeInScenario(scenario, one.path, cwd),
    })),
  );
}
