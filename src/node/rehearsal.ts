import { rehearse } from "../library/rehearse.js";
import type { GivenOptions } from "../sandbox/runtime.js";
import type { FoundPlace } from "../scenario/parse-scenario.js";
import { type Path, pathText, type ScenarioProblem } from "../scenario/problems/scenario-error.js";
import type { LoadedScenario } from "./files/load-scenario.js";
import { openWorld } from "./platform.js";

/** The largest number of failed steps that are reported of one rehearsal. */
const mostProblems = 20;

/**
 * Runs the timeline and the story of a scenario and returns the steps that do not come out as they say.
 *
 * `placeOf` finds the place of a field in the scenario's text.
 */
export async function rehearsalProblems(
  { scenario, name }: Pick<LoadedScenario, "scenario" | "name">,
  placeOf: (path: Path) => FoundPlace | undefined | Promise<FoundPlace | undefined>,
  given: GivenOptions = {},
): Promise<ScenarioProblem[]> {
  if (scenario.timeline === undefined && scenario.story === undefined) return [];
  const failed = rehearse(() => openWorld(scenario, { name, ...given, frozen: true }));
  return Promise.all(
    failed.slice(0, mostProblems).map(async ({ code, path, message, hint }) => {
      const { file = name, ...place } = (await placeOf(path)) ?? {};
      return { code, path: pathText(path), message, ...(hint !== undefined && { hint }), file, ...place };
    }),
  );
}
