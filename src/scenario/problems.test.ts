import { expect, test } from "vitest";
import { SandboxError } from "../rules/errors.js";
import { type Shape, shapeOfField } from "../schema/shape.js";
import { scenarioSchema } from "./format/schema.js";
import { showPlace } from "./places.js";
import { ScenarioError } from "./problems.js";
import { parseScenario } from "./scenario-source.js";

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

test("the error is a SandboxError with the code scenario_invalid and the problems as data", () => {
  const error = errorOf(text);
  expect(error).toBeInstanceOf(SandboxError);
  expect(error.code).toBe("scenario_invalid");
  expect(error.problems[0]).toEqual({
    code: "unknown_field",
    field: "organizations.bank.keys.main.limits.perMinute",
    message: 'unknown field "perMinute" in organizations.bank.keys.main.limits',
    hint: 'did you mean "per_minute"?',
    line: 6,
    column: 44,
    source: "      main: { environment: test, limits: { perMinute: 60 } }",
    caret: `${" ".repeat(43)}^`,
  });
});

test("an error is no instance of a class that extends ScenarioError", () => {
  class OwnError extends ScenarioError {}
  const error = errorOf(`${text}x: 1\n`);
  expect([error instanceof ScenarioError, error instanceof OwnError]).toEqual([true, false]);
  expect(new OwnError([])).toBeInstanceOf(OwnError);
});

test("of many problems the message shows twenty", () => {
  const error = errorOf(
    `version: 1\norganizations: { bank: { type: bank } }\n${Array.from({ length: 50 }, (_, i) => `x${i}: 1`).join("\n")}`,
  );
  expect(error.problems).toHaveLength(50);
  expect(error.message).toMatch(/\n\n… and 30 more$/);
});

test("the caret stays in its place after a shortened key", () => {
  const [problem] = errorOf(
    text.replace("limits: { perMinute: 60 }", "name: SVC_test_4eC39HqLyjWDarjtT1zdp7dc, colour: red"),
  ).problems;
  expect(problem?.source).toBe("      main: { environment: test, name: SVC_test_…, colour: red }");
  expect(problem?.source?.slice(problem.caret?.indexOf("^"))).toMatch(/^colour/);
  expect(problem?.column).toBe(75);
});

const shown = (text: string, offset = 0) => showPlace({ source: { file: undefined, text }, offset });
const lineOf = (text: string, offset = 0) => shown(text, offset).source;

/** What is shown of a line around a column, from 1. */
function excerptOf(line: string, column: number) {
  const { source = "", caret = "" } = shown(line, column - 1);
  return { text: source, caret };
}

test.each([
  ["a tab", "\t", "\t^"],
  ["a wide character", "銀", "\u3000^"],
  ["an emoji", "🏦", "\u3000^"],
])("the caret is under the character after %s", (_name, character, caret) => {
  expect(excerptOf(`${character}: x`, character.length + 1).caret).toBe(caret);
});

test.each([1, 50, 400, 799, 801])("of a long line the part around column %i is shown", (column) => {
  const line = Array.from({ length: 100 }, (_, index) => `name-${String(index).padStart(2, "0")}`).join(",");
  const { text, caret } = excerptOf(line, column);
  expect(text.length).toBeLessThanOrEqual(74);
  const pointed = text[caret.length - 1];
  expect(pointed).toBe(line[column - 1] ?? undefined);
});

test("no character is cut in half", () => {
  const line = "🏦".repeat(200);
  for (const column of [1, 101, 201, 301, 399]) {
    expect(excerptOf(line, column).text).not.toMatch(/^…?[\uDC00-\uDFFF]|[\uD800-\uDBFF]…?$/);
  }
});

test.each([
  ["name: 'legacysvc_live_4eC39HqLyjWD' # ours", "name: 'legacysvc_live_…' # ours"],
  ["{ a: SVC_test_4eC39, b: SVC_live_4eC39 }", "{ a: SVC_test_…, b: SVC_live_… }"],
])("%s is shown as %s (R46)", (line, shown) => {
  expect(lineOf(line)).toBe(shown);
  expect(lineOf(shown)).toBe(shown);
});

