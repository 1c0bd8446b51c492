import { expect, test } from "vitest";
import { parseScenario } from "../parse-scenario.js";
import { ScenarioError, type ScenarioProblem } from "../problems.js";

/** The problem of a text that is not YAML. */
function problemOf(text: string): ScenarioProblem {
  try {
    parseScenario(text);
  } catch (error) {
    if (error instanceof ScenarioError && error.problems[0]?.code === "yaml_syntax") return error.problems[0];
  }
  throw new Error("the text is YAML");
}

test.each([
  ["version: 1\nx-a: {{ name }}\n", "write the value"],
  [`version: 1\nx-a: { name: \${NAME} }\n`, "write the value"],
  ["version: 1\nx-a: { path: /x/{id} }\n", 'write "/x/{id}"'],
  ["version: 1\nname: Banks: two, three # a note\n", 'write "Banks: two, three"'],
])("a text that YAML reads as more gets quotes, and a variable its value: %s", (text, hint) => {
  expect(problemOf(text).hint).toBe(hint);
});

test.each([
  ["x-a: { list: [1 }", 17],
  ['x-a: { say: "hi {{name}}", list: [1 }', 37],
  ["x-a: { list: [1 } # {{name}}", 17],
  ["description: |\n  a { b\nx-a: [ 1 }", 10],
  ["x-a: { a: 1 } }", 15],
])("brackets that do not match are named at the first that shows it: %s", (lines, column) => {
  const { column: shown, message, hint } = problemOf(`version: 1\n${lines}\n`);
  expect([shown, message, hint]).toEqual([
    column,
    "not valid YAML: the brackets do not match",
    "close each { and [ once",
  ]);
});

test("an error at a comment is shown at the field after it", () => {
  const { line } = problemOf("version: 1\nx-a:\n   - 1\n  # a comment\n\n  b: 1\n c: 1\n");
  expect(line).toBe(6);
});

test("a line below a dash alone gets a hint", () => {
  expect(problemOf("version: 1\nx-a:\n  -\n    b: 1\n   c: 1\n").line).toBe(5);
});

test("a wrong indent is found in a text with many lines that look like other mistakes", () => {
  const lines = Array.from({ length: 50 }, (_, index) => `  a${index}: one # note: x\n`).join("");
  expect(problemOf(`version: 1\nx-a:\n${lines}   b: 1\n`).hint).toBe("indent it to column 3");
});
