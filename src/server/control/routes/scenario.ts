import { isDeepStrictEqual } from "node:util";
import { scenarioWarnings } from "../../../node/dry-run.js";
import { readBundledScenario } from "../../../node/package-files.js";
import { SandboxError } from "../../../rules/errors.js";
import type { SandboxState, StartOptions } from "../../../sandbox/sandbox-state.js";
import { secretsByRef, secretsOfNoKey } from "../../../sandbox/secrets.js";
import {
  prepareReplacement,
  prepareStart,
  replaceScenario,
  restartSandbox,
} from "../../../sandbox/start-sandbox.js";
import { viewClock } from "../../../sandbox/views.js";
import {
  bundledScenarios,
  isScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "../../../scenario/bundled.js";
import { scenarioLimits } from "../../../scenario/format/fields.js";
import { scenarioJsonSchema } from "../../../scenario/format/scenario-json-schema.js";
import { type CheckedScenario, interpretScenario } from "../../../scenario/interpret.js";
import { listedKeys, populationOf } from "../../../scenario/keys.js";
import { showPlace, showProblems } from "../../../scenario/places.js";
import { ScenarioError, type ScenarioProblem } from "../../../scenario/problems.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import { bundledOnly, type NamedScenario } from "../../../scenario/scenario-source.js";
import { withStory } from "../../../scenario/stories.js";
import { readValue, type WrittenScenario } from "../../../scenario/written-scenario.js";
import { readYaml, yamlText } from "../../../scenario/yaml/read-yaml.js";
import { isMapping } from "../../../schema/type-tag.js";
import { problemsByField } from "../control-errors.js";
import { type ControlServer, controlRoute, dataResult, type Route } from "../route.js";

export const scenarioRoutes: readonly Route[] = [
  controlRoute("GET /scenarios", {
    summary: "The scenario that the sandbox was started with, and the bundled ones",
    run({ sandbox, server }) {
      const started = server.startedScenario();
      const listedScenarios: NamedScenario[] = [started];
      for (const name of scenarioNames) {
        if (name !== started.name) listedScenarios.push({ name, scenario: bundledScenarios[name] });
      }
      return dataResult(listedScenarios.map((one) => viewListedScenario(one, started, sandbox)));
    },
  }),
  controlRoute("GET /scenario", {
    summary: "The running scenario as YAML, with its pinned keys hidden",
    async run({ sandbox }) {
      return { kind: "text", type: "application/yaml", text: await runningText(sandbox) };
    },
  }),
  controlRoute("PUT /scenario", {
    summary:
      "Starts a bundled scenario by name, the one that the sandbox was started with, or one sent as application/yaml",
    body: "scenario_choice",
    acceptsYaml: true,
    run({ sandbox, body, yaml, server }) {
      if (yaml === undefined) return dataResult(startNamed(sandbox, body.name, server));
      return dataResult(startSent(sandbox, readSentScenario(yaml)));
    },
  }),
  controlRoute("POST /reset", {
    summary:
      "Restarts the running scenario or starts another one, with the given options; with the keys, if a scenario or a seed is given",
    body: "sandbox_options",
    showsSecret: true,
    run({ sandbox, body, server }) {
      const { scenario, ...options } = body;
      let summary: ReturnType<typeof summarizeStart>;
      if (scenario === undefined) {
        restartSandbox(sandbox, options);
        summary = summarizeStart(sandbox);
        // With the same seed, the keys are those from before.
        if (options.seed === undefined) return dataResult(summary);
      } else if (typeof scenario === "string") {
        summary = startNamed(sandbox, scenario, server, options);
      } else {
        summary = startSent(sandbox, readValue(scenario), options);
      }
      // The client needs no other call to use the keys.
      return dataResult({ ...summary, keys: { ...secretsByRef(sandbox), ...secretsOfNoKey(sandbox) } });
    },
  }),
  controlRoute("POST /scenario/validate", {
    summary: "Checks a scenario sent as application/yaml, as `validate` does",
    body: "scenario_text",
    changes: false,
    acceptsYaml: true,
    run: ({ sandbox, body, yaml = body.text }) => dataResult(problemsInSent(sandbox, yaml)),
  }),
  controlRoute("GET /scenario.schema.json", {
    summary: "The JSON Schema of the scenario format",
    run: () => ({ kind: "json", status: 200, json: scenarioJsonSchema(scenarioNames) }),
  }),
];

/** A row of the list of scenarios that a user can start. */
function viewListedScenario(listed: NamedScenario, started: NamedScenario, sandbox: SandboxState) {
  const { name, scenario, text } = listed;
  return {
    name,
    title: scenario.name ?? name,
    description: scenario.description ?? "",
    startedWith: name === started.name,
    // A sent scenario may have the name of another one, but has keys of its own.
    running:
      sandbox.name === name &&
      sandbox.text === text &&
      isDeepStrictEqual(sandbox.scenario.organizations, scenario.organizations),
  };
}

/** Starts the scenario with a name: the one that the sandbox was started with, or a bundled one. Throws `scenario_not_found`. */
function startNamed(sandbox: SandboxState, name: string, server: ControlServer, options: StartOptions = {}) {
  let named = server.startedScenario();
  if (name !== named.name) {
    if (!isScenarioName(name)) {
      throw scenarioNotFound(name, "it is not a bundled one", { list: "`GET /scenarios`" });
    }
    named = { scenario: withStory(name), name };
  }
  replaceScenario(sandbox, prepareReplacement(sandbox, named, options));
  return summarizeStart(sandbox);
}

/** Starts a scenario that was sent, whose name is in it. Throws a `ScenarioError`, or `validation_failed` for too many keys. */
function startSent(sandbox: SandboxState, sent: WrittenScenario, options: StartOptions = {}) {
  const checked = requireStartable(sent);
  const { scenario, locate } = checked;
  const source = { scenario, name: scenario.name ?? "unnamed", text: sent.text, locate };
  replaceScenario(sandbox, prepareReplacement(sandbox, source, options));
  return summarizeStart(sandbox, startWarnings(checked, sandbox.startOptions));
}

/** The running scenario in three members. */
export function scenarioSummary({ name, seed, clock }: SandboxState) {
  return { scenario: name, seed, now: viewClock(clock).now };
}

/** What a start results in: the running scenario, and the warnings of a sent one. */
function summarizeStart(sandbox: SandboxState, warnings: readonly ScenarioProblem[] = []) {
  return { ...scenarioSummary(sandbox), warnings: Object.values(problemsByField(warnings)) };
}

/** The running scenario as YAML: as it was written with its comments, if possible. Its keys are hidden where it is sent. */
async function runningText(sandbox: SandboxState): Promise<string> {
  const { scenario } = sandbox;
  const original = sandbox.text ?? (await bundledText(sandbox));
  if (original === undefined) return yamlText(scenario);

  // In YAML, a secret can also be written with escapes, which `redact` does not read.
  const pinsKey = [...listedKeys(scenario)].some(({ fields }) => fields.secret !== undefined);
  const mayHideSecret = original.includes("\\") && pinsKey;
  return mayHideSecret ? yamlText(scenario) : original;
}

/** The text of the bundled scenario that runs with the options of the server's start; `undefined` for any other scenario, and any other options. */
async function bundledText(sandbox: SandboxState): Promise<string | undefined> {
  const { name, startOptions, platform } = sandbox;
  if (!isScenarioName(name)) return undefined;
  const source: NamedScenario = { name, scenario: bundledScenarios[name] };
  const asStarted = prepareStart({ source, options: startOptions, platform }).scenario;
  // With or without its story. After a reset with another seed, the text would show the seed from before.
  const withoutStory = (scenario: Scenario) => ({ ...scenario, story: undefined });
  const isSame = isDeepStrictEqual(withoutStory(sandbox.scenario), withoutStory(asStarted));
  return isSame ? readBundledScenario(name) : undefined;
}

// A scenario that a client sends, as YAML or as a value. It may extend only bundled scenarios, and has a limit of keys.

/** The name of a sent scenario in messages, where others have the name of their file. */
const sentFile = "request body";

/** Reads a scenario in YAML; its check comes later. */
function readSentScenario(text: string): WrittenScenario {
  return readYaml(text, sentFile);
}

/** Checks a sent scenario that is to be started. Throws a `ScenarioError`, or `validation_failed` for too many keys. */
function requireStartable(sent: WrittenScenario): CheckedScenario {
  // A large population is rejected before its check, which would take long.
  requireSize(sizeOfPopulation(sent.fields?.population));

  const checked = interpretScenario(sent, bundledOnly);
  // The listed keys count, too.
  const { scenario } = checked;
  requireSize([...listedKeys(scenario)].length + sizeOfPopulation(scenario.population));
  return checked;
}

/** The keys of a population, and its organizations without keys, which take as long. It may have any form: one without numbers creates nothing, because its check rejects it. */
function sizeOfPopulation(population: unknown): number {
  if (!isMapping(population)) return 0;
  const { organizations, keysEach } = populationOf({ population });
  const hasNumbers = typeof organizations === "number" && typeof keysEach === "number";
  return hasNumbers ? organizations * Math.max(1, keysEach) : 0;
}

/** Throws `validation_failed` if the start of a scenario would block the server: a few bytes can create 100,000 keys. */
function requireSize(size: number): void {
  const most = scenarioLimits.keysSent;
  if (size <= most) return;
  const message = `the scenario has ${size} keys and organizations without keys, and a sent one at most ${most}. For more, start the server with this scenario.`;
  throw new SandboxError("validation_failed", `Failed to start the scenario: ${message}`, {
    fields: { population: message },
  });
}

/** The warnings of a sent scenario, with their places in the body. */
function startWarnings(checked: CheckedScenario, startOptions: StartOptions): ScenarioProblem[] {
  const { scenario, locate } = checked;
  const warnings = scenarioWarnings({ scenario, name: sentFile }, startOptions);
  return showProblems(Object.values(warnings).flat(), { locate, file: sentFile });
}

/** What `validate` shows of a sent scenario: its errors, or its warnings if it has none. */
function problemsInSent(sandbox: SandboxState, text: string) {
  const sent = readSentScenario(text);
  let checked: CheckedScenario;
  try {
    checked = requireStartable(sent);
  } catch (error) {
    if (error instanceof ScenarioError) {
      return { problems: error.problems.map((problem) => problemInText("error", problem)) };
    }
    const isTooLarge = error instanceof SandboxError && error.code === "validation_failed";
    if (!isTooLarge) throw error;
    const place = sent.locate(["population"]);
    const shownPlace = { file: sentFile, ...(place && showPlace(place)) };
    return { problems: [problemInText("error", { message: error.message, ...shownPlace })] };
  }

  const warnings = startWarnings(checked, sandbox.startOptions);
  return { problems: warnings.map((problem) => problemInText("warning", problem)) };
}

/** A problem with its place in the body, counted from 1. An error keeps the scenario from starting. */
function problemInText(
  level: "error" | "warning",
  problem: Pick<ScenarioProblem, "message" | "hint" | "file" | "line" | "column">,
) {
  const { message, hint = null, file } = problem;
  // A problem of an extended scenario is not in the body.
  const { line = null, column = null } = file === sentFile ? problem : {};
  return { line, column, level, message, hint };
}
