import { isDeepStrictEqual } from "node:util";
import { readBundledScenario } from "../../../node/package-files.js";
import { scenarioWarnings } from "../../../node/scenario-warnings.js";
import { pluralize } from "../../../report/plain-text.js";
import { SandboxError } from "../../../rules/errors.js";
import { redactPlainKeys } from "../../../rules/redact.js";
import type { SandboxState, StartOptions } from "../../../sandbox/sandbox-state.js";
import { rejectedSecrets, secretsByRef } from "../../../sandbox/secrets.js";
import { checkedStart, restartSandbox, startAnother } from "../../../sandbox/start-sandbox.js";
import {
  bundledScenarios,
  isScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "../../../scenario/bundled.js";
import { scenarioJsonSchema } from "../../../scenario/format/scenario-json-schema.js";
import { scenarioLimits } from "../../../scenario/format/scenario-limits.js";
import { type CheckedScenario, interpretScenario } from "../../../scenario/interpret.js";
import { populationOf } from "../../../scenario/keys/population.js";
import { listedKeys } from "../../../scenario/keys/scenario-keys.js";
import { bundledOnly, type NamedScenario } from "../../../scenario/parse-scenario.js";
import { readValue } from "../../../scenario/plain-data.js";
import { problemsAt, type ScenarioProblem } from "../../../scenario/problems.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import { ScenarioError } from "../../../scenario/scenario-error.js";
import { withStory } from "../../../scenario/stories.js";
import { placeOfField, type WrittenScenario } from "../../../scenario/written-scenario.js";
import { readYaml, yamlText } from "../../../scenario/yaml/read-yaml.js";
import { isMapping } from "../../../schema/type-tag.js";
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
      const choices: NamedScenario[] = [started];
      for (const name of scenarioNames) {
        if (name !== started.name) choices.push({ name, scenario: bundledScenarios[name] });
      }
      return choices.map((choice) => viewChoice(choice, started, sandbox));
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
      return summarizeStart(sandbox);
    },
    runYaml({ sandbox, body }) {
      const checked = checkSent(body);
      startAnother(sandbox, sentScenario(checked, body.text));
      return summarizeStart(sandbox, startWarnings(checked, sandbox.startOptions));
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
        const summary = summarizeStart(sandbox);
        // With the same seed, the keys are those from before.
        return options.seed === undefined ? summary : withAllSecrets(summary, sandbox);
      }
      if (typeof scenario === "string") {
        startAnother(sandbox, namedScenario(scenario, server.startedScenario()), options);
        return withAllSecrets(summarizeStart(sandbox), sandbox);
      }

      const checked = checkSent(readValue(scenario));
      startAnother(sandbox, sentScenario(checked), options);
      const summary = summarizeStart(sandbox, startWarnings(checked, sandbox.startOptions));
      return withAllSecrets(summary, sandbox);
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

/** A scenario that a user can choose, as a row of the list of them. */
function viewChoice(choice: NamedScenario, started: NamedScenario, sandbox: SandboxState) {
  const { name, scenario } = choice;
  return {
    name,
    title: scenario.name ?? name,
    description: scenario.description ?? "",
    startedWith: name === started.name,
    running: isRunning(choice, sandbox),
  };
}

/** Whether the sandbox runs a scenario, with any options of a start. A sent scenario may have the name of another one. */
function isRunning({ name, scenario, text }: NamedScenario, sandbox: SandboxState): boolean {
  if (sandbox.name !== name || sandbox.text !== text) return false;
  return isDeepStrictEqual(withoutStartOptions(sandbox.scenario), withoutStartOptions(scenario));
}

/** The members of a scenario that no option of a start replaces. The bundled scenarios have their stories only when they run. */
function withoutStartOptions(scenario: Scenario): Partial<Scenario> {
  const { seed, clock, assumptions, story, ...others } = scenario;
  return others;
}

/** The running scenario as YAML: the original text with its comments, if known. Every key in it is cut after its prefix. */
async function runningText(sandbox: SandboxState): Promise<string> {
  const text = sandbox.text ?? (await bundledText(sandbox));
  if (text !== undefined && spellsOutPinnedSecrets(text, sandbox.scenario)) return redactPlainKeys(text);
  return redactPlainKeys(yamlText(sandbox.scenario));
}

