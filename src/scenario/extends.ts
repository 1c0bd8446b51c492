import { SandboxError } from "../spec/errors.js";
import { isMapping } from "../spec/schema/json.js";
import type { Path } from "../spec/schema/shape.js";
import { nearest, quote } from "../spec/schema/words.js";
import { type Diagnostic, ScenarioError, type ScenarioProblemCode } from "./problems/scenario-error.js";
import type { Place } from "./problems/source.js";

// Scenarios that extend others: finding, reading and merging them.

/** The unchecked fields of a scenario. */
export type Fields = Readonly<Record<string, unknown>>;

/** A scenario with the places of its fields. */
export interface ReadScenario {
  readonly fields: Fields;
  /** Finds the place of a field, or of the nearest one around it; `depth` is the length of the found path. */
  readonly placeOf: (
    path: Path,
    pointAt: "key" | "value",
  ) => { readonly place: Place | undefined; readonly depth: number };
}

/** Receives problems. */
export type Report = (diagnostic: Diagnostic) => void;

/** A scenario that was found, but not read yet. */
export interface FoundScenario {
  /** Its file, if it has one. */
  readonly file: string | undefined;
  readonly read: (report: Report) => ReadScenario | undefined;
}

export interface ExtendsOptions {
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
  readonly find: (name: string, from: string | undefined) => FoundScenario | undefined;
  /** Names to suggest if nothing is found. */
  readonly knownNames: readonly string[];
}

/** The maximum number of scenarios that extend each other. */
const longestChain = 16;

/**
 * Merges a scenario with the ones it extends. It inherits everything except the story.
 *
 * Returns `undefined`, with a report, if one of them cannot be found or read.
 */
export function resolveExtends(
  own: ReadScenario,
  file: string | undefined,
  options: ExtendsOptions,
  report: Report,
  chain: readonly string[] = file === undefined ? [] : [file],
): ReadScenario | undefined {
  const { extends: name, ...fields } = own.fields;
  if (name === undefined) return own;
  const { place } = own.placeOf(["extends"], "value");
  const fail = (code: ScenarioProblemCode, message: string, hint: string) => {
    report({ code, path: ["extends"], place, message, hint });
    return undefined;
  };
  if (typeof name !== "string" || name === "") {
    const hint = "name a bundled scenario, or a file relative to this one";
    return fail("wrong_type", `extends is the name of a scenario, not ${quote(name)}`, hint);
  }
  if (chain.length >= longestChain) {
    return fail("extends_loop", `more than ${longestChain} scenarios extend each other`, "shorten the chain");
  }
  const found = find(name);
  if (found === undefined) return undefined;
  const parentFile = found.file ?? name;
  if (chain.includes(parentFile)) {
    const loop = [...chain.slice(chain.indexOf(parentFile)), parentFile].join(" → ");
    return fail("extends_loop", `the scenarios extend each other: ${loop}`, "remove one of these extends");
  }
  const read = found.read(report);
  const parent = read && resolveExtends(read, found.file, options, report, [...chain, parentFile]);
  if (parent === undefined) return undefined;
  // Each file has its own version, so that its meaning does not change with the one it extends. A story tests only its
  // own scenario: in another one, it would show nothing.
  const { version, story: _, ...inherited } = parent.fields;
  if (version !== 1) {
    const message = `the scenario ${quote(name)} has version ${quote(version)} of the format, not 1`;
    const at = read?.placeOf(["version"], "value").place ?? place;
    report({ code: "unsupported_version", path: ["version"], place: at, message, hint: "write version: 1" });
    return undefined;
  }
  return {
    fields: merge(inherited, fields) as Fields,
    placeOf(path, pointAt) {
      const [mine, other] = [own.placeOf(path, pointAt), parent.placeOf(path, pointAt)];
      return other.depth > mine.depth && other.place !== undefined ? other : mine;
    },
  };

  function find(wanted: string): FoundScenario | undefined {
    try {
      const near = nearest(wanted, options.knownNames);
      const hint = near
        ? `did you mean ${near}?`
        : `name one of ${options.knownNames.join(", ")}, or a file if this scenario is in a file`;
      return (
        options.find(wanted, file) ?? fail("extends_not_found", `there is no scenario ${quote(wanted)}`, hint)
      );
    } catch (error) {
      if (error instanceof ScenarioError) throw error;
      // Our loaders' messages are sentences; others need a sentence around them.
      const said = error instanceof Error ? error.message : String(error);
      const message =
        error instanceof SandboxError ? said : `the scenario ${quote(wanted)} could not be read: ${said}`;
      return fail("extends_failed", message, "name a bundled scenario, or a file relative to this one");
    }
  }
}

// Merges mappings by name; any other value of the second wins. Changes neither.
function merge(under: unknown, over: unknown): unknown {
  if (!isMapping(under) || !isMapping(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [name, member] of Object.entries(over)) {
    merged[name] = Object.hasOwn(under, name) ? merge(under[name], member) : member;
  }
  return merged;
}
