import { expect, test } from "vitest";
import { SandboxError } from "../../spec/errors.js";
import { parseScenario } from "../parse-scenario.js";
import { ScenarioError } from "./scenario-error.js";

function errorOf(text: string, file?: string): ScenarioError {
  try {
    parseScenario(text, { file });
  } catch (error) {
    if (error instanceof ScenarioError) return error;
  }
  throw new Error("the scenario is valid");
}

const text = `version: 1
organizations:
  bank:
    type: bank
    keys:
      main: { environment: test, limits: { perMinute: 60 } }
      other: { environment: tst }
`;

test("the message shows the place, the line, a caret and a hint for every problem", () => {
  expect(errorOf(text, "world.yaml").message).toBe(
    [
      'world.yaml:6:44: unknown field "perMinute" in organizations.bank.keys.main.limits',
      "        main: { environment: test, limits: { perMinute: 60 } }",
      "                                             ^",
      'hint: did you mean "per_minute"?',
      "",
      'world.yaml:7:29: environment must be test or live, not "tst"',
      "        other: { environment: tst }",
      "                              ^",
      "hint: did you mean test?",
    ].join("\n"),
  );
});

test("the error is a SandboxError with the code scenario_invalid, and holds the problems as data", () => {
  const error = errorOf(text);
  expect(error).toBeInstanceOf(SandboxError);
  expect(error.code).toBe("scenario_invalid");
  expect(error.problems[0]).toEqual({
    code: "unknown_field",
    path: "organizations.bank.keys.main.limits.perMinute",
    message: 'unknown field "perMinute" in organizations.bank.keys.main.limits',
    hint: 'did you mean "per_minute"?',
    line: 6,
    column: 44,
    source: "      main: { environment: test, limits: { perMinute: 60 } }",
    caret: `${" ".repeat(43)}^`,
  });
});

test("of many problems the message shows twenty", () => {
  const error = errorOf(
    `version: 1\norganizations: { bank: { type: bank } }\n${Array.from({ length: 50 }, (_, i) => `x${i}: 1`).join("\n")}`,
  );
  expect(error.problems).toHaveLength(50);
  expect(error.message).toMatch(/\n\n… and 30 more$/);
});

test("the caret stays in its place behind a key that is shortened", () => {
  const [problem] = errorOf(
    text.replace("limits: { perMinute: 60 }", "secret: SVC_test_4eC39HqLyjWDarjtT1zdp7dc, colour: red"),
  ).problems;
  expect(problem?.source).toBe("      main: { environment: test, secret: SVC_test_…, colour: red }");
  expect(problem?.source?.slice(problem.caret?.indexOf("^"))).toMatch(/^colour/);
  expect(problem?.column).toBe(77);
});
