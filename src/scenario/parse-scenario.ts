import { requireFields, requireKnownOptions } from "../rules/schema/check.js";
import { isMapping, tagOf } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
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
 * Throws a `ScenarioError` with all problems and their places in the text, `validation_failed` for what is no text. Reads no files.
 *
 * @example
 * parseScenario("version: 1\norganizations: { bank: { type: bank } }").organizations; // { bank: { type: "bank" } }
 */
export function parseScenario(text: string, options: ParseOptions = {}): Scenario {
  requireKnownOptions("parse the scenario", options, ["file", "load"]);
  const { file = "", load = () => undefined } = options;
  const fix = isMapping(text) ? "pass an object to createSandbox" : "read it as text";
  requireFields("parse the scenario", {
    text: typeof text === "string" ? undefined : `is a string, not ${quote(text)}: ${fix}`,
    file: typeof file === "string" ? undefined : `is the name of a file for messages, not ${quote(file)}`,
    load: typeof load === "function" ? undefined : `is a function, not ${quote(load)}`,
  });
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

/** A scenario of a file. With the YAML of the file as `text`, unless that extends another one. */
export interface LoadedScenario extends NamedScenario {
  /** Absolute paths of its files, including those it extends; empty for a bundled scenario. */
  readonly files: readonly string[];
  readonly piped?: string;
}

/** A bundled scenario, or a checked value or loaded one; throws `scenario_not_found` or a `ScenarioError`. */
export function resolveSource(source: ScenarioName | Scenario | LoadedScenario): NamedScenario {
  if (isLoaded(source)) return { ...source, scenario: checkedValue(source.scenario) };
  const isUrl = tagOf(source) === "URL";
  if (typeof source !== "string" && !isUrl) {
    const scenario = checkedValue(source);
    return { scenario, name: scenario.name ?? "unnamed" };
  }
  const name = String(source);
  if (isScenarioName(name)) return { scenario: bundledScenarios[name], name };
  const isFile = isUrl || /[\\/]|\.ya?ml$/i.test(name);
  const load = `Pass \`await loadScenario(${isUrl ? "url" : "file"})\`, with loadScenario of svc-sandbox/node`;
  const why = `it is not a bundled one${isFile ? `. ${load}` : ""}`;
  throw scenarioNotFound(name, why, { list: "`scenarioNames`" });
}

function isLoaded(source: unknown): source is LoadedScenario {
  return isMapping(source) && "files" in source && typeof source.name === "string";
}

const checkedValue = (value: unknown) => interpretScenario(readValue(value), bundledOnly).scenario;

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
