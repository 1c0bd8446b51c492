import { SandboxError } from "../rules/errors.js";
import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { nearest, quote } from "../schema/words.js";
import type { FieldProblem } from "./problems.js";
import { ScenarioError } from "./scenario-error.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

/** The scenarios that another one can extend. */
export interface Extendable {
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
  readonly findScenario: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

/** A scenario with the ones that it extends. `problems` has those of the extended ones, and why one cannot be extended. */
type Merged =
  | { readonly kind: "merged"; readonly scenario: ReadScenario; readonly problems: readonly FieldProblem[] }
  | { readonly kind: "not_merged"; readonly problems: readonly FieldProblem[] };

/** A problem of the field `extends`, before it has its field and its place. */
type ExtendsProblem = Pick<FieldProblem, "code" | "message" | "hint">;

/** The scenario that another one extends, or why none can be extended. */
type Extended =
  | { readonly kind: "extended"; readonly written: WrittenScenario; readonly file: string }
  | { readonly kind: "not_extended"; readonly problem: ExtendsProblem };

const nameHint = "name a bundled scenario, or a file relative to this one";

/** Merges a scenario with the ones that it extends, without their stories. `chain` has the files that led to it, its own last. */
export function resolveExtends(
  written: WrittenScenario,
  extendable: Extendable,
  chain: readonly string[] = written.file === undefined ? [] : [written.file],
): Merged {
  const child = written.scenario;
  if (child === undefined) return { kind: "not_merged", problems: [] };
  const { extends: name, ...ownFields } = child.fields;
  if (name === undefined) return { kind: "merged", scenario: child, problems: [] };

  const extended = findExtended(name, written.file, extendable, chain);
  if (extended.kind === "not_extended") {
    // Each scenario of the chain has a field `extends`: the place shows whose it is.
    const { place } = child.locate(["extends"], "value");
    return { kind: "not_merged", problems: [{ ...extended.problem, field: ["extends"], place }] };
  }

  const parent = resolveExtends(extended.written, extendable, [...chain, extended.file]);
  const problems = [...extended.written.problems, ...parent.problems];
  if (parent.kind === "not_merged") return { kind: "not_merged", problems };
  return { kind: "merged", scenario: mergeWithParent(child, ownFields, parent.scenario), problems };
}

function findExtended(
  name: unknown,
  from: string | undefined,
  extendable: Extendable,
  chain: readonly string[],
): Extended {
  if (typeof name !== "string" || name === "") {
    const message = `extends is the name of a scenario, not ${quote(name)}`;
    return notExtended({ code: "wrong_type", message, hint: nameHint });
  }

  let written: WrittenScenario | undefined;
  try {
    written = extendable.findScenario(name, from);
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    return notExtended({ code: "extends_failed", message: whyNotLoaded(name, error), hint: nameHint });
  }
  if (written === undefined) return notExtended(notFoundProblem(name, extendable.knownNames));

  const file = written.file ?? name;
  if (chain.includes(file)) {
    const loop = [...chain.slice(chain.indexOf(file)), file].join(" → ");
    return notExtended({
      code: "extends_loop",
      message: `the scenarios extend each other: ${loop}`,
      hint: "remove one of these extends",
    });
  }
  if (!isScenario(written)) return notExtended(noScenarioProblem(name, written));
  return { kind: "extended", written, file };
}

function notExtended(problem: ExtendsProblem): Extended {
  return { kind: "not_extended", problem };
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
function mergeWithParent(child: ReadScenario, ownFields: Members, parent: ReadScenario): ReadScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _story, ...inherited } = parent.fields;
  const merged = mergeByName(inherited, ownFields);
  // The body of an endpoint is not merged: it is replaced as a whole.
  if (isMapping(inherited.endpoints) && isMapping(ownFields.endpoints)) {
    merged.endpoints = mergeEndpointFields(inherited.endpoints, ownFields.endpoints);
  }

  return {
    fields: merged,
    locate(field, pointAt) {
      const inChild = child.locate(field, pointAt);
      if (inChild.isExact || !canBeInherited(field, inherited, ownFields)) return inChild;
      const inParent = parent.locate(field, pointAt);
      // Of a field that neither text has, the place is in the text that has more of the fields around it; else in the child's.
      if (inChild.depth >= inParent.depth) return inChild;
      return { ...inParent, layer: inParent.layer + 1 };
    },
  };
}

/** Whether a field that the child does not have can be from the parent: all around it, the child has mappings, which are merged. */
function canBeInherited(field: FieldPath, inherited: Members, ownFields: Members): boolean {
  const [first] = field;
  if (first !== undefined && !Object.hasOwn(inherited, first)) return false;
  let around: unknown = ownFields;
  for (const name of field) {
    // A text or a list of the child replaces all that the parent has there.
    if (!isMapping(around)) return false;
    if (!Object.hasOwn(around, name)) return true;
    around = around[name];
  }
  return false;
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
    const removes = fields === null && inheritedFields !== undefined && inheritedFields !== null;
    if (removes) {
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
