import { SandboxError } from "../rules/errors.js";
import { mapTexts } from "../rules/keys/redact.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import type { ScenarioProblem } from "./problems.js";
import { redactSecrets } from "./redact-secrets.js";

/** In place of a file, for a scenario without one. */
const unnamedScenario = "<scenario>";

/** The message of an error shows at most this many problems. */
const shownProblems = 20;

/** The members of a problem that have no text of a scenario. */
function isShownAsItIs(member: string): boolean {
  return member === "code" || member === "file";
}

/** Thrown for a scenario that is not valid, with all its problems. Neither the message nor `problems` shows a full key. */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const safe = mapTexts(problems, redactSecrets, isShownAsItIs);
    super("scenario_invalid", messageOf(safe), { problems: safe });
    this.name = "ScenarioError";
    this.problems = safe;
  }

  // The builds for ES modules and for CommonJS each have this class: an error of either is an instance of both. `SandboxError` knows
  // the errors of both builds by a mark, and of these only a `ScenarioError` has `problems`.
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a user's class that extends this one inherits the method
    if (this === ScenarioError) return value instanceof SandboxError && "problems" in value;
    // biome-ignore lint/complexity/noThisInStatic: the same
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

/** A problem for people: `file:line:column: message`, the line, a caret, the hint. */
export function formatProblem(problem: Omit<ScenarioProblem, "code">): string {
  const { file = unnamedScenario, line, column, source, caret, message, hint } = problem;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const field = line === undefined && problem.field !== "" ? `${problem.field}: ` : "";
  const lines = [`${place}: ${field}${message}`];
  const hasText = source !== undefined && source.trim() !== "";
  if (hasText && caret !== undefined) lines.push(`  ${source}`, `  ${caret}`);
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  return lines.map(withoutControls).join("\n");
}

/** A line for a terminal. Its tabs stay, so that the caret is under its character. */
function withoutControls(line: string): string {
  return line.split("\t").map(oneSafeLine).join("\t");
}

function messageOf(problems: readonly ScenarioProblem[]): string {
  const texts = problems.slice(0, shownProblems).map(formatProblem);
  const rest = problems.length - texts.length;
  if (rest > 0) texts.push(`… and ${rest} more`);
  return texts.join("\n\n");
}
