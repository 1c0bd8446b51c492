import { requireKnownOptions, throwIfProblems } from "../rules/validation.js";
import { isMapping, typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";
import { bundledScenarios, isScenarioName, scenarioNames } from "./bundled.js";
import { type CheckedScenario, interpretScenario, type ParentLookup } from "./interpret.js";
import type { Scenario } from "./scenario.generated.js";
import { readValue, type WrittenScenario } from "./written-scenario.js";
import { readYaml } from "./yaml/read-yaml.js";

/** The bundled scenarios as values: a page that has only values loads no reader of YAML. */
export const bundledOnly: ParentLookup = {
  findParent: (name) => (isScenarioName(name) ? readValue(bundledScenarios[name]) : undefined),
  knownNames: scenarioNames,
};

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
