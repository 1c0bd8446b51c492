import type { Path } from "../schema/shape.js";
import {
  bundledScenarios,
  isScenarioName,
  type ScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "./bundled.js";
import { type ExtendsOptions, type FoundScenario, resolveExtends } from "./extends.js";
import { interpretScenario, readPlain } from "./interpret-scenario.js";
import type { PlaceDescription } from "./problems/source.js";
import type { Scenario } from "./scenario.generated.js";
import { foundText } from "./yaml.js";

// The ways to a scenario: from a text, from a value, by the name of a bundled one.

/** The text of a scenario that another one extends, and the file that problems in it are reported for. */
export interface LoadedScenario {
  readonly text: string;
  readonly file: string;
}

/**
 * Finds the scenario that `extends` names: its text, or the scenario itself, or `undefined` when there is none.
 *
 * `from` is the file of the scenario that extends.
 */
export type ScenarioLookup = (
  name: string,
  from: string | undefined,
) => LoadedScenario | Scenario | undefined;

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
export function parseScenario(text: string, { file, load }: ParseOptions = {}): Scenario {
  return interpretScenario(foundText(text, file), extendsOptions(load));
}

/**
 * Checks a scenario given as a value and lays it over the bundled scenario that it extends; problems name the field.
 *
 * Throws a `ScenarioError` that holds all problems; to have more than `mostValues` values (default: 100,000) is one.
 * Does not change the value.
 */
export function checkScenario(value: unknown, { mostValues }: { mostValues?: number } = {}): Scenario {
  return interpretScenario(foundValue(value, mostValues), bundledOnly);
}

/** A scenario and what people call it. */
export interface NamedScenario {
  readonly scenario: Scenario;
  readonly name: string;
  /** Its YAML, where that is known and all of it. */
  readonly text?: string | undefined;
}

/** The bundled scenario of a name, or a checked scenario value; throws `scenario_not_found` or a `ScenarioError`. */
export function resolveSource(source: ScenarioName | Scenario): NamedScenario {
  if (typeof source !== "string") {
    const scenario = checkScenario(source);
    return { scenario, name: scenario.name ?? "unnamed" };
  }
  if (isScenarioName(source)) return { scenario: bundledScenarios[source], name: source };
  const isFile = /[\\/]|\.ya?ml$/i.test(source);
  const load = "Read a file with loadScenario of svc-sandbox/node, and pass its scenario";
  throw scenarioNotFound(source, `it is not a bundled one${isFile ? `. ${load}` : ""}`);
}

/** A place in a scenario, as people look it up. */
export interface FoundPlace extends PlaceDescription {
  readonly file: string | undefined;
}

/** Finds the place of a field, in this text or in one that it extends; `undefined` when no text has it. */
export function placeOf(text: string, path: Path, { file, load }: ParseOptions = {}): FoundPlace | undefined {
  const own = foundText(text, file).read(() => {});
  const whole = own && resolveExtends(own, file, extendsOptions(load), () => {});
  const found = whole?.placeOf(path, "value");
  if (found?.place === undefined || (found.depth === 0 && path.length > 0)) return undefined;
  return { file: found.place.source.file, ...found.place.describe() };
}

// Without the YAML reader: a page that gives its scenarios as values does not load it.
const bundledOnly: ExtendsOptions = {
  find: (name) => (isScenarioName(name) ? foundValue(bundledScenarios[name]) : undefined),
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
      return "text" in loaded ? foundText(loaded.text, loaded.file) : foundValue(loaded);
    },
  };
}

function foundValue(value: unknown, mostValues?: number): FoundScenario {
  return {
    file: undefined,
    read(report) {
      const fields = readPlain(value, report, mostValues);
      return fields && { fields, placeOf: () => ({ place: undefined, depth: 0 }) };
    },
  };
}
