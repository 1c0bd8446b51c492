import { bundledScenarios, type ScenarioName } from "./bundled.generated.js";

// The scenarios that the package ships, checked and resolved when it was built: no YAML is read at run time.
export { bundledScenarios, type ScenarioName };

/** The names of the bundled scenarios, in alphabetical order. */
export const scenarioNames = Object.keys(bundledScenarios) as readonly ScenarioName[];

/** Whether there is a bundled scenario of this name. */
export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(bundledScenarios, name);
}
