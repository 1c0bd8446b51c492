import {
  bundledScenarios,
  isScenarioName,
  type ScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "./bundled.js";
import { interpretScenario } from "./interpret-scenario.js";
import type { FoundScenario } from "./read/extends.js";
import { readPlain } from "./read/plain.js";
import type { Scenario } from "./scenario.generated.js";

/** A scenario and what people call it. */
export interface NamedScenario {
  readonly scenario: Scenario;
  readonly name: string;
}

/** The bundled scenario of a name, or a checked scenario value; throws `scenario_not_found` or a `ScenarioError`. */
export function resolveSource(source: ScenarioName | Scenario): NamedScenario {
  if (typeof source !== "string") {
    const scenario = checkScenario(source);
    return { scenario, name: scenario.name ?? "unnamed" };
  }
  if (isScenarioName(source)) return { scenario: bundledScenarios[source], name: source };
  throw scenarioNotFound(source, "it is not a bundled one");
}

/**
 * Checks a scenario given as a value and lays it over the bundled scenario that it extends; problems name the field.
 *
 * Throws a `ScenarioError` that holds all problems; to have more than `mostValues` values (default: 100,000) is one.
 * Does not change the value. Unlike `parse-scenario.ts` this does not load the YAML reader.
 */
export function checkScenario(value: unknown, { mostValues }: { mostValues?: number } = {}): Scenario {
  return interpretScenario(foundValue(value, mostValues), {
    find: (name) => (isScenarioName(name) ? foundValue(bundledScenarios[name]) : undefined),
    knownNames: scenarioNames,
  });
}

/** A scenario value, to be read. */
export function foundValue(value: unknown, mostValues?: number): FoundScenario {
  return {
    file: undefined,
    read(report) {
      const fields = readPlain(value, report, mostValues);
      return fields && { fields, placeOf: () => ({ place: undefined, depth: 0 }) };
    },
  };
}
