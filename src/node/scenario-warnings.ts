import type { StartOptions } from "../sandbox/sandbox-state.js";
import type { ScenarioPlaces } from "../scenario/problems.js";
import type { LoadedScenario } from "../scenario/scenario-source.js";
import { warningsOf } from "../scenario/warnings.js";
import { dryRunProblems } from "./dry-run.js";

/**
 * What a scenario has that is valid and usually a mistake, by its kind: steps that fail, and what `warningsOf` finds in its
 * fields. `spelling` shows how a number is written in the text, because JSON shortens some decimals.
 */
export function scenarioWarnings(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  { spelling }: Pick<ScenarioPlaces, "spelling">,
  startOptions: StartOptions = {},
) {
  const failingSteps = dryRunProblems({ scenario, name }, startOptions);
  return { failingSteps, ...warningsOf(scenario, spelling) };
}
