import { SandboxError } from "../rules/errors.js";
import type { Members } from "../schema/check.js";
import { checkShape } from "../schema/check.js";
import type { FieldPath } from "../schema/shape.js";
import { isMapping } from "../schema/type-tag.js";
import { nearest, quote } from "../schema/words.js";
import { checkRules } from "./checks/scenario-rules.js";
import { scenarioSchema } from "./format/schema.js";
import { type Locate, showProblems } from "./places.js";
import { type FieldProblem, ScenarioError } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import type { WrittenScenario } from "./written-scenario.js";

/** A checked scenario, with the places of its fields: they keep the whole text in memory. */
export interface CheckedScenario {
  readonly scenario: Scenario;
  readonly locate: Locate;
}

/**
 * Merges a scenario with the one that it extends, checks its shape, then its fields against each other. `start`: when its clock starts
 * if it does not set `clock.now`. Without a start, `problemsAtStart` has yet to check it. Throws a `ScenarioError`.
 */
export function interpretScenario(
  written: WrittenScenario,
  parents: ParentLookup,
  start?: number,
): CheckedScenario {
  const merged = resolveExtends(written, parents);
  const { fields, notation } = merged;
  const problems = [...merged.problems];
  if (fields === undefined) throw new ScenarioError(showProblems(problems, merged));

  // A member such as `x-limits` exists only for its anchors.
  const isForAnchors = (name: string) => name.startsWith("x-");
  const shapeCheck = checkShape(scenarioSchema, fields, notation, isForAnchors);
  for (const path of shapeCheck.extensionFields) {
    const mapping = valueAt(fields, path.slice(0, -1)) as Record<string, unknown>; // the check found the member in it
    delete mapping[String(path.at(-1))];
  }
  for (const problem of shapeCheck.problems) {
    const meant = problem.code === "missing_field" ? meantRef(problem.field, fields, written) : undefined;
    problems.push(meant === undefined ? problem : { ...problem, hint: `did you mean ${meant}?` });
  }

  const scenario = fields as unknown as Scenario; // if there is no problem of its shape
  if (shapeCheck.problems.length === 0) problems.push(...checkRules(scenario, start));

  if (problems.length > 0) throw new ScenarioError(showProblems(problems, merged));
  return { scenario, locate: merged.locate };
}

/** The inherited ref that a ref without this required field probably means: `active` for `acive`, below `extends`. */
function meantRef(missing: FieldPath, merged: Members, { fields: own }: WrittenScenario): string | undefined {
  const pathOfRefs = missing.slice(0, -2);
  const refs = valueAt(merged, pathOfRefs);
  if (own?.extends === undefined || !isMapping(refs)) return undefined;
  const wrongRef = String(missing.at(-2));
  const isInherited = (ref: string) => valueAt(own, [...pathOfRefs, ref]) === undefined;
  // A file in between may have written it.
  const others = Object.keys(refs).filter((ref) => ref !== wrongRef && isInherited(ref));
  return nearest(wrongRef, others);
}

// A scenario is merged with its parent, which is the scenario that it extends, the parent with its own, and so on: they are a chain.
// A name may lead to any file of this machine. A file that is no scenario is not shown, neither its lines nor its problems: only a
// number as its version.

