import {
  bundledScenarios,
  isScenarioName,
  type ScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "./bundled.js";
import type { Extendable } from "./extends.js";
import { type CheckedScenario, interpretScenario } from "./interpret.js";
import { readValue } from "./plain-data.js";
import type { Scenario } from "./scenario.generated.js";
import { readYaml } from "./yaml.js";

// Scenarios from a text, from a value or by the name of a bundled one.

/** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
type ScenarioLookup = (
  name: string,
  from: string | undefined,
) => { readonly text: string; readonly file: string } | Scenario | undefined;

export interface ParseOptions {
  /** The file name in problems. Default: `<scenario>` */
  readonly file?: string | undefined;
  /** Finds a scenario that `extends` names. Default: only bundled scenarios can be extended. */
  readonly load?: ScenarioLookup | undefined;
}

/**
 * Reads a scenario from YAML, checks it, and merges it with the one it extends.
 *
 * Throws a `ScenarioError` with all problems and their places in the text. Reads no files.
 *
 * @example
 * parseScenario("version: 1\norganizations: { bank: { type: bank } }").organizations; // { bank: { type: "bank" } }
 */
export function parseScenario(text: string, options: ParseOptions = {}): Scenario {
  return parseWithPlaces(text, options).scenario;
}

/** The same with the places of its fields. */
export function parseWithPlaces(text: string, { file, load }: ParseOptions): CheckedScenario {
  return interpretScenario(readYaml(text, file), { ...bundledOnly, find: findWith(load) });
}

export interface NamedScenario {
  readonly scenario: Scenario;
  readonly name: string;
  readonly text?: string | undefined;
}

/** A bundled scenario or a checked value; throws `scenario_not_found` or a `ScenarioError`. */
export function resolveSource(source: ScenarioName | Scenario): NamedScenario {
  if (typeof source !== "string") {
    const { scenario } = interpretScenario(readValue(source), bundledOnly);
    return { scenario, name: scenario.name ?? "unnamed" };
  }
  if (isScenarioName(source)) return { scenario: bundledScenarios[source], name: source };
  const isFile = /[\\/]|\.ya?ml$/i.test(source);
  const load = "Read a file with loadScenario of svc-sandbox/node, and pass its scenario";
  const why = `it is not a bundled one${isFile ? `. ${load}` : ""}`;
  throw scenarioNotFound(source, why, { list: "`scenarioNames`" });
}

// Without the YAML reader, so that a page with scenarios as values does not load it.
export const bundledOnly: Extendable = {
  find: (name) => (isScenarioName(name) ? readValue(bundledScenarios[name]) : undefined),
  knownNames: scenarioNames,
};

function findWith(load: ScenarioLookup = () => undefined): Extendable["find"] {
  return (name, from) => {
    const bundled = bundledOnly.find(name, from);
    if (bundled !== undefined) return bundled;
    const loaded = load(name, from);
    if (loaded === undefined) return undefined;
    return "text" in loaded ? readYaml(loaded.text, loaded.file) : readValue(loaded);
  };
}
