import { SandboxError } from "../rules/errors.js";
import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { nearest, quote } from "../schema/words.js";
import { type FieldProblem, ScenarioError } from "./problems.js";
import type { PlacedScenario, WrittenScenario } from "./written-scenario.js";

// A scenario is merged with its parent, which is the scenario that it extends, the parent with its own, and so on: they are a chain.
// A name may lead to any file of this machine. A file that is no scenario is not shown, neither its lines nor its problems: only a
// number as its version.

/** Where the scenario that another one extends, its parent, is looked for. */
export interface ParentLookup {
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
  readonly findParent: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

/** A scenario merged with the ones that it extends. `problems` are those of the extended ones, or why one cannot be extended. */
type MergeResult =
  | { readonly kind: "merged"; readonly scenario: PlacedScenario; readonly problems: readonly FieldProblem[] }
  | { readonly kind: "not_merged"; readonly problems: readonly FieldProblem[] };

/** A problem of the field `extends`, before it has its field and its place. */
type ExtendsProblem = Pick<FieldProblem, "code" | "message" | "hint">;

/** The parent of a scenario, or why it has none that can be extended. */
type ParentSearch =
  | { readonly kind: "found"; readonly written: WrittenScenario; readonly link: ChainLink }
  | { readonly kind: "not_extendable"; readonly problem: ExtendsProblem };

/** A scenario in a chain. Its kind tells the file `onboarding` from the bundled `onboarding`, which the file can extend. */
interface ChainLink {
  readonly kind: "file" | "value";
  /** The name of the file; of a value, the name that found it. */
  readonly name: string;
}

const nameHint = "name a bundled scenario, or a file relative to this one";

/** Merges a scenario with the ones that it extends, without their stories. */
export function resolveExtends(written: WrittenScenario, parents: ParentLookup): MergeResult {
  const { file } = written;
  // A value has no name yet, so a chain that starts with a value cannot come back to its start.
  const chain: ChainLink[] = file === undefined ? [] : [{ kind: "file", name: file }];
  return resolveInChain(written, parents, chain);
}

/** Merges the last scenario of a chain. */
function resolveInChain(
  written: WrittenScenario,
  parents: ParentLookup,
  chain: readonly ChainLink[],
): MergeResult {
  const child = written.scenario;
  if (child === undefined) return { kind: "not_merged", problems: [] };
  const { extends: name, ...ownFields } = child.fields;
  if (name === undefined) return { kind: "merged", scenario: child, problems: [] };

  const search = searchParent(name, written.file, parents, chain);
  if (search.kind === "not_extendable") {
    // Each scenario of the chain has a field `extends`: the place shows whose it is.
    const { place } = child.locate(["extends"], "value");
    return { kind: "not_merged", problems: [{ ...search.problem, field: ["extends"], place }] };
  }

  const parent = resolveInChain(search.written, parents, [...chain, search.link]);
  const problems = [...search.written.problems, ...parent.problems];
  if (parent.kind === "not_merged") return { kind: "not_merged", problems };
  return { kind: "merged", scenario: mergeWithParent(child, ownFields, parent.scenario), problems };
}

function searchParent(
  name: unknown,
  from: string | undefined,
  parents: ParentLookup,
  chain: readonly ChainLink[],
): ParentSearch {
  if (typeof name !== "string" || name === "") {
    const message = `extends is the name of a scenario, not ${quote(name)}`;
    return notExtendable({ code: "wrong_type", message, hint: nameHint });
  }

  let written: WrittenScenario | undefined;
  try {
    written = parents.findParent(name, from);
  } catch (error) {
    // The caller's function has checked the scenario that it found: the problems have their places already.
    if (error instanceof ScenarioError) throw error;
    return notExtendable({ code: "extends_failed", message: whyNotLoaded(name, error), hint: nameHint });
  }
  if (written === undefined) return notExtendable(notFoundProblem(name, parents.knownNames));

  const link = linkOf(written, name);
  const loopStart = chain.findIndex((earlier) => earlier.kind === link.kind && earlier.name === link.name);
  if (loopStart !== -1) return notExtendable(loopProblem([...chain.slice(loopStart), link]));
  if (!isScenario(written)) return notExtendable(noScenarioProblem(name, written));
  return { kind: "found", written, link };
}

function linkOf({ file }: WrittenScenario, name: string): ChainLink {
  if (file === undefined) return { kind: "value", name };
  return { kind: "file", name: file };
}

function notExtendable(problem: ExtendsProblem): ParentSearch {
  return { kind: "not_extendable", problem };
}

function whyNotLoaded(name: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // The messages of our own loaders name the scenario.
  if (error instanceof SandboxError) return message;
  return `the scenario ${quote(name)} could not be read: ${message}`;
}

function notFoundProblem(name: string, knownNames: readonly string[]): ExtendsProblem {
  const near = nearest(name, knownNames);
  let hint = `name one of ${knownNames.join(", ")}, or a file if this scenario is in a file`;
  if (near !== undefined) hint = `did you mean ${near}?`;
  return { code: "extends_not_found", message: `there is no scenario ${quote(name)}`, hint };
}

function loopProblem(loop: readonly ChainLink[]): ExtendsProblem {
  const names = loop.map((link) => link.name).join(" → ");
  return {
    code: "extends_loop",
    message: `the scenarios extend each other: ${names}`,
    hint: "remove one of these extends",
  };
}

/** Whether a file is meant as a scenario. */
function isScenario({ scenario, startsLikeScenario }: WrittenScenario): boolean {
  if (scenario === undefined) return startsLikeScenario;
  return scenario.fields.version === 1;
}

function noScenarioProblem(name: string, written: WrittenScenario): ExtendsProblem {
  const hint = "each file starts with version: 1";
  const version = written.scenario?.fields.version;
  if (typeof version !== "number") {
    return { code: "extends_failed", message: `${quote(name)} is not a scenario`, hint };
  }
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return { code: "unsupported_version", message, hint };
}

// A scenario is the child of the one that it extends, its parent.

/** The fields of a scenario over those of its parent, with the places of both. */
function mergeWithParent(child: PlacedScenario, ownFields: Members, parent: PlacedScenario): PlacedScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _story, ...inherited } = parent.fields;
  const merged = mergeByName(inherited, ownFields);
  // Endpoints have a merge of their own: a body is replaced as a whole, and `null` removes.
  if (isMapping(inherited.endpoints) && isMapping(ownFields.endpoints)) {
    merged.endpoints = mergeEndpointFields(inherited.endpoints, ownFields.endpoints);
  }

  return {
    fields: merged,
    texts: [...child.texts, ...parent.texts],
    locate(field, pointAt) {
      // A bundled parent has no text: what the child writes around the field is shown.
      const parentHasText = parent.texts.length > 0;
      const owner = ownerOf(field, ownFields, inherited);
      if (owner === "parent" && parentHasText) return parent.locate(field, pointAt);
      return child.locate(field, pointAt);
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
export function valueAt(whole: unknown, path: FieldPath): unknown {
  let part = whole;
  for (const step of path) {
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, step)) return undefined;
    part = (part as Record<string | number, unknown>)[step]; // it has this member
  }
  return part;
}
