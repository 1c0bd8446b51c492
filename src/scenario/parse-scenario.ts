import { bundledScenarios, isScenarioName, scenarioNames } from "./bundled.js";
import { interpretScenario } from "./interpret-scenario.js";
import { readPlain } from "./read-plain.js";
import { readYaml } from "./read-yaml.js";
import type { ExtendsOptions, ScenarioLookup } from "./resolve-extends.js";
import type { Scenario } from "./scenario.generated.js";
import { createSource } from "./scenario-source.js";

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
 * Reads a scenario from YAML: valid, and with the scenario that it extends laid under it.
 *
 * Throws a `ScenarioError` that holds all problems with their places in the text. Reads no files itself.
 *
 * @example
 * parseScenario("version: 1\norganizations: { bank: { type: bank } }").organizations; // { bank: { type: "bank" } }
 */
export function parseScenario(text: string, options: ParseOptions = {}): Scenario {
  const source = createSource(text, options.file);
  return interpretScenario((findings) => readYaml(source, findings), options.file, extendsOptions(options));
}

/**
 * The same as {@link parseScenario} for a scenario given as an object; problems name the field instead of a line.
 * Does not change the object.
 */
export function checkScenario(value: unknown, options: ParseOptions = {}): Scenario {
  return interpretScenario((findings) => readPlain(value, findings), options.file, extendsOptions(options));
}

function extendsOptions({ load }: ParseOptions): ExtendsOptions {
  return {
    lookup: (name, from) => (isScenarioName(name) ? bundledScenarios[name] : load?.(name, from)),
    knownNames: scenarioNames,
  };
}
