import { canonicalJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, pathText } from "../spec/schema/shape.js";
import { listed, quote } from "../spec/schema/words.js";
import { type ApiDocument, resolved, stepsOf, valueAt } from "./document.js";
import { isFlag, isList, isNumber, isText, linearPattern, type Pattern, typeNames } from "./keywords.js";
import { keptIn } from "./once.js";
import { type SchemaSource, validatorOf } from "./validator.js";

// The schemas of a document as JSON Schema 2020-12, for three readers: the validator, the sampler and our shapes. No schema is
// copied: each is read where the document has it, when it is first needed. What is wrong in those that operations reach is reported.

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
    return keptIn(views, node, () => viewOf(document, node, direction));
  };
  const targets = new Map<string, unknown>();
  const target = (reference: string): unknown =>
    keptIn(targets, reference, () => valueAt(document.root, reference));
  const patterns = new Map<string, Pattern>();
  const patternOf = (pattern: string): Pattern =>
    keptIn(patterns, pattern, () => linearPattern(pattern) ?? anyText);
  const source = { view, target };
  return {
    direction,
    ...source,
    survey: surveyOf(document, source),
    checkOf: validatorOf(source, patternOf),
  };
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

const maxMerged = 200;

/** One schema in place of a schema with its references and the parts of `allOf`. */
export function whole({ view, target }: Pick<SchemaReader, "view" | "target">, node: unknown): Members {
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

type Parts = readonly (readonly [Path, unknown])[];
type Kind = readonly [
  names: string,
  is: (value: unknown) => boolean,
  words: string,
  /** The schemas in a value of this kind, with the steps to them. */
  inside?: (value: never) => Parts,
];

const isNames = (value: unknown) => isList(value) && value.every(isText);
const isSchema = (value: unknown) => isMapping(value) || isFlag(value);
const isSize = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;
const isType = (value: unknown) => typeNames.includes(value as string);
// Flags as in OpenAPI 3.0 are often left in a document of 3.1.
const isLimit = (value: unknown) => isNumber(value) || isFlag(value);
const areTypes = (value: unknown) => isType(value) || (isList(value) && value.every(isType));
const areSchemas = (value: unknown) => isList(value) && value.length > 0 && value.every(isSchema);
const areByName = (is: (value: unknown) => boolean) => (value: unknown) =>
  isMapping(value) && Object.values(value).every(is);
const itself = (value: unknown): Parts => [[[], value]];
const inside = (value: object) => Object.entries(value).map(([name, one]) => [[name], one] as const);

const keywordKinds: readonly Kind[] = [
  ["const", () => true, ""],
  ["enum examples", isList, "a list"],
  ["$ref format pattern", isText, "a text"],
  ["minimum maximum", isNumber, "a number"],
  ["exclusiveMinimum exclusiveMaximum", isLimit, "a number"],
  ["multipleOf", (value) => isNumber(value) && Number(value) > 0, "a number above 0"],
  ["minLength maxLength minItems maxItems minProperties maxProperties", isSize, "a whole number from 0"],
  ["minContains maxContains", isSize, "a whole number from 0"],
  ["uniqueItems", isFlag, "true or false"],
  ["required", isNames, "a list of names"],
  ["dependentRequired", areByName(isNames), "lists of names"],
  ["type", areTypes, `one of ${listed(typeNames.map(quote), "or")}`],
  ["items additionalProperties not contains if then else", isSchema, "a schema", itself],
  ["propertyNames unevaluatedProperties unevaluatedItems", isSchema, "a schema", itself],
  ["allOf anyOf oneOf prefixItems", areSchemas, "a list of schemas", inside],
  ["properties patternProperties dependentSchemas", areByName(isSchema), "schemas by name", inside],
];

/** The keywords that are read. */
export const readKeywords: ReadonlyMap<string, Kind> = new Map(
  keywordKinds.flatMap((kind) => kind[0].split(" ").map((name) => [name, kind] as const)),
);

function surveyOf({ isOld, report, notes }: ApiDocument, { view, target }: SchemaSource) {
  const surveyed = new Set<unknown>();
  /** The schemas in a keyword's value, with their paths; reports a value of the wrong kind. */
  const within = (path: Path, name: string, value: unknown): Parts => {
    const [, is, words, partsOf] = readKeywords.get(name) ?? [];
    if (is?.(value) === false) {
      const message = `not valid OpenAPI: ${name} must be ${words}`;
      report("openapi_invalid", [...path, name], message, "correct it, or ask who publishes the document");
      return [];
    }
    if (name === "$ref") return [[stepsOf(value as string), target(value as string)]];
    return (partsOf?.(value as never) ?? []).map(([steps, one]) => [[...path, name, ...steps], one]);
  };
  /** Reports what is wrong in a schema and in everything that it reaches. */
  return (node: unknown, at: Path): void => {
    const left: Parts[number][] = [[at, node]];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [path, one] = next;
      if (!isMapping(one) || surveyed.has(one)) continue;
      surveyed.add(one);
      for (const note of oddities(one))
        notes.add("unchecked", pathText(path), note, `have this: ${note}`, "schemas");
      for (const [name, value] of Object.entries(isOld ? view(one) : one))
        left.push(...within(path, name, value));
    }
  };
}

/** What is odd in a schema that can be read. */
function* oddities(schema: Members): Generator<string> {
  for (const limit of ["imum", "Length", "Items", "Properties", "Contains"])
    if (Number(schema[`min${limit}`]) > Number(schema[`max${limit}`]))
      yield `min${limit} is above max${limit}, so that no value is valid`;
  const { pattern, $dynamicRef } = schema;
  if (typeof pattern === "string" && linearPattern(pattern) === undefined)
    yield `the pattern is not checked: ${whyUnchecked(pattern)}`;
  if ($dynamicRef !== undefined) yield "$dynamicRef is not followed";
}

function whyUnchecked(pattern: string): string {
  try {
    RegExp(pattern, "u");
    return "it looks ahead or back, or is too long";
  } catch {
    return "it is not a regular expression";
  }
}
