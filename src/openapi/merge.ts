import { canonicalJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import { typeNames } from "./keywords.js";
import type { SchemaSource } from "./validator.js";

// Schemas that apply to the same value as one schema.

const maxMerged = 200;

/** One schema in place of a schema with its references and the parts of `allOf`. */
export function whole({ view, target }: SchemaSource, node: unknown): Members {
  const parts: Members[] = [];
  const visited = new Set<unknown>();
  const add = (one: unknown) => {
    if (visited.has(one) || parts.length >= maxMerged) return;
    visited.add(one);
    const { $ref, allOf, ...own } = view(one);
    parts.push(own);
    if (typeof $ref === "string") add(target($ref));
    for (const part of Array.isArray(allOf) ? allOf : []) add(part);
  };
  add(node);
  return parts.length === 1 ? (parts[0] as Members) : parts.reduceRight(merged, {});
}

/** A schema for values that are valid for both. Leaves out what only a check can decide. */
export function merged(one: Members, other: Members): Members {
  const joint: Record<string, unknown> = { ...one, ...other };
  for (const name of Object.keys(one))
    if (Object.hasOwn(other, name)) joint[name] = joined(name, one[name], other[name]);
  return joint;
}

const minima = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const maxima = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);
const schemas = new Set(["items", "additionalProperties", "contains"]);

/** A keyword of two schemas. */
function joined(name: string, one: unknown, other: unknown): unknown {
  if (minima.has(name)) return Math.max(Number(one), Number(other));
  if (maxima.has(name)) return Math.min(Number(one), Number(other));
  if (schemas.has(name)) return { allOf: [one, other] };
  if (name === "properties") return isMapping(one) && isMapping(other) ? joinedProperties(one, other) : other;
  if (name === "type") return sharedTypes(typesIn(one), typesIn(other));
  if (!Array.isArray(one) || !Array.isArray(other)) return other;
  if (name === "required") return [...new Set([...one, ...other])];
  if (name !== "enum") return other;
  const choices = new Set(one.map(canonicalJson));
  return other.filter((value) => choices.has(canonicalJson(value)));
}

function joinedProperties(one: Members, other: Members): Members {
  const inBoth = Object.keys(one).filter((name) => Object.hasOwn(other, name));
  const both = inBoth.map((name) => [name, { allOf: [one[name], other[name]] }]);
  return { ...one, ...other, ...Object.fromEntries(both) };
}

/** Every integer is a number. */
function typesIn(given: unknown): readonly unknown[] {
  const types = [given].flat();
  return types.includes("number") ? [...types, "integer"] : types;
}

function sharedTypes(one: readonly unknown[], other: readonly unknown[]): string[] {
  const shared = typeNames.filter((name) => one.includes(name) && other.includes(name));
  return shared.includes("number") ? shared.filter((name) => name !== "integer") : shared;
}
