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
  { scenario: child, file }: WrittenScenario,
  extendable: Extendable,
  addProblem: AddProblem,
  chain: readonly string[] = file === undefined ? [] : [file],
): ReadScenario | undefined {
  const { extends: name, ...fields } = child?.fields ?? {};
  if (child === undefined || name === undefined) return child;
  const field = ["extends"];
  // Below another scenario, the field is one of several with this name.
  const addAtName: AddProblem = (problem) =>
    addProblem({ ...problem, place: child.find(field, "value").place });
  if (typeof name !== "string" || name === "") {
    const message = `extends is the name of a scenario, not ${quote(name)}`;
    return addAtName({ code: "wrong_type", field, message, hint: nameHint });
  }
  const extended = findExtended(name, file, extendable, addAtName);
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
  return parent && inherit(child, fields, parent);
}

const nameHint = "name a bundled scenario, or a file relative to this one";

function isScenario({ scenario, startsLikeScenario }: WrittenScenario): boolean {
  return scenario === undefined ? startsLikeScenario : scenario.fields.version === 1;
}

/** Shows nothing of the other file: it may be any file of this machine. */
function otherFile(name: string, { scenario }: WrittenScenario): FieldProblem {
  const version = scenario?.fields.version;
  const at = { field: ["extends"], hint: "each file starts with version: 1" };
  if (typeof version !== "number")
    return { ...at, code: "extends_failed", message: `${quote(name)} is not a scenario` };
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return { ...at, code: "unsupported_version", message };
}

function inherit(child: ReadScenario, fields: Members, parent: ReadScenario): ReadScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _, ...inherited } = parent.fields;
  return {
    fields: { ...(mergedByName(inherited, fields) as Members), ...mergedEndpoints(inherited, fields) },
    find(path, pointAt) {
      const [ofChild, ofParent] = [child.find(path, pointAt), parent.find(path, pointAt)];
      if (ofParent.depth <= ofChild.depth || ofParent.place === undefined) return ofChild;
      return { ...ofParent, layer: ofParent.layer + 1 };
    },
  };
}

/** Merges objects by name; any other value of the second wins. Changes neither. */
function mergedByName(under: unknown, over: unknown): unknown {
  if (!isMapping(under) || !isMapping(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [name, member] of Object.entries(over))
    merged[name] = Object.hasOwn(under, name) ? mergedByName(under[name], member) : member;
  return merged;
}

/** The endpoints of a scenario with those that it extends: by name and field; `null` removes one, or its body. */
function mergedEndpoints({ endpoints: inherited }: Members, { endpoints: ofChild }: Members) {
  if (!isMapping(inherited) || !isMapping(ofChild)) return {};
  const endpoints = { ...inherited };
  for (const [name, fields] of Object.entries(ofChild)) {
    const under = Object.hasOwn(endpoints, name) ? endpoints[name] : null;
    if (fields === null && under !== null) delete endpoints[name];
    else endpoints[name] = isMapping(under) && isMapping(fields) ? { ...under, ...fields } : fields;
    if (isMapping(under) && isMapping(fields) && fields.body === null && Object.hasOwn(under, "body"))
      delete (endpoints[name] as Record<string, unknown>).body;
  }
  return { endpoints };
}

function findExtended(
  name: string,
  file: string | undefined,
  { find, knownNames }: Extendable,
  addProblem: AddProblem,
): WrittenScenario | undefined {
  const field = ["extends"];
  try {
    const extended = find(name, file);
    if (extended !== undefined) return extended;
    const near = nearest(name, knownNames);
    const hint = near
      ? `did you mean ${near}?`
      : `name one of ${knownNames.join(", ")}, or a file if this scenario is in a file`;
    const message = `there is no scenario ${quote(name)}`;
    return addProblem({ code: "extends_not_found", field, message, hint });
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    // Our loaders' messages are sentences; others need a sentence around them.
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof SandboxError ? reason : `the scenario ${quote(name)} could not be read: ${reason}`;
    return addProblem({ code: "extends_failed", field, message, hint: nameHint });
  }
}
