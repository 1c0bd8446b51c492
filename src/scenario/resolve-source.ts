import { bundledScenarios, isScenarioName, type ScenarioName } from "./bundled.js";
import { checkScenario } from "./check-scenario.js";
import type { Scenario } from "./scenario.generated.js";
import { scenarioNotFound } from "./scenario-not-found.js";

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