/** Whether a text has each pinned secret letter by letter. In YAML, a secret can also have escapes, which `redactPlainKeys` does not read. */
function spellsOutPinnedSecrets(text: string, scenario: Scenario): boolean {
  for (const { fields } of listedKeys(scenario)) {
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

/** What a start results in: the running scenario, and the warnings of a sent one. */
function summarizeStart(sandbox: SandboxState, warnings: readonly ScenarioProblem[] = []) {
  return { ...scenarioSummary(sandbox), warnings: Object.values(problemsByField(warnings)) };
}

/** A summary with all keys of the sandbox, for a client that needs no other call to use them. */
function withAllSecrets(summary: ReturnType<typeof summarizeStart>, sandbox: SandboxState) {
  return { ...summary, keys: { ...secretsByRef(sandbox), ...rejectedSecrets(sandbox) } };
}

/** Checks a sent scenario, which may extend only bundled ones. Throws a `ScenarioError`, or `validation_failed` for too many keys. */
function checkSent(sent: WrittenScenario): CheckedScenario {
  // A large population is rejected before its check, which would take long.
  const population = sent.scenario?.fields.population;
  if (isMapping(population)) requireFewKeys({ version: 1, population });

  const checked = interpretScenario(sent, bundledOnly);
  requireFewKeys(checked.scenario);
  return checked;
}

/** Throws `validation_failed` for a scenario whose start would block the server: a few bytes can create 100,000 keys. */
export function requireFewKeys(scenario: Scenario): void {
  const { keys, emptyOrganizations } = scenarioSize(scenario);
  // An unchecked population may have anything, such as texts: a sum that is no number is not too large.
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
  const written = [...listedKeys(scenario)].length;
  const { organizations, keysEach } = populationOf(scenario);
  if (keysEach < 1) return { keys: written, emptyOrganizations: organizations };
  return { keys: written + organizations * keysEach, emptyOrganizations: 0 };
}

/** The warnings of a sent scenario, with their places in the body. */
function startWarnings(checked: CheckedScenario, startOptions: StartOptions): ScenarioProblem[] {
  const { scenario, placeOf } = checked;
  const warnings = scenarioWarnings({ scenario, name: sentFile }, checked, startOptions);
  return problemsAt(Object.values(warnings).flat(), placeOf, sentFile);
}

/** What `validate` shows of a sent scenario: its errors, or its warnings if it has none. */
function problemsInSent(sent: WrittenScenario, startOptions: StartOptions): ShownProblem[] {
  try {
    const warnings = startWarnings(checkSent(sent), startOptions);
    return warnings.map((problem) => showProblem("warning", problem, placeInBody(problem)));
  } catch (error) {
    if (error instanceof ScenarioError) {
      return error.problems.map((problem) => showProblem("error", problem, placeInBody(problem)));
    }
    if (!(error instanceof SandboxError)) throw error;
    // The error of `requireFewKeys`.
    const place = sent.scenario && placeOfField(sent.scenario, ["population"]);
    return [showProblem("error", error, place)];
  }
}

/** A problem as the client gets it. */
interface ShownProblem {
  /** Where it is in the body, counted from 1; `null` without a place there. */
  readonly line: number | null;
  readonly column: number | null;
  /** An error keeps the scenario from starting. */
  readonly level: "error" | "warning";
  readonly message: string;
  readonly hint: string | null;
}

/** The part of a problem that says where it is. */
type ProblemPlace = Pick<ScenarioProblem, "line" | "column">;

/** Where a problem is in the body; a problem of an extended scenario is not there. */
function placeInBody(problem: ScenarioProblem): ProblemPlace {
  return problem.file === sentFile ? problem : {};
}

function showProblem(
  level: ShownProblem["level"],
  problem: { readonly message: string; readonly hint?: string },
  place: ProblemPlace = {},
): ShownProblem {
  return {
    line: place.line ?? null,
    column: place.column ?? null,
    level,
    message: problem.message,
    hint: problem.hint ?? null,
  };
}
