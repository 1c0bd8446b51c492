import { scenarioWarnings } from "../../node/dry-run.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import type { StartOptions } from "../../sandbox/sandbox-state.js";
import { scenarioLimits } from "../../scenario/format/fields.js";
import { type CheckedScenario, interpretScenario } from "../../scenario/interpret.js";
import { listedKeys, populationOf } from "../../scenario/keys.js";
import { bundledOnly } from "../../scenario/parse-scenario.js";
import { problemsAt, ScenarioError, type ScenarioProblem } from "../../scenario/problems.js";
import { placeOfField, type WrittenScenario } from "../../scenario/written-scenario.js";
import { readYaml } from "../../scenario/yaml/read-yaml.js";
import { isMapping } from "../../schema/type-tag.js";
import { listed } from "../../schema/words.js";

// A scenario that a client sends, as YAML or as a value. It may extend only bundled scenarios, and has a limit of keys.

/** The name of a sent scenario in messages, where others have the name of their file. */
const sentFile = "request body";

/** Reads the scenario in a body; its check comes later. */
export function readSentScenario(text: string): WrittenScenario {
  return readYaml(text, sentFile);
}

/** What the check of a sent scenario results in. */
type SentCheck =
  | { readonly kind: "checked"; readonly checked: CheckedScenario }
  | { readonly kind: "not_valid"; readonly error: ScenarioError }
  | { readonly kind: "too_large"; readonly error: SandboxError };

function checkSent(sent: WrittenScenario): SentCheck {
  // A large population is rejected before its check, which would take long.
  const uncheckedSize = sizeOfPopulation(sent.fields?.population);
  if (isTooLarge(uncheckedSize)) return { kind: "too_large", error: sizeError(uncheckedSize) };

  let checked: CheckedScenario;
  try {
    checked = interpretScenario(sent, bundledOnly);
  } catch (error) {
    if (error instanceof ScenarioError) return { kind: "not_valid", error };
    throw error;
  }

  // The listed keys count, too.
  const { keys, emptyOrganizations } = sizeOfPopulation(checked.scenario.population);
  const size = { keys: [...listedKeys(checked.scenario)].length + keys, emptyOrganizations };
  if (isTooLarge(size)) return { kind: "too_large", error: sizeError(size) };
  return { kind: "checked", checked };
}

/** Checks a sent scenario that is to be started. Throws a `ScenarioError`, or `validation_failed` for too many keys. */
export function requireStartable(sent: WrittenScenario): CheckedScenario {
  const check = checkSent(sent);
  if (check.kind !== "checked") throw check.error;
  return check.checked;
}

/** What a scenario creates. */
interface ScenarioSize {
  readonly keys: number;
  /** The organizations of a population without keys, which take as long as keys. */
  readonly emptyOrganizations: number;
}

/** The size of a population, which may have any form: one without numbers creates nothing, because its check rejects it. */
function sizeOfPopulation(population: unknown): ScenarioSize {
  const nothing = { keys: 0, emptyOrganizations: 0 };
  if (!isMapping(population)) return nothing;

  const { organizations, keysEach } = populationOf({ population });
  const hasNumbers = typeof organizations === "number" && typeof keysEach === "number";
  if (!hasNumbers) return nothing;
  if (keysEach < 1) return { keys: 0, emptyOrganizations: organizations };
  return { keys: organizations * keysEach, emptyOrganizations: 0 };
}

/** Whether the start of a scenario would block the server: a few bytes can create 100,000 keys. */
function isTooLarge({ keys, emptyOrganizations }: ScenarioSize): boolean {
  return keys + emptyOrganizations > scenarioLimits.keysSent;
}

/** The error `validation_failed` of a scenario that is too large. */
function sizeError({ keys, emptyOrganizations }: ScenarioSize): SandboxError {
  const created: string[] = [];
  if (keys > 0) created.push(pluralize(keys, "key"));
  if (emptyOrganizations > 0) created.push(`${pluralize(emptyOrganizations, "organization")} without keys`);
  const message = `the scenario has ${listed(created, "and")}, and a sent one at most ${scenarioLimits.keysSent}. For more, start the server with this scenario.`;
  return new SandboxError("validation_failed", `Failed to start the scenario: ${message}`, {
    fields: { population: message },
  });
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

/** The warnings of a sent scenario, with their places in the body. */
export function startWarnings(checked: CheckedScenario, startOptions: StartOptions): ScenarioProblem[] {
  const { scenario, placeOf } = checked;
  const warnings = scenarioWarnings({ scenario, name: sentFile }, checked, startOptions);
  return problemsAt(Object.values(warnings).flat(), placeOf, sentFile);
}

/** What `validate` shows of a sent scenario: its errors, or its warnings if it has none. */
export function problemsInSent(sent: WrittenScenario, startOptions: StartOptions): ShownProblem[] {
  const check = checkSent(sent);
  const { kind } = check;
  switch (kind) {
    case "checked": {
      const warnings = startWarnings(check.checked, startOptions);
      return warnings.map((problem) => showProblem("warning", problem, placeInBody(problem)));
    }
    case "not_valid":
      return check.error.problems.map((problem) => showProblem("error", problem, placeInBody(problem)));
    case "too_large": {
      const place = placeOfField(sent, ["population"]);
      return [showProblem("error", check.error, place)];
    }
    default:
      return kind satisfies never;
  }
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
