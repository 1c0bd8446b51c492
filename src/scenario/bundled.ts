import { SandboxError } from "../domain/errors.js";
import { bundledScenarios, type ScenarioName } from "./bundled.generated.js";
import { didYouMean, quote } from "./problems/words.js";

// The scenarios that the package ships, checked and resolved when it was built: no YAML is read at run time.
export { bundledScenarios, type ScenarioName };

/** The names of the bundled scenarios, in alphabetical order. */
export const scenarioNames = Object.keys(bundledScenarios) as readonly ScenarioName[];

/** Whether there is a bundled scenario of this name. */
export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(bundledScenarios, name);
}

/** The refusal of a name that leads to no scenario, with the nearest name that does. */
export function scenarioNotFound(given: string, why: string): SandboxError {
  return new SandboxError(
    "scenario_not_found",
    `Failed to find the scenario ${quote(given)}: ${why}.${didYouMean(given, scenarioNames)} \`svc-sandbox list\` shows the bundled ones.`,
    { given, known: scenarioNames },
  );
}
