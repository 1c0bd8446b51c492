import { SandboxError } from "../../domain/errors.js";
import type { GivenOptions } from "../../sandbox/runtime.js";
import { parseScenario, placeOf } from "../../scenario/parse-scenario.js";
import { ScenarioError, type ScenarioProblem } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Path } from "../../schema/shape.js";
import { rehearsalProblems, unmarkedSecrets } from "../rehearsal.js";
import type { Answer } from "./answers.js";

type TextProblem = Answer<"Validation">["problems"][number];

const file = "request body";

type Found = Pick<ScenarioProblem, "message" | "hint" | "line" | "column"> & {
  readonly file?: string | undefined;
};

/** The problems of a scenario text: of its fields; else the steps that do not come out as they say, and unmarked secrets. */
export async function validateText(
  text: string,
  given: GivenOptions,
  check: (scenario: Scenario) => void,
): Promise<TextProblem[]> {
  const lines = text.replace(/\r(?!\n)/g, "\n").split("\n");
  const placeIn = (path: Path) => placeOf(text, path, { file });
  const shown = (level: TextProblem["level"]) => (problem: Found) => textProblem(problem, level, lines);
  try {
    const scenario = parseScenario(text, { file });
    try {
      check(scenario);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      return [shown("error")({ message: error.message, ...placeIn(["population"]) })];
    }
    const failed = await rehearsalProblems({ scenario, name: file }, placeIn, given);
    const unmarked = await unmarkedSecrets({ scenario, name: file }, placeIn);
    return [...failed, ...unmarked].map(shown("warning"));
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems.map(shown("error"));
  }
}

function textProblem(
  { line, column, message, hint, file: found = file }: Found,
  level: TextProblem["level"],
  lines: readonly string[],
): TextProblem {
  const shown = { level, message, hint: hint ?? null };
  // In a scenario that this one extends: no place here.
  if (found !== file || line === undefined || column === undefined) {
    return { line: null, column: null, end_line: null, end_column: null, ...shown };
  }
  const rest = (lines[line - 1] ?? "").slice(column - 1);
  return { line, column, end_line: line, end_column: column + wordLength(rest), ...shown };
}

// A quoted text, else up to what ends a value or a name.
function wordLength(rest: string): number {
  const [word = ""] = /^(?:"[^"]*"|'[^']*'|[^\s,:\]}#]+)/.exec(rest.slice(0, 10_000)) ?? [];
  return Math.max(1, word.length);
}
