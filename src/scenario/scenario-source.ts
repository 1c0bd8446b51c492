import { isMapping, typeTag } from "../schema/type-tag.js";
import { bundledScenarios, isScenarioName, type ScenarioName, scenarioNotFound } from "./bundled.js";
import { interpretScenario } from "./interpret.js";
import { bundledOnly } from "./parse-scenario.js";
import type { Scenario } from "./scenario.generated.js";
import { readValue } from "./written-scenario.js";

// What callers start a sandbox with becomes a checked scenario with a name.

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
