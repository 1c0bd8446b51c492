import { isDeepStrictEqual } from "node:util";
import { dryRunProblems } from "../../../node/dry-run.js";
import { readBundledScenario } from "../../../node/package-files.js";
import { startInNode } from "../../../node/platform.js";
import { SandboxError } from "../../../rules/errors.js";
import { redactKeys } from "../../../rules/redact.js";
import type { Members } from "../../../rules/schema/problem.js";
import { isMapping } from "../../../rules/schema/shape.js";
import { parseTime } from "../../../rules/time.js";
import type { SandboxState, StartOptions } from "../../../sandbox/sandbox-state.js";
import { secretsForClients } from "../../../sandbox/secrets.js";
import { restartSandbox } from "../../../sandbox/start-sandbox.js";
import {
  bundledScenarios,
  isScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "../../../scenario/bundled.js";
import { writtenKeys } from "../../../scenario/described-keys.js";
import { scenarioLimits } from "../../../scenario/format/fields.js";
import { scenarioJsonSchema } from "../../../scenario/format/scenario-json-schema.js";
import { interpretScenario } from "../../../scenario/interpret.js";
import { bundledOnly, type NamedScenario, resolveSource } from "../../../scenario/parse-scenario.js";
import { populationOf } from "../../../scenario/population.js";
import { problemsAt, ScenarioError, type ScenarioProblem } from "../../../scenario/problems.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import { withStory } from "../../../scenario/stories.js";
import { shortenedDecimals, unheldScopes, unmarkedSecrets } from "../../../scenario/warnings.js";
import { placeIn, type WrittenScenario } from "../../../scenario/written-scenario.js";
import { readYaml, yamlText } from "../../../scenario/yaml.js";
import { scenarioFields } from "../control-errors.js";
import { controlRoute, jsonResponse, type Route, textResponse } from "../route.js";
import { running } from "./sandbox.js";

const file = "request body";

export function sentScenario(text: string): WrittenScenario {
  return readYaml(text, file);
}

export const scenarioRoutes: readonly Route[] = [
  controlRoute("GET /scenarios", {
    summary: "The scenario that the sandbox was started with, and the bundled ones",
    run({ sandbox }, { server }) {
      const first = server.startedScenario();
      const bundledNames = scenarioNames.filter((name) => name !== first.name);
      return [
        listedScenario(first, sandbox, true),
        ...bundledNames.map((name) => listedScenario({ name, scenario: bundledScenarios[name] }, sandbox)),
      ];
    },
  }),
  controlRoute("GET /scenario", {
    summary: "The running scenario as YAML, with its pinned keys hidden",
    run: async ({ sandbox }) => textResponse("application/yaml", await runningText(sandbox)),
  }),
  controlRoute("PUT /scenario", {
    summary:
      "Starts a bundled scenario by name, the one that the sandbox was started with, or one sent as application/yaml",
    body: "scenario_choice",
    run({ sandbox, body: { name } }, { server }) {
      restartSandbox(sandbox, {}, scenarioToStart(name, server.startedScenario()));
      return running(sandbox);
    },
    runYaml({ sandbox, body }) {
      const { text } = body;
      const { scenario, placeOf, spelling } = checkSent(body);
      restartSandbox(sandbox, {}, { scenario, name: scenario.name ?? "unnamed", text });
      const started = running(sandbox);
      const failing = dryRunProblems({ scenario, name: file }, sandbox.startOptions);
      const warnings = [...failing, ...unheldScopes(scenario), ...shortenedDecimals(scenario, spelling)];
      return { ...started, warnings: Object.values(scenarioFields(problemsAt(warnings, placeOf, file))) };
    },
  }),
  controlRoute("POST /reset", {
    summary:
      "Restarts the running scenario or starts another one, with the given options; with the keys, if a scenario or a seed is given",
    body: "sandbox_options",
    run({ sandbox, body: { scenario, now, ...body } }, { server }) {
      const options = { ...body, ...(now !== undefined && { now: parseTime(now) }) };
      if (scenario !== undefined) {
        const source = scenarioToStart(scenario, server.startedScenario());
        if (typeof scenario !== "string") requireFewKeys(source.scenario);
        restartSandbox(sandbox, options, source);
      } else {
        restartSandbox(sandbox, options);
      }
      const hasOtherKeys = scenario !== undefined || options.seed !== undefined;
      return { ...running(sandbox), ...(hasOtherKeys && { keys: secretsForClients(sandbox) }) };
    },
  }),
  controlRoute("POST /scenario/validate", {
    summary: "Checks a scenario sent as application/yaml, as `validate` does",
    body: "scenario_text",
    changes: false,
    run: ({ sandbox, body }) => ({ problems: problemsInSent(sentScenario(body.text), sandbox.startOptions) }),
    runYaml: ({ sandbox, body }) => ({ problems: problemsInSent(body, sandbox.startOptions) }),
  }),
  controlRoute("GET /scenario.schema.json", {
    summary: "The JSON Schema of the scenario format",
    run: () => jsonResponse(scenarioJsonSchema(scenarioNames)),
  }),
];

function checkSent(sent: WrittenScenario) {
  requireFewKeys(populationIn(sent.scenario?.fields));
  const checked = interpretScenario(sent, bundledOnly);
  requireFewKeys(checked.scenario);
  return checked;
}

/** The population in unchecked fields: checking a large one takes long. */
function populationIn(fields: Members | undefined): Scenario {
  const { population } = fields ?? {};
  return { version: 1, ...(isMapping(population) && { population: population as object }) };
}

/** Throws `validation_failed` for a scenario whose start would block the server: a few bytes can create 100,000 keys. */
export function requireFewKeys(scenario: Scenario): void {
  const amount = keysIn(scenario);
  // Before its check, a population may have anything.
  if (!(amount > scenarioLimits.keysSent)) return;
  const message = `the scenario has ${amount} keys, and a sent one at most ${scenarioLimits.keysSent}. For more, start the server with this scenario.`;
  throw new SandboxError("validation_failed", `Failed to start the scenario: ${message}`, {
    fields: { population: message },
  });
}

function listedScenario({ name, scenario, text }: NamedScenario, sandbox: SandboxState, startedWith = false) {
  const { name: title = name, description = "" } = scenario;
  const running = sandbox.name === name && sandbox.text === text;
  return { name, title, description, startedWith, running };
}

/** A bundled scenario, the one that the sandbox was started with, or a sent one. */
function scenarioToStart(
  sent: string | Readonly<Record<string, unknown>>,
  first: NamedScenario,
): NamedScenario {
  if (sent === first.name) return first;
  if (typeof sent !== "string") return resolveSource(sent as unknown as Scenario); // it checks a value
  if (!isScenarioName(sent))
    throw scenarioNotFound(sent, "it is not a bundled one", { list: "`GET /scenarios`" });
  return { scenario: withStory(sent), name: sent };
}

type Found = Pick<ScenarioProblem, "message" | "hint" | "line" | "column"> & { file?: string | undefined };

function problemsInSent(sent: WrittenScenario, startOptions: StartOptions) {
  try {
    const { scenario, placeOf, spelling } = checkSent(sent);
    const warnings = [
      ...dryRunProblems({ scenario, name: file }, startOptions),
      ...unmarkedSecrets(scenario),
      ...unheldScopes(scenario),
      ...shortenedDecimals(scenario, spelling),
    ];
    return problemsAt(warnings, placeOf, file).map((problem) => shownProblem(problem, "warning"));
  } catch (error) {
    if (error instanceof ScenarioError)
      return error.problems.map((problem) => shownProblem(problem, "error"));
    if (!(error instanceof SandboxError)) throw error;
    const place = sent.scenario && placeIn(sent.scenario, ["population"]);
    return [shownProblem({ message: error.message, ...place }, "error")];
  }
}

/** An error keeps the scenario from starting. The place is counted from 1, and `null` for the whole scenario. */
function shownProblem({ message, hint, file: found = file, ...place }: Found, level: "error" | "warning") {
  // A problem in an extended scenario has no place here.
  const { line = null, column = null } = found === file ? place : {};
  return { line, column, level, message, hint: hint ?? null };
}

/** The original text with its comments if known. Every key in it is cut after its prefix. */
async function runningText(sandbox: SandboxState): Promise<string> {
  const text = sandbox.text ?? (await bundledText(sandbox));
  const pinned = [...writtenKeys(sandbox.scenario)].flatMap(({ fields: { secret = [] } }) => secret);
  // YAML can escape a key so that the text does not contain it.
  const isPlain = text !== undefined && pinned.every((secret) => text.includes(secret));
  return redactKeys(isPlain ? text : yamlText(sandbox.scenario));
}

// The user's own scenario may have the name of a bundled one.
async function bundledText({ name, scenario, startOptions }: SandboxState) {
  if (!isScenarioName(name)) return undefined;
  const { story: _, ...bundled } = startInNode(withStory(name), { name, ...startOptions }).scenario;
  const { story: __, ...running } = scenario;
  return isDeepStrictEqual(running, bundled) ? readBundledScenario(name) : undefined;
}

function keysIn(scenario: Scenario): number {
  const { organizations, keysEach } = populationOf(scenario);
  return [...writtenKeys(scenario)].length + organizations * Math.max(1, keysEach);
}
