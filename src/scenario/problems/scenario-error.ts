import { SandboxError } from "../../domain/errors.js";
import { redactKeys } from "../../domain/redact.js";
import { redactLine } from "../read/source.js";
import type { Diagnostic, ScenarioProblem } from "./scenario-problem.js";

/** The name of a scenario that has no file. */
export const unnamedScenario = "<scenario>";

/** The number of problems that the message shows; `problems` holds them all. */
const shownProblems = 20;

/**
 * Thrown for a scenario that cannot be used, with everything that is wrong with it.
 *
 * The message is for people: for each problem its place, the line with a caret, and a hint. Nothing in it or in
 * `problems` shows a full key.
 */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const safe = problems.map(withoutKeys);
    super("scenario_invalid", messageOf(safe), { problems: safe });
    this.name = "ScenarioError";
    this.problems = safe;
  }
}

/**
 * One problem as people read it: `file:line:column: message`, the line, a caret, the hint.
 *
 * @example
 * world.yaml:7:15: unknown field "perMinute" in organizations.bank.keys.main.limits
 *   limits: { perMinute: 60 }
 *             ^
 * hint: did you mean "per_minute"?
 */
export function formatProblem(problem: Omit<ScenarioProblem, "code">): string {
  const { file = unnamedScenario, line, column, source, caret, message, hint } = problem;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const field = line === undefined && problem.path !== "" ? `${problem.path}: ` : "";
  const lines = [`${place}: ${field}${message}`];
  const nothingToSee = source === undefined || source.trim() === "";
  if (!nothingToSee && caret !== undefined) lines.push(`  ${source}`, `  ${caret}`);
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  return lines.join("\n");
}

function messageOf(problems: readonly ScenarioProblem[]): string {
  const shown = problems.slice(0, shownProblems).map(formatProblem);
  const rest = problems.length - shown.length;
  if (rest > 0) shown.push(`… and ${rest} more`);
  return shown.join("\n\n");
}

function withoutKeys(problem: ScenarioProblem): ScenarioProblem {
  const { path, message, hint, source } = problem;
  return {
    ...problem,
    path: redactKeys(path),
    message: redactKeys(message),
    ...(hint === undefined ? {} : { hint: redactKeys(hint) }),
    ...(source === undefined ? {} : { source: redactLine(source) }),
  };
}

/** The refusal of a value that is not from a scenario, with what is wrong with each field in `details.fields`. */
export function validationError(failure: string, diagnostics: readonly Diagnostic[]): SandboxError {
  const problems = diagnostics.map(({ path, message, hint }) => [
    redactKeys(path.join(".")) || "body",
    redactKeys(hint === undefined ? message : `${message}: ${hint}`),
  ]);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new SandboxError("validation_failed", `${failure}: ${problems[0]?.[1]}${more}.`, {
    fields: Object.fromEntries(problems),
  });
}
