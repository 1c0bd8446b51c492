import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { hasOwnPlace, type ReadScenario } from "./written-scenario.js";

// A scenario is the child of the one that it extends, its parent. A merged field has its place in the child's text if that has
// the field, else in the parent's. Of a field that neither has, the place is that of the nearest field around it.

/** The fields of a scenario over those of its parent, with the places of both. */
export function mergeWithParent(child: ReadScenario, ownFields: Members, parent: ReadScenario): ReadScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _story, ...inherited } = parent.fields;
  const merged = mergeByName(inherited, ownFields);
  // The body of an endpoint is not merged: it is replaced as a whole.
  if (isMapping(inherited.endpoints) && isMapping(ownFields.endpoints)) {
    merged.endpoints = mergeEndpointFields(inherited.endpoints, ownFields.endpoints);
  }

  return {
    fields: merged,
    texts: [...child.texts, ...parent.texts],
    locate(field, pointAt) {
      const inChild = child.locate(field, pointAt);
      if (hasOwnPlace(inChild, field)) return inChild;
      if (!takesFromParent(field, inherited, ownFields)) return inChild;
      const inParent = parent.locate(field, pointAt);
      return inParent.namesFound > inChild.namesFound ? inParent : inChild;
    },
  };
}

/**
 * Whether a field that the child lacks would be the parent's. If the child has only `clock: { now: … }` and `faults: []`:
 *
 *   clock.frozen       yes: the child has a mapping around it, which is merged
 *   population.locale  yes: the child has nothing around it
 *   faults[0].when     no: the list of the child replaces the parent's
 *   story[0].say       no: a story is not inherited
 */
function takesFromParent(field: FieldPath, inherited: Members, ownFields: Members): boolean {
  const [first] = field;
  if (first !== undefined && !Object.hasOwn(inherited, first)) return false;

  let around: unknown = ownFields;
  for (const name of field) {
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
