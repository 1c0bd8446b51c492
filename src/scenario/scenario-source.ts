import { SandboxError } from "../rules/errors.js";
import { isMapping, typeTag } from "../schema/type-tag.js";
import { didYouMean, quote } from "../schema/words.js";
import { type BundledKeyRefs, bundledTexts } from "./bundled.generated.js";
import { bundledOnly, interpretScenario } from "./interpret.js";
import type { Scenario } from "./scenario.generated.js";
import { readValue } from "./written-scenario.js";

// What callers start a sandbox with becomes a checked scenario with a name.

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

/**
 * A bundled scenario by its name, a value, or a loaded scenario. The last two are checked here, because JavaScript can change them.
 * Throws `scenario_not_found` or a `ScenarioError`.
 */
export function resolveSource(source: ScenarioName | Scenario | LoadedScenario): NamedScenario {
  if (typeof source === "string") return bundledScenario(source);
  if (isLoaded(source)) return { ...source, scenario: checkedValue(source.scenario) };
  if (typeTag(source) === "URL") throw notLoaded(String(source), "url");
  const scenario = checkedValue(source);
  return { scenario, name: scenario.name ?? "unnamed" };
}

function bundledScenario(name: string): NamedScenario {
  if (isScenarioName(name)) return { scenario: bundledScenarios[name], name };
  const isFileName = /[\\/]|\.ya?ml$/i.test(name); // `mine.yaml`, `scenarios/mine`
  if (isFileName) throw notLoaded(name, "file");
  throw scenarioNotFound(name, whyUnknown, listsScenarios);
}

const whyUnknown = "it is not a bundled one";
const listsScenarios = { list: "`scenarioNames`" };

/** The error for a file or a URL, which only `loadScenario` reads: `argument` stands for it in the example. */
function notLoaded(fileOrUrl: string, argument: "file" | "url"): SandboxError {
  const fix = `Pass \`await loadScenario(${argument})\`, with loadScenario of svc-sandbox/node`;
  return scenarioNotFound(fileOrUrl, `${whyUnknown}. ${fix}`, listsScenarios);
}

/** A scenario as a value has no valid fields `scenario` and `files`. With a mapping and a list there, it is a loaded one. */
function isLoaded(source: unknown): source is LoadedScenario {
  return isMapping(source) && isMapping(source.scenario) && Array.isArray(source.files);
}

function checkedValue(value: unknown): Scenario {
  return interpretScenario(readValue(value), bundledOnly).scenario;
}

/** The name of a bundled scenario. */
export type ScenarioName = keyof BundledKeyRefs;

/** The names of the bundled scenarios, in alphabetical order. */
export const scenarioNames = /* @__PURE__ */ Object.keys(bundledTexts) as readonly ScenarioName[];

/** Checked and resolved at build time, so no YAML is read at run time. Each is parsed on first use. */
export const bundledScenarios = /* @__PURE__ */ parsedWhenUsed();

function parsedWhenUsed(): Readonly<Record<ScenarioName, Scenario>> {
  const scenarios = {} as Record<ScenarioName, Scenario>;
  for (const name of scenarioNames) {
    Object.defineProperty(scenarios, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = JSON.parse(bundledTexts[name]);
        Object.defineProperty(scenarios, name, { enumerable: true, value });
        return value;
      },
    });
  }
  return scenarios;
}

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(bundledTexts, name);
}

interface NotFoundOptions {
  /** The name that was meant, if that is known. */
  readonly meant?: string | undefined;
  /** What lists the names. */
  readonly list?: string;
  /** The name as it is shown. Default: in quotes. */
  readonly shown?: string;
}

/** The error for an unknown scenario name, with the nearest name or the intended file, and what lists the names. */
export function scenarioNotFound(
  nameOrFile: string,
  why: string,
  options: NotFoundOptions = {},
): SandboxError {
  const { meant, list = "The command `list`", shown = quote(nameOrFile) } = options;
  // People expect a bundled scenario to be a file.
  const name = nameOrFile.replace(/^.*[\\/]|\.ya?ml$/gi, "");
  const hint = meant === undefined ? didYouMean(name, scenarioNames) : ` Did you mean ${quote(meant)}?`;
  return new SandboxError(
    "scenario_not_found",
    `Unknown scenario ${shown}: ${why}.${hint} ${list} shows the bundled ones.`,
    { given: nameOrFile, known: scenarioNames },
  );
}
