import { extendsOptions, type ParseOptions } from "./check-scenario.js";
import { interpretScenario } from "./interpret-scenario.js";
import { readYaml } from "./read-yaml.js";
import type { Scenario } from "./scenario.generated.js";
import { createSource } from "./scenario-source.js";

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
