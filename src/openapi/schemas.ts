import { canonicalJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping } from "../spec/schema/shape.js";
import { type ApiDocument, resolved, valueAt } from "./document.js";
import { linearPattern, type Pattern, typeNames } from "./keywords.js";
import { readKeywords, surveyOf } from "./survey.js";
import { validatorOf } from "./validator.js";

// The schemas of a document as JSON Schema 2020-12, for three readers: the validator, the sampler and our shapes. No schema is
// copied: each is read where the document has it, when it is first needed.

/** What a value is for: a client need not send members that are only read, and the reverse. */
export type Direction = "request" | "response";

export type Schemas = ReturnType<typeof schemasOf>;
/** The schemas of a document in one direction. */
export type SchemaReader = Schemas[Direction];

export function schemasOf(document: ApiDocument) {
  return { request: readerOf(document, "request"), response: readerOf(document, "response") };
}

const anyText: Pattern = { test: () => true, cost: 0 };

function readerOf(document: ApiDocument, direction: Direction) {
  const views = new WeakMap<object, Members>();
  /** A schema's own keywords. */
  const view = (node: unknown): Members => {
    if (!isMapping(node)) return node === false ? { not: {} } : {};
    const made = views.get(node) ?? viewOf(document, node, direction);
    views.set(node, made);
    return made;
  };
  const targets = new Map<string, unknown>();
  const target = (reference: string): unknown => {
    if (!targets.has(reference)) targets.set(reference, valueAt(document.root, reference));
    return targets.get(reference);
  };
  const patterns = new Map<string, Pattern>();
  const patternOf = (pattern: string): Pattern => {
    const made = patterns.get(pattern) ?? linearPattern(pattern) ?? anyText;
    patterns.set(pattern, made);
    return made;
  };
  const source = { view, target };
  return { direction, ...source, ...surveyOf(document, source), checkOf: validatorOf(source, patternOf) };
}

function viewOf(document: ApiDocument, node: Members, direction: Direction): Members {
  const { isOld } = document;
  // OpenAPI 3.0 ignores everything next to a reference.
  if (isOld && typeof node.$ref === "string") return { $ref: node.$ref };
  const own = Object.entries(node).filter(([name]) => readKeywords.has(name));
  const made: Record<string, unknown> = Object.fromEntries(own);
  const { properties, required } = made;
  if (isMapping(properties) && Array.isArray(required)) {
    const leftOut = direction === "request" ? "readOnly" : "writeOnly";
    const memberOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : {});
    made.required = required.filter((name) => resolved(document, memberOf(name), []).at[leftOut] !== true);
  }
  // A response has no member that is only written.
  if (isMapping(properties) && direction === "response") {
    const isShown = ([, one]: [string, unknown]) => resolved(document, one, []).at.writeOnly !== true;
    made.properties = Object.fromEntries(Object.entries(properties).filter(isShown));
  }
  if (Object.hasOwn(node, "example")) made.examples = [node.example];
  return ofOld(made, node);
}

// OpenAPI 3.0: `nullable`, and limits that are flags. Documents of 3.1 may still have them.
function ofOld(made: Record<string, unknown>, { nullable }: Members): Members {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof made[flag] !== "boolean") continue;
    const isOn = made[flag];
    delete made[flag];
    if (!isOn || made[limit] === undefined) continue;
    made[flag] = made[limit];
    delete made[limit];
  }
  if (nullable !== true) return made;
  if (typeof made.type !== "string") return { anyOf: [made, { type: "null" }] };
  if (Array.isArray(made.enum) && !made.enum.includes(null)) made.enum = [...made.enum, null];
  return { ...made, type: [made.type, "null"] };
}

const mostMerged = 200;

/** One schema in place of a schema with its references and the parts of `allOf`. */
export function whole({ view, target }: Pick<SchemaReader, "view" | "target">, node: unknown): Members {
  const parts: Members[] = [];
  const seen = new Set<unknown>();
  const add = (one: unknown) => {
    if (seen.has(one) || parts.length >= mostMerged) return;
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

const most = (both: readonly number[]) => Math.max(...both);
const least = (both: readonly number[]) => Math.min(...both);
const all = (both: readonly unknown[]) => ({ allOf: both });
const together: Readonly<Record<string, (both: never) => unknown>> = {
  ...{ minimum: most, exclusiveMinimum: most, minLength: most, minItems: most, minProperties: most },
  ...{ maximum: least, exclusiveMaximum: least, maxLength: least, maxItems: least, maxProperties: least },
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
