import { SandboxError } from "../rules/errors.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/shape.js";
import { nearest, quote } from "../schema/words.js";
import { type AddProblem, type FieldProblem, ScenarioError } from "./problems.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

/** The scenarios that another one can extend. */
export interface Extendable {
  readonly find: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

const nameHint = "name a bundled scenario, or a file relative to this one";

/** A problem of the field `extends`, which gets its field and its place later. */
type ExtendsProblem = Omit<FieldProblem, "field" | "place">;

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

  // Each scenario of the chain has a field of this name: the place tells which one.
  const { place } = child.find(["extends"], "value");
  const addAtName = (problem: ExtendsProblem) => addProblem({ ...problem, field: ["extends"], place });

  if (typeof name !== "string" || name === "") {
    addAtName({
      code: "wrong_type",
      message: `extends is the name of a scenario, not ${quote(name)}`,
      hint: nameHint,
    });
    return undefined;
  }
  const extended = findExtended(name, written.file, extendable, addAtName);
  if (extended === undefined) return undefined;

  const parentFile = extended.file ?? name;
  if (chain.includes(parentFile)) {
    const loop = [...chain.slice(chain.indexOf(parentFile)), parentFile].join(" → ");
    addAtName({
      code: "extends_loop",
      message: `the scenarios extend each other: ${loop}`,
      hint: "remove one of these extends",
    });
    return undefined;
  }
  if (!isScenario(extended)) {
    addAtName(noScenarioProblem(name, extended));
    return undefined;
  }

  for (const problem of extended.problems) addProblem(problem);
  const parent = resolveExtends(extended, extendable, addProblem, [...chain, parentFile]);
  if (parent === undefined) return undefined;
  return mergeWithParent(child, fields, parent);
}

function findExtended(
  name: string,
  file: string | undefined,
  extendable: Extendable,
  addAtName: (problem: ExtendsProblem) => void,
): WrittenScenario | undefined {
  let extended: WrittenScenario | undefined;
  try {
    extended = extendable.find(name, file);
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    let message = error instanceof Error ? error.message : String(error);
    // Our loaders' messages are sentences; others need a sentence around them.
    if (!(error instanceof SandboxError)) {
      message = `the scenario ${quote(name)} could not be read: ${message}`;
    }
    addAtName({ code: "extends_failed", message, hint: nameHint });
    return undefined;
  }
  if (extended !== undefined) return extended;

  const { knownNames } = extendable;
  const near = nearest(name, knownNames);
  let hint = `name one of ${knownNames.join(", ")}, or a file if this scenario is in a file`;
  if (near !== undefined) hint = `did you mean ${near}?`;
  addAtName({ code: "extends_not_found", message: `there is no scenario ${quote(name)}`, hint });
  return undefined;
}

function isScenario(written: WrittenScenario): boolean {
  const { scenario } = written;
  if (scenario === undefined) return written.startsLikeScenario;
  return scenario.fields.version === 1;
}

/** Shows nothing of the other file: it may be any file of this machine. */
function noScenarioProblem(name: string, written: WrittenScenario): ExtendsProblem {
  const hint = "each file starts with version: 1";
  const version = written.scenario?.fields.version;
  if (typeof version !== "number") {
    return { code: "extends_failed", message: `${quote(name)} is not a scenario`, hint };
  }
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return { code: "unsupported_version", message, hint };
}

/** The fields of a scenario over those of the one that it extends, with the places of both. */
function mergeWithParent(child: ReadScenario, childFields: Members, parent: ReadScenario): ReadScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _story, ...inherited } = parent.fields;
  const merged = mergeByName(inherited, childFields);
  if (isMapping(inherited.endpoints) && isMapping(childFields.endpoints)) {
    merged.endpoints = mergeEndpointFields(inherited.endpoints, childFields.endpoints);
  }

  return {
    fields: merged,
    find(path, pointAt) {
      const inChild = child.find(path, pointAt);
      const inParent = parent.find(path, pointAt);
      // A field is in the text that has more of its path; if both have as much, in the child's.
      const isInParent = inParent.depth > inChild.depth && inParent.place !== undefined;
      return isInParent ? { ...inParent, layer: inParent.layer + 1 } : inChild;
    },
  };
}

/** Merges two mappings, and those inside them, by name: any other value of its own replaces an inherited one. Changes neither. */
function mergeByName(inherited: Members, own: Members): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...inherited };
  for (const [name, member] of Object.entries(own)) {
    const under = Object.hasOwn(inherited, name) ? inherited[name] : undefined;
    if (isMapping(under) && isMapping(member)) merged[name] = mergeByName(under, member);
    else merged[name] = member;
  }
  return merged;
}

/** Merges endpoints by name, and each by its fields. `null` removes an endpoint, or the body of one. */
function mergeEndpointFields(inherited: Members, own: Members): Members {
  const endpoints: Record<string, unknown> = { ...inherited };
  for (const [name, fields] of Object.entries(own)) {
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
