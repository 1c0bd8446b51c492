import { starterOf } from "../../library/create-sandbox.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { bundledScenarios, isScenarioName, scenarioNames, scenarioNotFound } from "../../scenario/bundled.js";
import { parseScenario } from "../../scenario/parse-scenario.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { nodePlatform } from "../platform.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";

/** Which scenario runs. */
export const scenarioCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/scenarios",
    summary: "The bundled scenarios",
    status: 200,
    answer: inData.list("Scenario"),
    run: () => ({
      data: scenarioNames.map((name) => {
        const { name: title = name, description = "" } = bundledScenarios[name];
        return { name, title, description };
      }),
    }),
  }),
  controlCall({
    method: "PUT",
    path: "/scenario",
    summary: "Starts another scenario: a bundled one by name, or one sent as YAML (application/yaml)",
    body: "scenario_choice",
    status: 200,
    answer: inData.one("Running"),
    run({ runtime, body: { name } }) {
      if (!isScenarioName(name)) throw scenarioNotFound(name, "it is not a bundled one");
      return startScenario(runtime, bundledScenarios[name], name);
    },
    runYaml({ runtime, body }) {
      const scenario = parseScenario(body, { file: "request body" });
      return startScenario(runtime, scenario, scenario.name ?? "unnamed");
    },
  }),
  controlCall({
    method: "POST",
    path: "/reset",
    summary: "Starts the running scenario again",
    body: "nothing",
    status: 200,
    answer: inData.one("Running"),
    run({ runtime }) {
      runtime.reset();
      return running(runtime);
    },
  }),
];

/** Puts a new world of a checked scenario in the place of the one that runs; what the runtime was given goes on to hold. */
function startScenario(runtime: Runtime, scenario: Scenario, name: string): unknown {
  runtime.exchange(starterOf(nodePlatform, scenario, { ...runtime.given, name }));
  return running(runtime);
}

function running(runtime: Runtime): unknown {
  const { name, seed, clock } = runtime.world();
  return { data: { scenario: name, seed, now: new Date(clock.now()).toISOString() } };
}
