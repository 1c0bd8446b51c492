import { bundledScenarios, scenarioNames } from "../scenario/bundled.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** Whether there is something to tell. */
export function hasStory({ story = [] }: Scenario): boolean {
  return story.length > 0;
}

/** The names of the bundled scenarios that have a story. */
export function bundledWithStory(): string[] {
  return scenarioNames.filter((name) => hasStory(bundledScenarios[name]));
}
