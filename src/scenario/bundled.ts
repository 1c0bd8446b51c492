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

interface NotFoundOptions {
  /** The name that was meant, if that is known. */
  readonly meant?: string | undefined;
  /** What lists the names. */
  readonly list?: string;
  /** The name as it is shown. Default: in quotes. */
  readonly shown?: string;
}

/** The error for an unknown scenario name, with the nearest name or the intended file, and what lists the names. */
export function scenarioNotFound(
  nameOrFile: string,
  why: string,
  options: NotFoundOptions = {},
): SandboxError {
  const { meant, list = "The command `list`", shown = quote(nameOrFile) } = options;
  // People expect a bundled scenario to be a file.
  const name = nameOrFile.replace(/^.*[\\/]|\.ya?ml$/gi, "");
  const hint = meant === undefined ? didYouMean(name, scenarioNames) : ` Did you mean ${quote(meant)}?`;
  return new SandboxError(
    "scenario_not_found",
    `Unknown scenario ${shown}: ${why}.${hint} ${list} shows the bundled ones.`,
    { given: nameOrFile, known: scenarioNames },
  );
}
