import { expect, test } from "vitest";
import { bundledScenarios, isScenarioName, scenarioNames } from "./bundled.js";
import { checkScenario } from "./check-scenario.js";

test("every bundled scenario is valid and stands on its own", () => {
  for (const name of scenarioNames) {
    expect(bundledScenarios[name]).not.toHaveProperty("extends");
    expect(checkScenario(bundledScenarios[name])).toEqual(bundledScenarios[name]);
  }
});

test("only names of bundled scenarios are scenario names", () => {
  expect(scenarioNames.every(isScenarioName)).toBe(true);
  expect(["toString", "__proto__", "constructor", "", "key-sates"].some(isScenarioName)).toBe(false);
});
