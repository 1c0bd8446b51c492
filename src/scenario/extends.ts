import { SandboxError } from "../rules/errors.js";
import type { Members } from "../rules/schema/problem.js";
import { isMapping } from "../rules/schema/shape.js";
import { nearest, quote } from "../rules/schema/words.js";
import { type AddProblem, type FieldProblem, ScenarioError } from "./problems.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

/** The scenarios that another one can extend. */
export interface Extendable {
  readonly find: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

/** Merges a scenario with the ones it extends, without their stories; `undefined` if one cannot be read. */
export function resolveExtends(
  written: WrittenScenario,
  extendable: Extendable,
  addProblem: AddProblem,
  chain: readonly string[] = written.file === undefined ? [] : [written.file],
): ReadScenario | undefined {
  const child = written.scenario;
  if (child === undefined) return undefined;
  const { extends: name, ...fields } = child.fields;
  if (name === undefined) return child;

  // Each scenario of the chain has this field: the problem is at the field of this one.
  const field = ["extends"];
  const { place } = child.find(field, "value");
  const addAtName: AddProblem = (problem) => addProblem({ ...problem, place });
  if (typeof name !== "string" || name === "") {
    const message = `extends is the name of a scenario, not ${quote(name)}`;
    return addAtName({ code: "wrong_type", field, message, hint: nameHint });
  }

  const extended = findExtended(name, written.file, extendable, addAtName);
  if (extended === undefined) return undefined;
  const parentFile = extended.file ?? name;
  if (chain.includes(parentFile)) {
    const loop = [...chain.slice(chain.indexOf(parentFile)), parentFile].join(" → ");
    const message = `the scenarios extend each other: ${loop}`;
    return addAtName({ code: "extends_loop", field, message, hint: "remove one of these extends" });
  }
  if (!isScenario(extended)) return addAtName(otherFile(name, extended));

  for (const problem of extended.problems) addProblem(problem);
  const parent = resolveExtends(extended, extendable, addProblem, [...chain, parentFile]);
  if (parent === undefined) return undefined;
  return inherit(child, fields, parent);
}

const nameHint = "name a bundled scenario, or a file relative to this one";

function findExtended(
  name: string,
  file: string | undefined,
  extendable: Extendable,
  addProblem: AddProblem,
): WrittenScenario | undefined {
  const field = ["extends"];
  let extended: WrittenScenario | undefined;
  try {
    extended = extendable.find(name, file);
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    let message = error instanceof Error ? error.message : String(error);
    // Our loaders' messages are sentences; others need a sentence around them.
    if (!(error instanceof SandboxError))
      message = `the scenario ${quote(name)} could not be read: ${message}`;
    return addProblem({ code: "extends_failed", field, message, hint: nameHint });
  }
  if (extended !== undefined) return extended;

  const { knownNames } = extendable;
  const near = nearest(name, knownNames);
  let hint = `name one of ${knownNames.join(", ")}, or a file if this scenario is in a file`;
  if (near !== undefined) hint = `did you mean ${near}?`;
  return addProblem({
    code: "extends_not_found",
    field,
    message: `there is no scenario ${quote(name)}`,
    hint,
  });
}

function isScenario(written: WrittenScenario): boolean {
  const { scenario } = written;
  if (scenario === undefined) return written.startsLikeScenario;
  return scenario.fields.version === 1;
}

/** Shows nothing of the other file: it may be any file of this machine. */
function otherFile(name: string, written: WrittenScenario): FieldProblem {
  const field = ["extends"];
  const hint = "each file starts with version: 1";
  const version = written.scenario?.fields.version;
  if (typeof version !== "number") {
    return { code: "extends_failed", field, message: `${quote(name)} is not a scenario`, hint };
  }
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return { code: "unsupported_version", field, message, hint };
}

function inherit(child: ReadScenario, fields: Members, parent: ReadScenario): ReadScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _story, ...inherited } = parent.fields;
  const merged = mergedByName(inherited, fields);
  if (isMapping(inherited.endpoints) && isMapping(fields.endpoints)) {
    merged.endpoints = mergedEndpoints(inherited.endpoints, fields.endpoints);
  }

  return {
    fields: merged,
    find(path, pointAt) {
      const ofChild = child.find(path, pointAt);
      const ofParent = parent.find(path, pointAt);
      // The parent has more of the path.
      if (ofParent.depth > ofChild.depth && ofParent.place !== undefined) {
        return { ...ofParent, layer: ofParent.layer + 1 };
      }
      return ofChild;
    },
  };
}

/** Merges mappings by name; any other value of the second wins. Changes neither. */
function mergedByName(under: Members, over: Members): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...under };
  for (const [name, member] of Object.entries(over)) {
    const inherited = Object.hasOwn(under, name) ? under[name] : undefined;
    if (isMapping(inherited) && isMapping(member)) merged[name] = mergedByName(inherited, member);
    else merged[name] = member;
  }
  return merged;
}

/** The endpoints of a scenario with those that it extends: by name and field; `null` removes one, or its body. */
function mergedEndpoints(inherited: Members, ofChild: Members): Members {
  const endpoints: Record<string, unknown> = { ...inherited };
  for (const [name, fields] of Object.entries(ofChild)) {
    const under = Object.hasOwn(endpoints, name) ? endpoints[name] : null;
    if (fields === null && under !== null) {
      delete endpoints[name];
    } else if (isMapping(under) && isMapping(fields)) {
      const merged: Record<string, unknown> = { ...under, ...fields };
      if (fields.body === null && Object.hasOwn(under, "body")) delete merged.body;
      endpoints[name] = merged;
    } else {
      endpoints[name] = fields;
    }
  }
  return endpoints;
}
