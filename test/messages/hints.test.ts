import { expect, test } from "vitest";
import { parseScenario, ScenarioError, type ScenarioProblem } from "../../src/index.js";
import { applied, hintRows } from "../support/apply-hint.js";
import { messagePages, type WrongTurn } from "../support/messages.js";

// A hint mends its problem when it is applied as it is written, or leaves a choice to the reader. Which hints there are, and
// the mistake that each is for, is the table of test/support/apply-hint.ts.

const turns = messagePages("scenario").flatMap((page) => page.turns);

function problemsIn(text: string): readonly ScenarioProblem[] {
  try {
    parseScenario(text);
    return [];
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
}

const firstProblems = turns
  .map((turn): [string, WrongTurn, ScenarioProblem | undefined] => [
    turn.name,
    turn,
    problemsIn(turn.input)[0],
  ])
  .filter((row): row is [string, WrongTurn, ScenarioProblem] => row[2] !== undefined);

test.each(firstProblems)(
  "the hint of %s is of a known kind, and mends its problem",
  (_name, { input }, problem) => {
    const result = applied(input, problem);
    expect(result, problem.hint).toBeDefined();
    if (result?.row.apply === undefined) return;

    const { text = "" } = result;
    expect(text).not.toBe(input);
    const left = problemsIn(text);
    const isSame = ({ code, field, message }: ScenarioProblem) =>
      field !== "" && code === problem.code && field === problem.field && message === problem.message;
    expect([text, left.filter(isSame)]).toEqual([text, []]);
    // A text that was not YAML is read, or its next mistake is elsewhere.
    const isThere = ({ code, line, column }: ScenarioProblem) =>
      code === "yaml_syntax" && line === problem.line && column === problem.column;
    if (problem.code === "yaml_syntax") expect([text, left.filter(isThere)]).toEqual([text, []]);
  },
);

test("each kind of hint has a wrong scenario that gets it", () => {
  const rows = new Set(firstProblems.map(([, { input }, problem]) => applied(input, problem)?.row));
  expect(hintRows.filter((row) => !rows.has(row)).map(({ hint }) => String(hint))).toEqual([]);
});
