import { isDeepStrictEqual } from "node:util";
import { readBundledScenario } from "../../../node/package-files.js";
import { scenarioWarnings } from "../../../node/scenario-warnings.js";
import { pluralize } from "../../../report/plain-text.js";
import { SandboxError } from "../../../rules/errors.js";
import { redactKeys } from "../../../rules/redact.js";
import type { SandboxState, StartOptions } from "../../../sandbox/sandbox-state.js";
import { rejectedSecrets, secretsByRef } from "../../../sandbox/secrets.js";
import { checkedStart, restartSandbox, startAnother } from "../../../sandbox/start-sandbox.js";
import {
  bundledScenarios,
  isScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "../../../scenario/bundled.js";
import { writtenKeys } from "../../../scenario/described-keys.js";
import { scenarioLimits } from "../../../scenario/format/fields.js";
import { scenarioJsonSchema } from "../../../scenario/format/scenario-json-schema.js";
import { type CheckedScenario, interpretScenario } from "../../../scenario/interpret.js";
import { bundledOnly, type NamedScenario } from "../../../scenario/parse-scenario.js";
import { readValue } from "../../../scenario/plain-data.js";
import { populationOf } from "../../../scenario/population.js";
import { problemsAt, ScenarioError, type ScenarioProblem } from "../../../scenario/problems.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import { withStory } from "../../../scenario/stories.js";
import { placeOfField, type WrittenScenario } from "../../../scenario/written-scenario.js";
import { readYaml, yamlText } from "../../../scenario/yaml.js";
import { isMapping } from "../../../schema/shape.js";
import { listed } from "../../../schema/words.js";
import { problemsByField } from "../control-errors.js";
import { controlRoute, jsonResponse, type Route, TextResponse } from "../route.js";
import { scenarioSummary } from "./sandbox.js";

/** The name of a sent scenario in messages, where others have the name of their file. */
const sentFile = "request body";

/** Reads the scenario in a body; its check comes later. */
export function readSentScenario(text: string): WrittenScenario {
  return readYaml(text, sentFile);
}

export const scenarioRoutes: readonly Route[] = [
  controlRoute("GET /scenarios", {
    summary: "The scenario that the sandbox was started with, and the bundled ones",
    run({ sandbox }, { server }) {
      const started = server.startedScenario();
      const rows = [listedScenario(started, sandbox, true)];
      for (const name of scenarioNames) {
        if (name === started.name) continue;
        rows.push(listedScenario({ name, scenario: bundledScenarios[name] }, sandbox, false));
      }
      return rows;
    },
  }),
  controlRoute("GET /scenario", {
    summary: "The running scenario as YAML, with its pinned keys hidden",
    run: async ({ sandbox }) => new TextResponse("application/yaml", await runningText(sandbox)),
  }),
  controlRoute("PUT /scenario", {
    summary:
      "Starts a bundled scenario by name, the one that the sandbox was started with, or one sent as application/yaml",
    body: "scenario_choice",
    run({ sandbox, body }, { server }) {
      startAnother(sandbox, namedScenario(body.name, server.startedScenario()));
      return summaryOf(sandbox, [], false);
    },
    runYaml({ sandbox, body }) {
      const checked = checkSent(body);
      startAnother(sandbox, sentScenario(checked, body.text));
      return summaryOf(sandbox, warningsOf(checked, sandbox.startOptions), false);
    },
  }),
  controlRoute("POST /reset", {
    summary:
      "Restarts the running scenario or starts another one, with the given options; with the keys, if a scenario or a seed is given",
    body: "sandbox_options",
    run({ sandbox, body }, { server }) {
      const { scenario, ...options } = body;
      if (scenario === undefined) {
        restartSandbox(sandbox, options);
        const hasOtherKeys = options.seed !== undefined;
        return summaryOf(sandbox, [], hasOtherKeys);
      }
      if (typeof scenario === "string") {
        startAnother(sandbox, namedScenario(scenario, server.startedScenario()), options);
        return summaryOf(sandbox, [], true);
      }

      const checked = checkSent(readValue(scenario));
      startAnother(sandbox, sentScenario(checked), options);
      return summaryOf(sandbox, warningsOf(checked, sandbox.startOptions), true);
    },
  }),
  controlRoute("POST /scenario/validate", {
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
    run: () => jsonResponse(scenarioJsonSchema(scenarioNames)),
  }),
];

/** A row of the list of scenarios. */
function listedScenario(named: NamedScenario, sandbox: SandboxState, startedWith: boolean) {
  const { name, scenario, text } = named;
  const title = scenario.name ?? name;
  const description = scenario.description ?? "";
  const running = sandbox.name === name && sandbox.text === text;
  return { name, title, description, startedWith, running };
}

/** The running scenario as YAML: the original text with its comments, if known. Every key in it is cut after its prefix. */
async function runningText(sandbox: SandboxState): Promise<string> {
  const text = sandbox.text ?? (await bundledText(sandbox));
  if (text !== undefined && showsPinnedSecrets(text, sandbox.scenario)) return redactKeys(text);
  return redactKeys(yamlText(sandbox.scenario));
}

/** Whether a text has all pinned secrets as they are. YAML can escape a key so that nothing would cut it. */
function showsPinnedSecrets(text: string, scenario: Scenario): boolean {
  for (const { fields } of writtenKeys(scenario)) {
    if (fields.secret !== undefined && !text.includes(fields.secret)) return false;
  }
  return true;
}

/** The text of a bundled scenario that runs unchanged: the user's own scenario may have its name. */
async function bundledText({
  name,
  scenario,
  startOptions,
  platform,
}: SandboxState): Promise<string | undefined> {
  if (!isScenarioName(name)) return undefined;
  const unchanged = checkedStart({ scenario: withStory(name), name }, startOptions, { platform }).scenario;
  const isUnchanged = isDeepStrictEqual(withoutStory(scenario), withoutStory(unchanged));
  return isUnchanged ? readBundledScenario(name) : undefined;
}

function withoutStory({ story: _, ...scenario }: Scenario): Omit<Scenario, "story"> {
  return scenario;
}

/** The scenario with a name: the one that the sandbox was started with, or a bundled one. Throws `scenario_not_found`. */
function namedScenario(name: string, started: NamedScenario): NamedScenario {
  if (name === started.name) return started;
  if (!isScenarioName(name)) {
    throw scenarioNotFound(name, "it is not a bundled one", { list: "`GET /scenarios`" });
  }
  return { scenario: withStory(name), name };
}

/** A sent scenario, with its YAML if it was sent as YAML. */
function sentScenario({ scenario }: CheckedScenario, text?: string): NamedScenario {
  return { scenario, name: scenario.name ?? "unnamed", text };
}

/** The running scenario after its start, with its warnings; also its keys, if they are others than before. */
function summaryOf(sandbox: SandboxState, warnings: readonly ScenarioProblem[], hasOtherKeys: boolean) {
  const summary = { ...scenarioSummary(sandbox), warnings: Object.values(problemsByField(warnings)) };
  if (!hasOtherKeys) return summary;
  return { ...summary, keys: { ...secretsByRef(sandbox), ...rejectedSecrets(sandbox) } };
}

/** Checks a sent scenario, which may extend only bundled ones. Throws a `ScenarioError`, or `validation_failed` for too many keys. */
function checkSent(sent: WrittenScenario): CheckedScenario {
  // Before the check, as checking a large population takes long.
  const population = sent.scenario?.fields.population;
  if (isMapping(population)) requireFewKeys({ version: 1, population: population as object });

  const checked = interpretScenario(sent, bundledOnly);
  requireFewKeys(checked.scenario);
  return checked;
}

/** Throws `validation_failed` for a scenario whose start would block the server: a few bytes can create 100,000 keys. */
export function requireFewKeys(scenario: Scenario): void {
  const { keys, emptyOrganizations } = scenarioSize(scenario);
  // Before its check, a population may have anything: the sum may be no number.
  const isTooMany = keys + emptyOrganizations > scenarioLimits.keysSent;
  if (!isTooMany) return;

  const created: string[] = [];
  if (keys > 0) created.push(pluralize(keys, "key"));
  if (emptyOrganizations > 0) created.push(`${pluralize(emptyOrganizations, "organization")} without keys`);
  const message = `the scenario has ${listed(created, "and")}, and a sent one at most ${scenarioLimits.keysSent}. For more, start the server with this scenario.`;
  throw new SandboxError("validation_failed", `Failed to start the scenario: ${message}`, {
    fields: { population: message },
  });
}

/** How many keys a scenario creates, and how many organizations of a population without keys, which take as long. */
function scenarioSize(scenario: Scenario) {
  const written = [...writtenKeys(scenario)].length;
  const { organizations, keysEach } = populationOf(scenario);
  if (keysEach < 1) return { keys: written, emptyOrganizations: organizations };
  return { keys: written + organizations * keysEach, emptyOrganizations: 0 };
}

/** The warnings of a sent scenario, with their places in the body. */
function warningsOf(checked: CheckedScenario, startOptions: StartOptions): ScenarioProblem[] {
  const { scenario, placeOf } = checked;
  const warnings = scenarioWarnings({ scenario, name: sentFile }, checked, startOptions);
  return problemsAt(Object.values(warnings).flat(), placeOf, sentFile);
}

/** What `validate` shows of a sent scenario: its errors, or its warnings if it has none. */
function problemsInSent(sent: WrittenScenario, startOptions: StartOptions) {
  try {
    const warnings = warningsOf(checkSent(sent), startOptions);
    return warnings.map((problem) => shownProblem(problem, "warning"));
  } catch (error) {
    if (error instanceof ScenarioError) {
      return error.problems.map((problem) => shownProblem(problem, "error"));
    }
    if (!(error instanceof SandboxError)) throw error;
    // It has too many keys.
    const place = sent.scenario && placeOfField(sent.scenario, ["population"]);
    return [shownProblem({ message: error.message, ...place }, "error")];
  }
}

/** A problem of a sent scenario. Of a problem that has no place in the body, only its message is known. */
type SentProblem = Pick<ScenarioProblem, "message" | "hint" | "line" | "column"> & {
  file?: string | undefined;
};

/** A problem as it is shown: an `error` keeps the scenario from starting. The place is counted from 1, and `null` without one. */
function shownProblem(problem: SentProblem, level: "error" | "warning") {
  const { message, hint = null, file = sentFile } = problem;
  // A problem in an extended scenario has no place here.
  if (file !== sentFile) return { line: null, column: null, level, message, hint };
  const { line = null, column = null } = problem;
  return { line, column, level, message, hint };
}
