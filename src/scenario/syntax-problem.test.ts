import { expect, test } from "vitest";
import { parseScenario } from "./parse-scenario.js";
import { ScenarioError, type ScenarioProblem } from "./problems.js";

/** The problem of a text that is not YAML. */
function problemOf(text: string): ScenarioProblem {
  try {
    parseScenario(text);
  } catch (error) {
    if (error instanceof ScenarioError && error.problems[0]?.code === "yaml_syntax") return error.problems[0];
  }
  throw new Error("the text is YAML");
}

const space = "\u00A0";
const unclosed = "organizations: { bank: { type: bank }\n";

test.each<[where: string, lines: string]>([
  ["a block of text", `description: |\n  ${space}one\n`],
  ["a quoted text", `description: "one\n  ${space}two"\n`],
  ["a text of several lines", `description: one\n  ${space}two\n`],
])("a no-break space at a line start of %s is not the cause of an unclosed bracket", (_where, lines) => {
  const { line, message } = problemOf(`version: 1\n${lines}${unclosed}`);
  expect([line, message]).toEqual([4, "not valid YAML: the { is not closed"]);
});

test("an indent with a no-break space has its own place, even if a line before has the same characters", () => {
  const indent = `   ${space}`;
  const { line, column, hint } = problemOf(
    `version: 1\nname: a${indent}b\norganizations:\n  bank:\n    type: bank\n${indent}keys: {}\n`,
  );
  expect([line, column]).toEqual([6, 4]);
  expect(hint).toBe("indent this line with ordinary spaces");
});

test.each([
  'x-a: { say: "hi {{name}}", list: [1 }',
  `x-a: { say: 'hi \${NAME}', list: [1 }`,
  "x-a: { list: [1 } # {{name}}",
])("a template that is only a part of a text is not the cause of an unclosed bracket: %s", (line) => {
  const { column, message } = problemOf(`version: 1\n${line}\n`);
  expect([column, message]).toEqual([line.indexOf("[") + 1, "not valid YAML: the [ is not closed"]);
});

test.each([
  ["name: {{ name }}", 'write "{{ name }}"'],
  [`x-a: { name: \${NAME} }`, `write "\${NAME}"`],
  ["x-a: { path: /x/{id} }", 'write "/x/{id}"'],
  ["x-a: { name: 'Anna's key' }", `write "Anna's key"`],
  ["name: Banks: two", 'write "Banks: two"'],
])("a text that YAML reads as more gets quotes: %s", (line, hint) => {
  expect(problemOf(`version: 1\n${line}\n`).hint).toBe(hint);
});

test.each([
  ["a quoted text", 'x-a: [ "one"\n'],
  ["a comment", "x-a: [ 1, # one\n"],
  ["a quoted bracket", 'x-a: [ "]"\n'],
])("a bracket is not closed by %s", (_what, line) => {
  const { column, message } = problemOf(`version: 1\n${line}name: bank\n`);
  expect([column, message]).toEqual([6, "not valid YAML: the [ is not closed"]);
});

test("a bracket in a block of text is not the one that is not closed", () => {
  const { line, message } = problemOf(`version: 1\ndescription: |\n  a { b\n${unclosed}`);
  expect([line, message]).toEqual([4, "not valid YAML: the { is not closed"]);
});
