import { canonicalJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { typeNames } from "./keywords.js";
import type { SchemaSource } from "./validator.js";

// Schemas that apply to the same value as one schema.

const maxMerged = 200;

/** One schema in place of a schema with its references and the parts of `allOf`. */
export function whole({ view, target }: SchemaSource, node: unknown): Members {
  const parts: Members[] = [];
  const seen = new Set<unknown>();
  const add = (one: unknown) => {
    if (seen.has(one) || parts.length >= maxMerged) return;
    seen.add(one);
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
  const made: Record<string, unknown> = { ...one, ...other };
  for (const name of Object.keys(one)) {
    if (!Object.hasOwn(other, name)) continue;
    const join = Object.hasOwn(together, name) ? together[name] : undefined;
    if (join !== undefined) made[name] = join([one[name], other[name]] as never);
  }
  return made;
}

const max = (both: readonly number[]) => Math.max(...both);
const min = (both: readonly number[]) => Math.min(...both);
const all = (both: readonly unknown[]) => ({ allOf: both });
const together: Readonly<Record<string, (both: never) => unknown>> = {
  ...{ minimum: max, exclusiveMinimum: max, minLength: max, minItems: max, minProperties: max },
  ...{ maximum: min, exclusiveMaximum: min, maxLength: min, maxItems: min, maxProperties: min },
  ...{ items: all, additionalProperties: all, contains: all },
  required: (both: readonly unknown[]) => [...new Set(both.flat())],
  type: (both: readonly unknown[]) => {
    const [one = [], other = []] = both.map((types) => {
      const given = [types].flat() as string[];
      return given.includes("number") ? [...given, "integer"] : given;
    });
    const shared = typeNames.filter((name) => one.includes(name) && other.includes(name));
    return shared.includes("number") ? shared.filter((name) => name !== "integer") : shared;
  },
  enum: ([one = [], other = []]: readonly (readonly unknown[])[]) => {
    const known = new Set(one.map(canonicalJson));
    return other.filter((value) => known.has(canonicalJson(value)));
  },
  properties: ([one = {}, other = {}]: readonly Members[]) => {
    const inBoth = Object.keys(one).filter((name) => Object.hasOwn(other, name));
    return {
      ...one,
      ...other,
      ...Object.fromEntries(inBoth.map((name) => [name, all([one[name], other[name]])])),
    };
  },
};