const textOfMain =
  "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

test("valid names of endpoints and keys are shown whole", () => {
  const withEndpoint = errorOf(
    `${textOfMain}endpoints: { listConsentsByFarmerId: { path: /v1/consents, colour: red } }\n`,
  );
  expect(withEndpoint.problems).toMatchObject([{ field: "endpoints.listConsentsByFarmerId.colour" }]);
  const longRef = textOfMain.replace("main", "corebankingsystem1");
  const withKey = errorOf(`${longRef}default_key: corebankingsystem2\n`);
  expect(withKey.problems).toMatchObject([{ hint: expect.stringContaining("corebankingsystem1") }]);
});

function namesOf(shape: Shape): string[] {
  if (shape.kind === "list") return namesOf(shape.item);
  if (shape.kind === "record") return namesOf(shape.member);
  if (shape.kind === "either") return shape.options.flatMap(namesOf);
  if (shape.kind !== "mapping") return [];
  const names = Object.entries(shape.fields).flatMap(([name, field]) => [
    name,
    ...namesOf(shapeOfField(field)),
  ]);
  return [...new Set(names)].filter((name) => name !== "secret");
}

const wanted = "Zq7Lw2Xv9Rk4Tn8Yb3Mc";
const words = "correct-horse-battery-staple";

test.each<[where: string, text: string]>([
  ["behind an anchor", `secret: &key ${words}`],
  ["behind a tag", `secret: !!str ${words}`],
  ["in a mapping", `secret: { value: ${words} }`],
  ["in a misspelt field", `sceret: ${words}`],
  ["in a field of another tool", `api-key: "${words}"`],
  ["in a field of two words", `accessToken: ${words}`],
  ["under any name", `value: ${wanted}`],
  ["as a name", `${wanted}: {}`],
  ["in another language's syntax", `secret = ${wanted}`],
])("a secret %s is in no excerpt (R46)", (_where, text) => {
  const lines = Array.from(text, (_, offset) => lineOf(text, offset)).join("\n");
  expect(lines).not.toMatch(/horse|battery|staple|7Lw2X/);
});

const keys = ["SVC_test_", "SVC_live_", "legacysvc_test_", "legacysvc_live_"].map((prefix) => prefix + words);

test.each(keys)("no excerpt contains a text that looks like a key: %s (R46)", (key) => {
  for (const text of [`tokne: ${key}`, `then: "${key}"`, `a: { b: [${key}] } # ${key}`, `a:\n  ${key}`]) {
    expect([lineOf(text), lineOf(text, text.length)].join()).not.toMatch(/horse|battery|staple/);
  }
});

test("another value is shown in a field whose name only resembles token", () => {
  expect(lineOf(`tokne: ${words}`)).toBe(`tokne: ${words}`);
});

test("the value of every field of the format is shown, except a secret", () => {
  const lines = namesOf(scenarioSchema).map((name) => `${name}: { status: 503 }`);
  expect(lines.map((line) => lineOf(line))).toEqual(lines);
});

test("a line with the field of a secret shows its name, and a very long line is not shown", () => {
  expect(lineOf(`main: { secret: ${words}, colour: red }`)).toBe("main: { secret: …");
  expect(lineOf(`name: ${"x ".repeat(500)}`)).toBeUndefined();
});

test("characters that could play with a terminal are replaced", () => {
  expect(lineOf("name: \u001B[31mred\u202E")).toBe("name: \uFFFD[31mred\uFFFD");
  expect(lineOf("name: Bänk 銀行")).toBe("name: Bänk 銀行");
});

test("a mapping in place of a fault's status is no status, whatever its members are called", () => {
  const { problems } = errorOf("version: 1\nfaults: [{ then: { status: { toString: 1 } } }]");
  expect(problems).toMatchObject([{ code: "bad_choice", field: "faults[0].then.status" }]);
});

test("the name of a file has no key (R46)", () => {
  const error = errorOf("version: 2", "SVC_test_sbxabcdefghijklmnopqrstuvwxyz012345.yaml");
  expect(error.problems[0]?.file).toBe("SVC_test_…");
  expect(error.message).not.toContain("sbxabc");
});
