import { expect, test } from "vitest";
import { ScenarioError } from "./problems.js";
import { parseScenario } from "./scenario-source.js";

const random = "4eC39HqLyjWDarjtT1zdp7dc";
const key = `SVC_test_sbx${random}`;

/** The problems of a key with these lines, as they are shown. */
function shownFor(lines: string): string {
  const start =
    "version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n      main:\n        environment: test\n";
  try {
    parseScenario(`${start}${lines}\n`);
  } catch (error) {
    if (error instanceof ScenarioError) return JSON.stringify(error.problems) + error.message;
  }
  throw new Error("the scenario has no problem");
}

test.each([
  `        secret:${key}`,
  `        secret:\n          ${key}:a`,
  `        secret:\n          "${key}`,
  `        secret: *${key}`,
  `        secret: !${key} a`,
  `        secret: |\n          ${key}`,
  `        secret: "SVC_test_\\\n          sbx${random}"\n        }`,
  `        secret: { ${key}: 1, ${key}: 2 }`,
  `        secret: { ${key}: { __proto__: 1 } }`,
  `        x-a: &a ${key}\n        state: *a`,
  `        secret: &a ${key}\n        scopes: *a`,
  `        secret: &a ${key}\n        expires: *a`,
  `        name: &a "${key}\\n"\n        replaced_by: *a`,
  `        &a${random} state: *a${random}`,
  `        limits: "\\u0053VC_test_sbx${random}"`,
])("R46 no problem shows a key: %s", (lines) => {
  expect(shownFor(lines)).not.toContain(random.slice(4));
});

test.each([
  "        secret: hunter2-prod: two",
  "        secret: hunter2-prod\n          name: a",
  "      second: { environment: test, secret:hunter2-prod }",
  '      second: \'{"secret": "hunter2-prod"}\'',
  "        .secret: hunter2-prod",
  "        - token:hunter2-prod",
  "        secret: 87654321hunter2",
])("R46 the line with a secret's name shows no value: %s", (lines) => {
  expect(shownFor(lines)).not.toContain("hunter2");
});
