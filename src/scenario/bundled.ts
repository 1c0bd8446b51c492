import { SandboxError } from "../domain/errors.js";
import { didYouMean, quote } from "../schema/words.js";
import { type BundledKeyRefs, bundledTexts } from "./bundled.generated.js";
import type { Scenario } from "./scenario.generated.js";

/** The name of a bundled scenario. */
export type ScenarioName = keyof BundledKeyRefs;

/** The names of the bundled scenarios, in alphabetical order. */
export const scenarioNames = /* @__PURE__ */ Object.keys(bundledTexts) as readonly ScenarioName[];

/**
 * The scenarios that the package ships, checked and resolved when it was built: no YAML is read at run time. Each is
 * parsed when it is first used.
 */
export const bundledScenarios = /* @__PURE__ */ parsedWhenUsed();

function parsedWhenUsed(): Readonly<Record<ScenarioName, Scenario>> {
  const scenarios = {} as Record<ScenarioName, Scenario>;
  for (const name of scenarioNames) {
    Object.defineProperty(scenarios, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = JSON.parse(bundledTexts[name]);
        Object.defineProperty(scenarios, name, { enumerable: true, value });
        return value;
      },
    });
  }
  return scenarios;
}

/** Whether there is a bundled scenario of this name. */
export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(bundledTexts, name);
}

/** The refusal of a name that leads to no scenario, with the nearest name that does, or the file that was meant. */
export function scenarioNotFound(given: string, why: string, meant?: string): SandboxError {
  const hint = meant === undefined ? didYouMean(given, scenarioNames) : ` Did you mean ${quote(meant)}?`;
  return new SandboxError(
    "scenario_not_found",
    `Failed to find the scenario ${quote(given)}: ${why}.${hint} \`svc-sandbox list\` shows the bundled ones.`,
    { given, known: scenarioNames },
  );
}
