import {
  bundledScenarios,
  isScenarioName,
  type ScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "./bundled.js";
import type { ExtendsOptions } from "./extends.js";
import { scenarioLimits } from "./format/fields.js";
import { type CheckedScenario, interpretScenario } from "./interpret.js";
import { readPlain } from "./plain-data.js";
import { addingTo, type FieldProblem } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import type { ScenarioText } from "./scenario-text.js";
import { scenarioText } from "./yaml.js";

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
  return readScenario(text, options).scenario;
}

/** The same with the places of its fields. */
export function readScenario(text: string, { file, load }: ParseOptions): CheckedScenario {
  return checkText(scenarioText(text, file), load);
}

/** Checks a scenario in a text, and merges it with the one that it extends. Throws a `ScenarioError`. */
export function checkText(text: ScenarioText, load?: ScenarioLookup): CheckedScenario {
  return interpretScenario(text, extendsOptions(load));
}

/**
 * Checks a scenario given as a value and merges it with the bundled scenario that it extends.
 *
 * Throws a `ScenarioError` with all problems. A scenario may have at most `maxValues` values: by default, the snapshot
 * of a sandbox with all the keys that it can have. Does not change the given value.
 */
export function checkScenario(
  value: unknown,
  { maxValues = 10_000_000 }: { maxValues?: number } = {},
): Scenario {
  return interpretScenario(scenarioValue(value, maxValues), bundledOnly).scenario;
}

export interface NamedScenario {
  readonly scenario: Scenario;
  readonly name: string;
  readonly text?: string | undefined;
}

/** A bundled scenario or a checked value; throws `scenario_not_found` or a `ScenarioError`. */
export function resolveSource(source: ScenarioName | Scenario): NamedScenario {
  if (typeof source !== "string") {
    const scenario = checkScenario(source);
    return { scenario, name: scenario.name ?? "unnamed" };
  }
  if (isScenarioName(source)) return { scenario: bundledScenarios[source], name: source };
  const isFile = /[\\/]|\.ya?ml$/i.test(source);
  const load = "Read a file with loadScenario of svc-sandbox/node, and pass its scenario";
  const why = `it is not a bundled one${isFile ? `. ${load}` : ""}`;
  throw scenarioNotFound(source, why, { list: "`scenarioNames`" });
}

// Without the YAML reader, so that a page with scenarios as values does not load it.
const bundledOnly: ExtendsOptions = {
  find: (name) => (isScenarioName(name) ? scenarioValue(bundledScenarios[name]) : undefined),
  knownNames: scenarioNames,
};

function extendsOptions(load: ScenarioLookup | undefined): ExtendsOptions {
  return {
    ...bundledOnly,
    find(name, from) {
      const bundled = bundledOnly.find(name, from);
      if (bundled !== undefined) return bundled;
      const loaded = load?.(name, from);
      if (loaded === undefined) return undefined;
      return "text" in loaded ? scenarioText(loaded.text, loaded.file) : scenarioValue(loaded);
    },
  };
}

function scenarioValue(value: unknown, maxValues: number = scenarioLimits.parts): ScenarioText {
  const problems: FieldProblem[] = [];
  const fields = readPlain(value, addingTo(problems), maxValues);
  const scenario = fields && { fields, find: () => ({ place: undefined, depth: 0, layer: 0 }) };
  return { file: undefined, text: undefined, startsLikeScenario: true, scenario, problems };
}
