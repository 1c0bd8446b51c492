import { SandboxError } from "../rules/errors.js";
import { didYouMean, quote } from "../schema/words.js";
import { type BundledKeyRefs, bundledTexts } from "./bundled.generated.js";
import type { Scenario } from "./scenario.generated.js";

/** The name of a bundled scenario. */
export type ScenarioName = keyof BundledKeyRefs;

/** The names of the bundled scenarios, in alphabetical order. */
export const scenarioNames = /* @__PURE__ */ Object.keys(bundledTexts) as readonly ScenarioName[];

/** Checked and resolved at build time, so no YAML is read at run time. Each is parsed on first use. */
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

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(bundledTexts, name);
}

/**
 * The error for an unknown scenario name. It has the name or file that was `meant`, or else the nearest name, and the `list` of the
 * names. `shown` is the name for the message.
 */
export function scenarioNotFound(
  nameOrFile: string,
  why: string,
  {
    meant,
    list = "The command `list`",
    shown = quote(nameOrFile),
  }: { readonly meant?: string | undefined; readonly list?: string; readonly shown?: string } = {},
): SandboxError {
  // People expect a bundled scenario to be a file.
  const name = nameOrFile.replace(/^.*[\\/]|\.ya?ml$/gi, "");
  const hint = meant === undefined ? didYouMean(name, scenarioNames) : ` Did you mean ${quote(meant)}?`;
  return new SandboxError(
    "scenario_not_found",
    `Unknown scenario ${shown}: ${why}.${hint} ${list} shows the bundled ones.`,
    { given: nameOrFile, known: scenarioNames },
  );
}
