import { bundledScenarios, isScenarioName, scenarioNames } from "./bundled.js";
import { interpretScenario } from "./interpret-scenario.js";
import { readPlain } from "./read-plain.js";
import type { ExtendsOptions, ScenarioLookup } from "./resolve-extends.js";
import type { Scenario } from "./scenario.generated.js";

export interface ParseOptions {
  /**
   * The name under which problems speak of the text.
   *
   * Default: `<scenario>`
   */
  readonly file?: string | undefined;
  /**
   * Finds a scenario that `extends` names and that is not a bundled one.
   *
   * Default: only bundled scenarios can be extended.
   */
  readonly load?: ScenarioLookup | undefined;
}

/**
 * Checks a scenario given as a value and lays the scenario that it extends under it; problems name the field.
 *
 * Throws a `ScenarioError` that holds all problems. Does not change the value. Unlike `parse-scenario.ts` this does not
 * load the YAML reader.
 */
export function checkScenario(value: unknown, options: ParseOptions = {}): Scenario {
  return interpretScenario((findings) => readPlain(value, findings), options.file, extendsOptions(options));
}

/** Where `extends` looks: among the bundled scenarios first. */
export function extendsOptions({ load }: ParseOptions): ExtendsOptions {
  return {
    lookup: (name, from) => (isScenarioName(name) ? bundledScenarios[name] : load?.(name, from)),
    knownNames: scenarioNames,
  };
}
