import { bundledScenarios, type ScenarioName } from "./bundled.js";
import type { Scenario } from "./scenario.generated.js";
import { storyTexts } from "./stories.generated.js";

/** A bundled scenario with its story. The library does not load stories, and so a page does not either. */
export function withStory(name: ScenarioName): Scenario {
  return { ...bundledScenarios[name], story: JSON.parse(storyTexts[name]) };
}
