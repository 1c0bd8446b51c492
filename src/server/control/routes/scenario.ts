import type { SandboxState, StartOptions } from "../../../sandbox/sandbox-state.js";
import { secretsByRef, secretsOfNoKey } from "../../../sandbox/secrets.js";
import { checkedReplacement, replaceScenario, restartSandbox } from "../../../sandbox/start-sandbox.js";
import {
  bundledScenarios,
  isScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "../../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../../scenario/format/scenario-json-schema.js";
import type { ScenarioProblem } from "../../../scenario/problems.js";
import type { NamedScenario } from "../../../scenario/scenario-source.js";
import { withStory } from "../../../scenario/stories.js";
import { readValue, type WrittenScenario } from "../../../scenario/written-scenario.js";
import { problemsByField } from "../control-errors.js";
import type { ControlServer } from "../control-server.js";
import type { Route } from "../route.js";
import { controlRoute, dataRoute } from "../route-rows.js";
import { problemsInSent, startWarnings } from "../sent-problems.js";
import { readSentScenario, requireStartable } from "../sent-scenario.js";
import { isRunning, runningText } from "./running-scenario.js";
import { scenarioSummary } from "./sandbox.js";

export const scenarioRoutes: readonly Route[] = [
  dataRoute("GET /scenarios", {
    summary: "The scenario that the sandbox was started with, and the bundled ones",
    run({ sandbox }, { server }) {
      const started = server.startedScenario();
      const listedScenarios: NamedScenario[] = [started];
      for (const name of scenarioNames) {
        if (name !== started.name) listedScenarios.push({ name, scenario: bundledScenarios[name] });
      }
      return listedScenarios.map((listed) => viewListedScenario(listed, started, sandbox));
    },
  }),
  controlRoute("GET /scenario", {
    summary: "The running scenario as YAML, with its pinned keys hidden",
    async run({ sandbox }) {
      return { kind: "text", type: "application/yaml", text: await runningText(sandbox) };
    },
  }),
  dataRoute("PUT /scenario", {
    summary:
      "Starts a bundled scenario by name, the one that the sandbox was started with, or one sent as application/yaml",
    body: "scenario_choice",
    run: ({ sandbox, body }, { server }) => startNamed(sandbox, body.name, server),
    runYaml: ({ sandbox, body }) => startSent(sandbox, body),
  }),
  dataRoute("POST /reset", {
    summary:
      "Restarts the running scenario or starts another one, with the given options; with the keys, if a scenario or a seed is given",
    body: "sandbox_options",
    run({ sandbox, body }, { server }) {
      const { scenario, ...options } = body;
      if (scenario === undefined) {
        restartSandbox(sandbox, options);
        const summary = summarizeStart(sandbox);
        // With the same seed, the keys are those from before.
        return options.seed === undefined ? summary : withAllSecrets(summary, sandbox);
      }
      if (typeof scenario === "string") {
        return withAllSecrets(startNamed(sandbox, scenario, server, options), sandbox);
      }
      return withAllSecrets(startSent(sandbox, readValue(scenario), options), sandbox);
    },
  }),
  dataRoute("POST /scenario/validate", {
    summary: "Checks a scenario sent as application/yaml, as `validate` does",
    body: "scenario_text",
    changes: false,
    run: ({ sandbox, body }) => ({
      problems: problemsInSent(readSentScenario(body.text), sandbox.startOptions),
    }),
    runYaml: ({ sandbox, body }) => ({ problems: problemsInSent(body, sandbox.startOptions) }),
  }),
  controlRoute("GET /scenario.schema.json", {
    summary: "The JSON Schema of the scenario format",
    run: () => ({ kind: "json", status: 200, json: scenarioJsonSchema(scenarioNames) }),
  }),
];

/** A row of the list of scenarios that a user can start. */
function viewListedScenario(listed: NamedScenario, started: NamedScenario, sandbox: SandboxState) {
  const { name, scenario } = listed;
  return {
    name,
    title: scenario.name ?? name,
    description: scenario.description ?? "",
    startedWith: name === started.name,
    running: isRunning(listed, sandbox),
  };
}

/** Starts the scenario with a name. Throws `scenario_not_found`. */
function startNamed(sandbox: SandboxState, name: string, server: ControlServer, options: StartOptions = {}) {
  const named = namedScenario(name, server.startedScenario());
  replaceScenario(sandbox, checkedReplacement(sandbox, named, options));
  return summarizeStart(sandbox);
}

/** Starts a scenario that was sent, whose name is in it. Throws a `ScenarioError`, or `validation_failed` for too many keys. */
function startSent(sandbox: SandboxState, sent: WrittenScenario, options: StartOptions = {}) {
  const checked = requireStartable(sent);
  const { scenario } = checked;
  const named: NamedScenario = { scenario, name: scenario.name ?? "unnamed", text: sent.text };
  replaceScenario(sandbox, checkedReplacement(sandbox, named, options));
  return summarizeStart(sandbox, startWarnings(checked, sandbox.startOptions));
}

/** The scenario with a name: the one that the sandbox was started with, or a bundled one. Throws `scenario_not_found`. */
function namedScenario(name: string, started: NamedScenario): NamedScenario {
  if (name === started.name) return started;
  if (!isScenarioName(name)) {
    throw scenarioNotFound(name, "it is not a bundled one", { list: "`GET /scenarios`" });
  }
  return { scenario: withStory(name), name };
}

/** What a start results in: the running scenario, and the warnings of a sent one. */
function summarizeStart(sandbox: SandboxState, warnings: readonly ScenarioProblem[] = []) {
  return { ...scenarioSummary(sandbox), warnings: Object.values(problemsByField(warnings)) };
}

/** A summary with all keys of the sandbox, for a client that needs no other call to use them. */
function withAllSecrets(summary: ReturnType<typeof summarizeStart>, sandbox: SandboxState) {
  return { ...summary, keys: { ...secretsByRef(sandbox), ...secretsOfNoKey(sandbox) } };
}
