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
import { type CheckedScenario, interpretScenario, type ParentLookup } from "./interpret.js";
import type { Scenario } from "./scenario.generated.js";
import { readValue, type WrittenScenario } from "./written-scenario.js";
import { readYaml } from "./yaml/read-yaml.js";

// What callers give becomes a checked scenario: a name, a value or a loaded scenario that a sandbox starts with, or a text.

/** A checked scenario, by whose name a sandbox is shown. */
export interface NamedScenario {
  /** Its value, checked. */
  readonly scenario: Scenario;
  /** The bundled name, or its file. */
  readonly name: string;
  /** The YAML of its file, unless that extends another one. */
  readonly text?: string | undefined;
}

/** A scenario of a file, or of standard input. */
export interface LoadedScenario extends NamedScenario {
  /** Absolute paths of its files, including those it extends; empty for a bundled scenario. */
  readonly files: readonly string[];
}

/** The bundled scenarios as values: a page that has only values loads no reader of YAML. */
export const bundledOnly: ParentLookup = {
  findParent: (name) => (isScenarioName(name) ? readValue(bundledScenarios[name]) : undefined),
  knownNames: scenarioNames,
};

/**
 * A bundled scenario by its name, a value, or a loaded scenario. The last two are checked here, because JavaScript can change them.
 * Throws `scenario_not_found` or a `ScenarioError`.
 */
export function resolveSource(source: ScenarioName | Scenario | LoadedScenario): NamedScenario {
  const isUrl = typeTag(source) === "URL";
  if (typeof source === "string" || isUrl) {
    const nameOrFile = String(source);
    if (isScenarioName(nameOrFile)) return { scenario: bundledScenarios[nameOrFile], name: nameOrFile };
    let why = "it is not a bundled one";
    const isFileName = /[\\/]|\.ya?ml$/i.test(nameOrFile); // `mine.yaml`, `scenarios/mine`
    const argument = isUrl ? "url" : "file";
    // Only `loadScenario` reads files and URLs.
    if (isUrl || isFileName) {
      why += `. Pass \`await loadScenario(${argument})\`, with loadScenario of svc-sandbox/node`;
    }
    throw scenarioNotFound(nameOrFile, why, { list: "`scenarioNames`" });
  }

  const check = (value: unknown) => interpretScenario(readValue(value), bundledOnly).scenario;
  // A scenario as a value has no valid fields `scenario` and `files`. With a mapping and a list there, it is a loaded one.
  if (isMapping(source) && isMapping(source.scenario) && Array.isArray(source.files)) {
    const loaded = source as unknown as LoadedScenario;
    return { ...loaded, scenario: check(loaded.scenario) };
  }
  const scenario = check(source);
  return { scenario, name: scenario.name ?? "unnamed" };
}

/** The bundled scenarios first, then those that `load` finds. */
function bundledAndLoaded(load: ParseOptions["load"]): ParentLookup {
  return {
    findParent(name, from) {
      const bundled = bundledOnly.findParent(name, from);
      if (bundled !== undefined) return bundled;
      const loaded: unknown = load?.(name, from);
      // A `load` in JavaScript may return `null` for a name that it does not know.
      if (loaded === undefined || loaded === null) return undefined;
      return readLoaded(loaded);
    },
    knownNames: scenarioNames,
  };
}

/** What `load` returned, which JavaScript does not check. Throws a `TypeError` for anything else than a file or a scenario. */
function readLoaded(loaded: unknown): WrittenScenario {
  if (!isMapping(loaded)) {
    // Only its type is shown: a text may be any file.
    const type = typeTag(loaded).toLowerCase();
    throw new TypeError(`load returned a ${type}, and not { text, file } or a scenario`);
  }
  const { text, file } = loaded;
  if (text === undefined) return readValue(loaded);
  if (typeof text !== "string" || typeof file !== "string") {
    throw new TypeError("load returned a text or a file that is not a string");
  }
  return readYaml(text, file);
}

export interface ParseOptions {
  /** The file name in problems. Default: `<scenario>` */
  readonly file?: string | undefined;
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. Default: only bundled scenarios can be extended. */
  readonly load?:
    | ((
        name: string,
        from: string | undefined,
      ) => { readonly text: string; readonly file: string } | Scenario | undefined)
    | undefined;
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

  return parseWithPlaces(text, options, Date.now()).scenario;
}

/** Reads and checks a scenario from YAML, and keeps the places of its fields. `start`: as `interpretScenario` has it. */
export function parseWithPlaces(text: string, options: ParseOptions, start?: number): CheckedScenario {
  return interpretScenario(readYaml(text, options.file), bundledAndLoaded(options.load), start);
}
