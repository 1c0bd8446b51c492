import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ScenarioError } from "../src/scenario/scenario-error.js";
import { brokenScenarios } from "./support/broken-scenarios.js";
import { inKeys, problemsOf } from "./support/problems-of.js";

const folder = join(import.meta.dirname, "broken-scenarios");

/** Where writing the aliases out is refused, the lists themselves are no organizations either. */
const withFurtherProblems = ["alias-bomb"];

test("every broken file stands in the table, and the other way round", () => {
  const files = readdirSync(folder).map((file) => file.replace(/\.yaml$/, ""));
  expect(brokenScenarios.map(([name]) => name).toSorted()).toEqual(files.toSorted());
});

test.each(brokenScenarios)("%s is refused at %i:%i as %s", (name, line, column, code, hint) => {
  const text = readFileSync(join(folder, `${name}.yaml`), "utf8");
  const started = performance.now();
  const problems = problemsOf(text, `${name}.yaml`);
  expect(performance.now() - started).toBeLessThan(1000);
  const problem = problems.find((one) => one.code === code);
  expect(problem).toMatchObject({ file: `${name}.yaml`, line, column, code });
  expect(problem?.hint).toContain(hint);
  if (!withFurtherProblems.includes(name)) expect(problems).toHaveLength(1);
});

test("no error shows a pinned secret, well-formed or not (R46)", () => {
  const random = "4eC39HqLyjWDarjtT1zdp7dc";
  for (const [name] of brokenScenarios.filter(([name]) => name.startsWith("secret-"))) {
    const text = readFileSync(join(folder, `${name}.yaml`), "utf8");
    expect(text).toContain(random);
    const problems = problemsOf(text);
    const { message } = new ScenarioError(problems);
    expect(JSON.stringify(problems) + message).not.toContain(random.slice(4));
  }
});

test("a secret in a place where none belongs is not shown either (R46)", () => {
  const secret = "SVC_live_4eC39HqLyjWDarjtT1zdp7dc";
  const texts = [
    inKeys(`      ${secret}: { environment: test }`),
    inKeys(`      main: { environment: ${secret}, ${secret}: 1 }`),
    `version: 1\n# ${secret}\n"${secret}: 1`,
    `version: 1\ndefault_key: ${secret}\nextends: ${secret}`,
  ];
  for (const text of texts) {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems) + new ScenarioError(problems).message).not.toContain("4eC39");
  }
});
