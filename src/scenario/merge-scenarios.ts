import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { valueAt } from "./value-at.js";
import type { PlacedScenario } from "./written-scenario.js";

// A scenario is the child of the one that it extends, its parent.

/** The fields of a scenario over those of its parent, with the places of both. */
export function mergeWithParent(
  child: PlacedScenario,
  ownFields: Members,
  parent: PlacedScenario,
): PlacedScenario {
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
