import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";

/** The bundled scenarios without faults: in these, every request gets the API's own answer. */
export const answeringScenarios = (Object.entries(bundledScenarios) as [ScenarioName, Scenario][])
  .filter(([, { faults }]) => faults === undefined)
  .map(([name]) => name);
