import { requireKnownOptions, throwIfProblems } from "../rules/validation.js";
import { isMapping, typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";
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
import { readYaml } from "./yaml/read-yaml.js";

// Scenarios from a text, from a value or by the name of a bundled one.

/** The bundled scenarios as values: a page that has only values loads no reader of YAML. */
export const bundledOnly: Extendable = {
  findScenario: (name) => (isScenarioName(name) ? readValue(bundledScenarios[name]) : undefined),
  knownNames: scenarioNames,
};

/** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
type ScenarioLookup = (
  name: string,
  from: string | undefined,
) => { readonly text: string; readonly file: string } | Scenario | undefined;

/** The bundled scenarios first, then those that `load` finds. */
function bundledAndLoaded(load: ScenarioLookup | undefined): Extendable {
  return {
    findScenario(name, from) {
      const bundled = bundledOnly.findScenario(name, from);
      if (bundled !== undefined) return bundled;
      const loaded = load?.(name, from);
      // A `load` in JavaScript may return `null` for a name that it does not know.
      if (loaded === undefined || loaded === null) return undefined;
      if (typeof loaded !== "object") {
        throw new TypeError(`load returned a ${typeof loaded}, and not { text, file } or a scenario`);
      }
      if ("text" in loaded) return readYaml(loaded.text, loaded.file);
      return readValue(loaded);
    },
    knownNames: scenarioNames,
  };
}

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

  const wrong: Record<string, string> = {};
  if (typeof text !== "string") {
    const fix = isMapping(text) ? "pass an object to createSandbox" : "read it as text";
    wrong.text = `is a string, not ${quote(text)}: ${fix}`;
  }
  const { file, load } = options;
  if (file !== undefined && typeof file !== "string") {
    wrong.file = `is the name of a file for messages, not ${quote(file)}`;
  }
  if (load !== undefined && typeof load !== "function") wrong.load = `is a function, not ${quote(load)}`;
  throwIfProblems("parse the scenario", wrong);

  return parseWithPlaces(text, options).scenario;
}

/** Reads and checks a scenario from YAML, and keeps the places of its fields. */
export function parseWithPlaces(text: string, options: ParseOptions): CheckedScenario {
  return interpretScenario(readYaml(text, options.file), bundledAndLoaded(options.load));
}

/** A checked scenario, by whose name a sandbox is shown. */
export interface NamedScenario {
  readonly scenario: Scenario;
  readonly name: string;
  /** The YAML of its file, unless that extends another one. */
  readonly text?: string | undefined;
}

/** A scenario of a file, or of standard input. */
export interface LoadedScenario extends NamedScenario {
  /** Absolute paths of its files, including those it extends; empty for a bundled scenario. */
  readonly files: readonly string[];
  /** The text of standard input, if the scenario is from there. */
  readonly piped?: string;
}

/** A bundled scenario, or a checked value or loaded one; throws `scenario_not_found` or a `ScenarioError`. */
export function resolveSource(source: ScenarioName | Scenario | LoadedScenario): NamedScenario {
  if (isLoaded(source)) return { ...source, scenario: checkedValue(source.scenario) };
  const isUrl = typeTag(source) === "URL";
  if (typeof source !== "string" && !isUrl) {
    const scenario = checkedValue(source);
    return { scenario, name: scenario.name ?? "unnamed" };
  }

  const name = String(source);
  if (isScenarioName(name)) return { scenario: bundledScenarios[name], name };
  let why = "it is not a bundled one";
  if (isUrl || isFileName(name)) {
    const argument = isUrl ? "url" : "file";
    why += `. Pass \`await loadScenario(${argument})\`, with loadScenario of svc-sandbox/node`;
  }
  throw scenarioNotFound(name, why, { list: "`scenarioNames`" });
}

/** A scenario as a value has no valid fields `scenario` and `files`. With a mapping and a list there, it is a loaded one. */
function isLoaded(source: unknown): source is LoadedScenario {
  return isMapping(source) && isMapping(source.scenario) && Array.isArray(source.files);
}

/** Whether a name is that of a file: `mine.yaml`, `scenarios/mine`. */
function isFileName(name: string): boolean {
  return /[\\/]|\.ya?ml$/i.test(name);
}

function checkedValue(value: unknown): Scenario {
  return interpretScenario(readValue(value), bundledOnly).scenario;
}