/** Where the scenario that another one extends, its parent, is looked for. */
export interface ParentLookup {
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
  readonly findParent: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

const nameHint = "name a bundled scenario, or a file relative to this one";

/** Merges a scenario with the ones that it extends, without their stories. It has no fields if one cannot be extended. */
function resolveExtends(
  child: WrittenScenario,
  parents: ParentLookup,
  // The file `onboarding` is not the bundled scenario of this name, which it can extend. A value has no name yet, so a chain that
  // starts with a value cannot come back to its start.
  chain: readonly { readonly isFile: boolean; readonly name: string }[] = child.file === undefined
    ? []
    : [{ isFile: true, name: child.file }],
): WrittenScenario {
  if (child.fields === undefined) return child;
  const { extends: name, ...ownFields } = child.fields;
  if (name === undefined) return child;

  // Each scenario of the chain has a field `extends`: the place shows whose it is.
  const fail = (code: FieldProblem["code"], message: string, hint: string | undefined): WrittenScenario => {
    const place = child.locate(["extends"]);
    const problem: FieldProblem = { code, message, hint, field: ["extends"], place };
    return { ...child, fields: undefined, problems: [...child.problems, problem] };
  };
  if (typeof name !== "string" || name === "") {
    return fail("wrong_type", `extends is the name of a scenario, not ${quote(name)}`, nameHint);
  }
  const parent = parentNamed(name, child.file, parents);
  if ("code" in parent) return fail(parent.code, parent.message, parent.hint);

  const link = { isFile: parent.file !== undefined, name: parent.file ?? name };
  const loopStart = chain.findIndex(
    (earlier) => earlier.isFile === link.isFile && earlier.name === link.name,
  );
  if (loopStart !== -1) {
    const loop = [...chain.slice(loopStart), link].map((inLoop) => inLoop.name).join(" → ");
    return fail("extends_loop", `the scenarios extend each other: ${loop}`, "remove one of these extends");
  }
  const notScenario = whyNoScenario(name, parent);
  if (notScenario !== undefined) return fail(...notScenario, "each file starts with version: 1");

  const merged = resolveExtends(parent, parents, [...chain, link]);
  const problems = [...child.problems, ...merged.problems];
  if (merged.fields === undefined) return { ...child, fields: undefined, problems };
  return { ...mergeWithParent(child, ownFields, merged, merged.fields), problems };
}

/** The scenario that `extends` names in the file `from`, or why there is none. */
function parentNamed(
  name: string,
  from: string | undefined,
  { findParent, knownNames }: ParentLookup,
): WrittenScenario | Pick<FieldProblem, "code" | "message" | "hint"> {
  let parent: WrittenScenario | undefined;
  try {
    parent = findParent(name, from);
  } catch (error) {
    // The caller's function has checked the scenario that it found: the problems have their places already.
    if (error instanceof ScenarioError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    // The messages of our own loaders name the scenario.
    const isOurs = error instanceof SandboxError;
    const message = isOurs ? reason : `the scenario ${quote(name)} could not be read: ${reason}`;
    return { code: "extends_failed", message, hint: nameHint };
  }
  if (parent !== undefined) return parent;

  const near = nearest(name, knownNames);
  let hint = `name one of ${knownNames.join(", ")}, or a file if this scenario is in a file`;
  if (near !== undefined) hint = `did you mean ${near}?`;
  return { code: "extends_not_found", message: `there is no scenario ${quote(name)}`, hint };
}

/** Returns why a file is not meant as a scenario; `undefined` if it is. */
function whyNoScenario(
  name: string,
  { fields, startsLikeScenario }: WrittenScenario,
): [FieldProblem["code"], string] | undefined {
  const version = fields?.version;
  if (fields === undefined ? startsLikeScenario : version === 1) return undefined;
  if (typeof version !== "number") return ["extends_failed", `${quote(name)} is not a scenario`];
  return ["unsupported_version", `the scenario ${quote(name)} has version ${version} of the format, not 1`];
}

/** The fields of a scenario over those of its parent, with the places of both. */
function mergeWithParent(
  child: WrittenScenario,
  ownFields: Members,
  parent: WrittenScenario,
  fieldsOfParent: Members,
): WrittenScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _story, ...inherited } = fieldsOfParent;
  const merged = mergeByName(inherited, ownFields);
  // Endpoints have a merge of their own: a body is replaced as a whole, and `null` removes.
  if (isMapping(inherited.endpoints) && isMapping(ownFields.endpoints)) {
    merged.endpoints = mergeEndpointFields(inherited.endpoints, ownFields.endpoints);
  }

  return {
    ...child,
    fields: merged,
    locate(field, pointAt) {
      const owner = ownerOf(field, ownFields, inherited);
      const place = owner === "parent" ? parent.locate(field, pointAt) : undefined;
      // A bundled parent has no text: what the child writes around the field is shown.
      return place ?? child.locate(field, pointAt);
    },
  };
}

/**
 * In whose text a field is, or would be if neither has it. If the child has only `clock: { now: … }` and `faults: []`, and the
 * parent has `clock: { frozen: true }`, `population: {}` and `faults: [{}]`:
 *
 *   clock.now           child
 *   clock.frozen        parent: the mapping of the child is merged with the parent's
 *   population.locale   parent: the mapping around it is inherited
 *   faults[0].when      child: its list replaces the parent's
 *   seed                child: neither has a part of it
 */
function ownerOf(field: FieldPath, ownFields: Members, inherited: Members): "child" | "parent" {
  let ownPart: unknown = ownFields;
  let inheritedPart: unknown = inherited;
  for (const name of field) {
    // What the child has in place of a mapping replaces the parent's.
    if (!isMapping(ownPart)) return "child";
    inheritedPart = valueAt(inheritedPart, [name]);
    if (!Object.hasOwn(ownPart, name)) return inheritedPart === undefined ? "child" : "parent";
    ownPart = ownPart[name];
  }
  return "child";
}

/** Merges two mappings, and those inside them, by name: any other value of its own replaces an inherited one. Changes neither. */
function mergeByName(inherited: Members, own: Members): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...inherited };
  for (const [name, member] of Object.entries(own)) {
    const inheritedMember = Object.hasOwn(inherited, name) ? inherited[name] : undefined;
    if (isMapping(inheritedMember) && isMapping(member)) merged[name] = mergeByName(inheritedMember, member);
    else merged[name] = member;
  }
  return merged;
}

/** Merges endpoints by name, and each by its fields. `null` removes an endpoint, or the body of one. */
function mergeEndpointFields(inherited: Members, own: Members): Members {
  const endpoints: Record<string, unknown> = { ...inherited };
  for (const [name, fields] of Object.entries(own)) {
    const inheritedFields = Object.hasOwn(inherited, name) ? inherited[name] : undefined;
    const removesInherited = fields === null && inheritedFields !== undefined && inheritedFields !== null;
    if (removesInherited) {
      delete endpoints[name];
    } else if (isMapping(inheritedFields) && isMapping(fields)) {
      const merged: Record<string, unknown> = { ...inheritedFields, ...fields };
      if (fields.body === null && Object.hasOwn(inheritedFields, "body")) delete merged.body;
      endpoints[name] = merged;
    } else {
      endpoints[name] = fields;
    }
  }
  return endpoints;
}

/** The part of a value at a path; `undefined` if it has none. */
function valueAt(whole: unknown, path: FieldPath): unknown {
  let part = whole;
  for (const step of path) {
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, step)) return undefined;
    part = (part as Record<string | number, unknown>)[step]; // it has this member
  }
  return part;
}
