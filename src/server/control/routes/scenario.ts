import { isDeepStrictEqual } from "node:util";
import { dryRunProblems } from "../../../node/dry-run.js";
import { readBundledScenario } from "../../../node/package-files.js";
import { startInNode } from "../../../node/platform.js";
import { SandboxError } from "../../../rules/errors.js";
import { redactKeys } from "../../../rules/redact.js";
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
import { runningSummary } from "./sandbox.js";

/** The name of a sent scenario in messages, where others have the name of their file. */
const sentFile = "request body";

/** Reads the scenario in a body; its check comes later. */
export function sentScenario(text: string): WrittenScenario {
  return readYaml(text, sentFile);
}

export const scenarioRoutes: readonly Route[] = [
  controlRoute("GET /scenarios", {
    summary: "The scenario that the sandbox was started with, and the bundled ones",
    run({ sandbox }, { server }) {
      const started = server.startedScenario();
      const listed = [listedScenario(started, sandbox, true)];
      for (const name of scenarioNames) {
        if (name === started.name) continue;
        listed.push(listedScenario({ name, scenario: bundledScenarios[name] }, sandbox, false));
      }
      return listed;
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
    run({ sandbox, body }, { server }) {
      restartSandbox(sandbox, {}, scenarioToStart(body.name, server.startedScenario()));
      return runningSummary(sandbox);
    },
    runYaml({ sandbox, body }) {
      const { scenario, placeOf, spelling } = checkSent(body);
      restartSandbox(sandbox, {}, { scenario, name: scenario.name ?? "unnamed", text: body.text });
      const summary = runningSummary(sandbox);

      const failing = dryRunProblems({ scenario, name: sentFile }, sandbox.startOptions);
      const found = [...failing, ...unheldScopes(scenario), ...shortenedDecimals(scenario, spelling)];
      const warnings = scenarioFields(problemsAt(found, placeOf, sentFile));
      return { ...summary, warnings: Object.values(warnings) };
    },
  }),
  controlRoute("POST /reset", {
    summary:
      "Restarts the running scenario or starts another one, with the given options; with the keys, if a scenario or a seed is given",
    body: "sandbox_options",
    run({ sandbox, body }, { server }) {
      const { scenario, now, ...unchanged } = body;
      const options = { ...unchanged, ...(now !== undefined && { now: parseTime(now) }) };

      if (scenario === undefined) {
        restartSandbox(sandbox, options);
      } else {
        const source = scenarioToStart(scenario, server.startedScenario());
        if (typeof scenario !== "string") requireFewKeys(source.scenario);
        restartSandbox(sandbox, options, source);
      }

      const summary = runningSummary(sandbox);
      const hasOtherKeys = scenario !== undefined || options.seed !== undefined;
      return hasOtherKeys ? { ...summary, keys: secretsForClients(sandbox) } : summary;
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

/** Checks a sent scenario, which may extend only bundled ones. */
function checkSent(sent: WrittenScenario) {
  // Before the check, as checking a large population takes long.
  const population = sent.scenario?.fields.population;
  if (isMapping(population)) requireFewKeys({ version: 1, population: population as object });

  const checked = interpretScenario(sent, bundledOnly);
  requireFewKeys(checked.scenario);
  return checked;
}

/** Throws `validation_failed` for a scenario whose start would block the server: a few bytes can create 100,000 keys. */
export function requireFewKeys(scenario: Scenario): void {
  const amount = keysIn(scenario);
  // Before its check, a population may have anything, so that the amount may be no number.
  const isTooMany = amount > scenarioLimits.keysSent;
  if (!isTooMany) return;
  const message = `the scenario has ${amount} keys, and a sent one at most ${scenarioLimits.keysSent}. For more, start the server with this scenario.`;
  throw new SandboxError("validation_failed", `Failed to start the scenario: ${message}`, {
    fields: { population: message },
  });
}

/** A row of the list of scenarios. */
function listedScenario(named: NamedScenario, sandbox: SandboxState, startedWith: boolean) {
  const { name, scenario, text } = named;
  const title = scenario.name ?? name;
  const description = scenario.description ?? "";
  const running = sandbox.name === name && sandbox.text === text;
  return { name, title, description, startedWith, running };
}

/** A bundled scenario, the one that the sandbox was started with, or a sent one. */
function scenarioToStart(
  sent: string | Readonly<Record<string, unknown>>,
  started: NamedScenario,
): NamedScenario {
  if (sent === started.name) return started;
  if (typeof sent !== "string") return resolveSource(sent as unknown as Scenario); // it checks a value
  if (!isScenarioName(sent)) {
    throw scenarioNotFound(sent, "it is not a bundled one", { list: "`GET /scenarios`" });
  }
  return { scenario: withStory(sent), name: sent };
}

type Found = Pick<ScenarioProblem, "message" | "hint" | "line" | "column"> & { file?: string | undefined };

/** The errors of a sent scenario, or its warnings if it has none. */
function problemsInSent(sent: WrittenScenario, startOptions: StartOptions) {
  try {
    const warnings = warningsOfSent(sent, startOptions);
    return warnings.map((problem) => shownProblem(problem, "warning"));
  } catch (error) {
    if (error instanceof ScenarioError) {
      return error.problems.map((problem) => shownProblem(problem, "error"));
    }
    if (!(error instanceof SandboxError)) throw error;
    // It has too many keys.
    const place = sent.scenario && placeIn(sent.scenario, ["population"]);
    return [shownProblem({ message: error.message, ...place }, "error")];
  }
}

function warningsOfSent(sent: WrittenScenario, startOptions: StartOptions): ScenarioProblem[] {
  const { scenario, placeOf, spelling } = checkSent(sent);
  const warnings = [
    ...dryRunProblems({ scenario, name: sentFile }, startOptions),
    ...unmarkedSecrets(scenario),
    ...unheldScopes(scenario),
    ...shortenedDecimals(scenario, spelling),
  ];
  return problemsAt(warnings, placeOf, sentFile);
}

/** An error keeps the scenario from starting. The place is counted from 1, and `null` for the whole scenario. */
function shownProblem(problem: Found, level: "error" | "warning") {
  const { message, hint = null, file = sentFile } = problem;
  // A problem in an extended scenario has no place here.
  if (file !== sentFile) return { line: null, column: null, level, message, hint };
  const { line = null, column = null } = problem;
  return { line, column, level, message, hint };
}

/** The original text with its comments if known. Every key in it is cut after its prefix. */
async function runningText(sandbox: SandboxState): Promise<string> {
  const text = sandbox.text ?? (await bundledText(sandbox));
  if (text !== undefined && showsPinnedSecrets(text, sandbox.scenario)) return redactKeys(text);
  return redactKeys(yamlText(sandbox.scenario));
}

/** YAML can escape a key so that the text does not contain it, and nothing would cut it. */
function showsPinnedSecrets(text: string, scenario: Scenario): boolean {
  for (const { fields } of writtenKeys(scenario)) {
    if (fields.secret !== undefined && !text.includes(fields.secret)) return false;
  }
  return true;
}

/** The text of a bundled scenario that runs unchanged: the user's own scenario may have its name. */
async function bundledText({ name, scenario, startOptions }: SandboxState): Promise<string | undefined> {
  if (!isScenarioName(name)) return undefined;
  const unchanged = startInNode(withStory(name), { name, ...startOptions }).scenario;
  const isUnchanged = isDeepStrictEqual(withoutStory(scenario), withoutStory(unchanged));
  return isUnchanged ? readBundledScenario(name) : undefined;
}

function withoutStory({ story: _, ...scenario }: Scenario): Omit<Scenario, "story"> {
  return scenario;
}

/** How many keys a scenario creates. */
function keysIn(scenario: Scenario): number {
  const { organizations, keysEach } = populationOf(scenario);
  return [...writtenKeys(scenario)].length + organizations * Math.max(1, keysEach);
}
