import { expect, test } from "vitest";
import { ScenarioError } from "../../src/index.js";
import { brokenScenarios } from "../cases/scenario-problems.js";
import { inKeys, problemsOf } from "../support/problems-of.js";

// Where the ▲ of a case stands, as editors count.
function placeIn(text: string): { line: number; column: number } {
  const before = text.replace("\uFEFF", "").split("▲")[0]?.split("\n") ?? [];
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

test.each(brokenScenarios)("%s: %j is reported at its place, with a hint", (code, text, hint) => {
  const problems = problemsOf(text.replace("▲", ""), "world.yaml");
  expect(problems.map((one) => one.code)).toContain(code);
  const problem = problems.find((one) => one.code === code);
  expect(problem).toMatchObject({ file: "world.yaml", ...placeIn(text) });
  expect(problem?.hint).toContain(hint);
});

test("everything that is wrong with the shape is reported at once, from top to end", () => {
  const text = inKeys("      a: { environment: tst, colour: red }\n      B: {}\n").replace(
    "bank\n",
    "banc\n",
  );
  expect(problemsOf(text).map(({ code, line }) => [line, code])).toEqual([
    [4, "bad_choice"],
    [6, "bad_choice"],
    [6, "unknown_field"],
    [7, "bad_ref"],
    [7, "missing_field"],
  ]);
});

test("contradictions are reported at once, when the shape is right", () => {
  const keys = ["a", "b", "c", "d", "e", "f"].map((ref) => `      ${ref}: { environment: test }\n`).join("");
  expect(problemsOf(`default_key: nope\n${inKeys(keys)}`).map(({ code }) => code)).toEqual([
    "unknown_key_ref",
    "too_many_active_keys",
  ]);
});

test("a key that a step makes may be used by any step, under the name that it will have", () => {
  const steps = [
    "  - rotate: { key: main }",
    "  - create_key: { organization: bank, environment: test, name: Core banking }",
    "  - request: { key: main-2 }",
    "  - rotate: { key: core-banking, as: core }",
    "  - request: { key: core }",
  ];
  expect(problemsOf(`${inKeys("      main: { environment: test }\n")}story:\n${steps.join("\n")}\n`)).toEqual(
    [],
  );
});

test("durations are understood in words as well", () => {
  const expiries = ["5 minutes", "1.5h", "-2 days", "1w", "250ms"];
  const lines = expiries.map((text, index) => `      k${index}: { environment: test, expires: ${text} }\n`);
  expect(problemsOf(inKeys(lines.join("")))).toEqual([]);
});

const random = "4eC39HqLyjWDarjtT1zdp7dc";

test.each([
  ...brokenScenarios.filter(([, text]) => text.includes(random)).map(([, text]) => text),
  inKeys(`      SVC_live_${random}: { environment: test }`),
  inKeys(`      main: { environment: SVC_live_${random}, SVC_live_${random}: 1 }`),
  `version: 1\n# SVC_live_${random}\n"SVC_live_${random}: 1`,
  `version: 1\ndefault_key: SVC_live_${random}\nextends: SVC_live_${random}`,
])("no error shows the key in %j (R46)", (text) => {
  const problems = problemsOf(text.replace("▲", ""));
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems) + new ScenarioError(problems).message).not.toContain(random.slice(4));
});

test("prototypes stay as they are, whatever a scenario is called", () => {
  problemsOf("version: 1\n__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }\n");
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
