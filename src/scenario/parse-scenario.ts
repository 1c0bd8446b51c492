import type { Members } from "../rules/schema/messages.js";
import type { Path } from "../rules/schema/shape.js";
import {
  bundledScenarios,
  isScenarioName,
  type ScenarioName,
  scenarioNames,
  scenarioNotFound,
} from "./bundled.js";
import { scenarioLimits } from "./format/fields.js";
import type { PlaceDescription } from "./problems.js";
import {
  type ExtendsOptions,
  type FoundScenario,
  interpretScenario,
  type ReadScenario,
  readPlain,
  resolveExtends,
  type ScenarioText,
} from "./read.js";
import type { Scenario } from "./scenario.generated.js";
import { foundText } from "./yaml.js";

// Scenarios from a text, from a value or by the name of a bundled one.

/** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
export type ScenarioLookup = (name: string, from: string | undefined) => ScenarioText | Scenario | undefined;

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
  return openScenario(text, options).check();
}

/** A scenario in a text, which is read once for its fields, its checks and its places. */
export interface OpenScenario {
  readonly text: string;
  /** The fields before any check; `undefined` if it has none. */
  readonly fields: () => Members | undefined;
  /** The checked scenario; throws a `ScenarioError`. */
  readonly check: () => Scenario;
  /** The place of a field in this text or one that it extends; `undefined` if no text has it. */
  readonly placeOf: (path: Path) => FoundPlace | undefined;
}

export function openScenario(text: string, { file, load }: ParseOptions = {}): OpenScenario {
  const written = foundText(text, file);
  const options = extendsOptions(load);
  let whole: ReadScenario | undefined;
  return {
    text,
    fields: () => written.read(() => {})?.fields,
    check: () => interpretScenario(written, options),
    placeOf(path) {
      const scenario = written.read(() => {});
      whole ??= scenario && resolveExtends(scenario, file, options, () => {});
      const { place, depth } = whole?.placeOf(path, "value") ?? {};
      if (place === undefined || (depth === 0 && path.length > 0)) return undefined;
      return { file: place.source.file, ...place.describe() };
    },
  };
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
  return interpretScenario(foundValue(value, maxValues), bundledOnly);
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
  throw scenarioNotFound(source, `it is not a bundled one${isFile ? `. ${load}` : ""}`);
}

export interface FoundPlace extends PlaceDescription {
  readonly file: string | undefined;
}

// Without the YAML reader, so that a page with scenarios as values does not load it.
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

function foundValue(value: unknown, maxValues: number = scenarioLimits.parts): FoundScenario {
  return {
    file: undefined,
    startsLikeScenario: true,
    read(report) {
      const fields = readPlain(value, report, maxValues);
      return fields && { fields, placeOf: () => ({ place: undefined, depth: 0 }) };
    },
  };
}
