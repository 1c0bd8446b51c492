import { bundledScenarios, isScenarioName, scenarioNames } from "./bundled.js";
import { interpretScenario } from "./interpret-scenario.js";
import { readPlain } from "./read-plain.js";
import type { FoundScenario } from "./resolve-extends.js";
import type { Scenario } from "./scenario.generated.js";

/**
 * Checks a scenario given as a value and lays the bundled scenario that it extends under it; problems name the field.
 *
 * Throws a `ScenarioError` that holds all problems; to have more than `mostValues` values (default: 100,000) is one.
 * Does not change the value. Unlike `parse-scenario.ts` this does not load the YAML reader.
 */
export function checkScenario(value: unknown, { mostValues }: { mostValues?: number } = {}): Scenario {
  return interpretScenario((findings) => readPlain(value, findings, mostValues), undefined, {
    find: (name) => (isScenarioName(name) ? foundValue(bundledScenarios[name]) : undefined),
    knownNames: scenarioNames,
  });
}

/** A scenario value, for one that extends it. */
export function foundValue(value: Scenario): FoundScenario {
  return { file: undefined, read: (findings) => readPlain(value, findings) };
}
