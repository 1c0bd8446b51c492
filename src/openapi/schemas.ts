import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { listed, quote } from "../rules/schema/words.js";
import { discriminatorOf, inheriting, type NamedSchemas, namedSchemas } from "./discriminators.js";
import { type ApiDocument, resolved, stepsOf, valueAt } from "./document.js";
import {
  type Discriminator,
  isFlag,
  isList,
  isNumber,
  isText,
  linearPattern,
  type Pattern,
  typeNames,
} from "./keywords.js";
import { whole } from "./merge.js";
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
  const named = namedSchemas(document);
  return { request: readerOf(named, "request"), response: readerOf(named, "response") };
}

const anyText: Pattern = () => true;

function readerOf(named: NamedSchemas, direction: Direction) {
  const { document } = named;
  const views = new WeakMap<object, Members>();
  /** A schema's own keywords. */
  const view = (node: unknown): Members => {
    if (!isMapping(node)) return node === false ? { not: {} } : {};
    const cached = views.get(node);
    if (cached !== undefined) return cached;
    const plain = viewOf(named, node, direction);
    const nullable = node.nullable === true && plain.$ref === undefined ? orNull(plain) : plain;
    // It may be a part of what was found.
    views.set(plain, plain).set(node, nullable);
    return nullable;
  };
  const targets = new Map<string, unknown>();
  const target = (reference: string): unknown =>
    keptIn(targets, reference, () => valueAt(document.root, reference));
  const patterns = new Map<string, Pattern>();
  const patternOf = (pattern: string): Pattern =>
    keptIn(patterns, pattern, () => linearPattern(pattern) ?? anyText);
  const source = { view, target };
  const wholes = new WeakMap<object, Members>();
  return {
    direction,
    ...source,
    survey: surveyOf(document, source),
    /** A schema with its references and the parts of `allOf`, for everything that is not a check. */
    whole: (node: unknown): Members =>
      isMapping(node) ? keptIn(wholes, node, () => whole(source, node)) : view(node),
    patternOf,
    checkOf: validatorOf(source, patternOf),
  };
}

function viewOf(named: NamedSchemas, node: Members, direction: Direction): Members {
  const { document } = named;
  // OpenAPI 3.0 ignores everything next to a reference.
  if (document.isOld && typeof node.$ref === "string") return { $ref: node.$ref };
  const isRead = ([name, value]: [string, unknown]) => readKeywords.get(name)?.[1](value);
  const entries = Object.entries(inheriting(node, named)).filter(isRead);
  const schema: Record<string, unknown> = Object.fromEntries(entries);
  const { properties, required } = schema;
  if (Array.isArray(required)) {
    const flag = direction === "request" ? "readOnly" : "writeOnly";
    schema.required = required.filter((name) => !hasMemberWith(document, schema, name, flag, new Set()));
  }
  // A response has no member that is only written.
  if (isMapping(properties) && direction === "response") {
    const isShown = ([, one]: [string, unknown]) => resolved(document, one, []).at.writeOnly !== true;
    schema.properties = Object.fromEntries(Object.entries(properties).filter(isShown));
  }
  if (Object.hasOwn(node, "example")) schema.examples = [node.example];
  schema.discriminator = discriminatorOf(node, named);
  if (schema.discriminator === undefined) delete schema.discriminator;
  replaceFlags(schema);
  return schema;
}

/** Whether a schema, or a part of its `allOf`, has a member with this flag. */
function hasMemberWith(
  document: ApiDocument,
  node: unknown,
  name: string,
  flag: "readOnly" | "writeOnly",
  seen: Set<Members>,
): boolean {
  const { at } = resolved(document, node, []);
  if (seen.has(at)) return false;
  seen.add(at);
  const { properties, allOf } = at;
  const member = isMapping(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (resolved(document, member, []).at[flag] === true) return true;
  return Array.isArray(allOf) && allOf.some((part) => hasMemberWith(document, part, name, flag, seen));
}

/** Replaces the flags of OpenAPI 3.0 by limits. Documents of 3.1 may still have them. */
function replaceFlags(made: Record<string, unknown>): void {
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
}

const combining = ["allOf", "anyOf", "oneOf", "not", "const", "discriminator"];

/** A schema that also allows `null`, no matter what else it has. */
function orNull(made: Members): Members {
  const isCombined = combining.some((name) => Object.hasOwn(made, name));
  if (typeof made.type !== "string" || isCombined) return { anyOf: [made, { type: "null" }] };
  const { enum: choices } = made;
  const isChoice = Array.isArray(choices) && !choices.includes(null);
  return { ...made, ...(isChoice && { enum: [...choices, null] }), type: [made.type, "null"] };
}

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
  ["discriminator", isMapping, "a mapping"],
];

/** The keywords that are read. */
export const readKeywords: ReadonlyMap<string, Kind> = new Map(
  keywordKinds.flatMap((kind) => kind[0].split(" ").map((name) => [name, kind] as const)),
);

function surveyOf({ isOld, notes }: ApiDocument, { view, target }: SchemaSource) {
  const surveyed = new Set<unknown>();
  /** The schemas in a keyword's value, with their paths; notes a value of the wrong kind. */
  const within = (path: Path, name: string, value: unknown): Parts => {
    const [, is, words, partsOf] = readKeywords.get(name) ?? [];
    if (is?.(value) === false) {
      const what = "has a keyword that is not valid, and not read";
      notes.add(
        "unchecked",
        pathText(path),
        what,
        "schemas have a keyword that is not valid, and not read",
        `${name} must be ${words}`,
      );
      return [];
    }
    if (name === "$ref") return [[stepsOf(value as string), target(value as string)]];
    return (partsOf?.(value as never) ?? []).map(([steps, one]) => [[...path, name, ...steps], one]);
  };
  const partsIn = (path: Path, one: Members): Parts => {
    const { discriminator } = view(one) as { readonly discriminator?: Discriminator };
    const chosen = [...(discriminator?.branches.values() ?? [])].map((branch) => [path, branch] as const);
    const entries = Object.entries(isOld ? view(one) : one);
    return [...entries.flatMap(([name, value]) => within(path, name, value)), ...chosen];
  };
  /** Notes what is wrong in a schema and in everything that it reaches. */
  return (node: unknown, at: Path): void => {
    const left: Parts[number][] = [[at, node]];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [path, one] = next;
      if (!isMapping(one) || surveyed.has(one)) continue;
      surveyed.add(one);
      for (const note of oddities(one, view(one)))
        notes.add("unchecked", pathText(path), note, `schemas have this: ${note}`);
      left.push(...partsIn(path, one));
    }
  };
}

/** What is odd in a schema that can be read. */
function* oddities(schema: Members, { discriminator }: Members): Generator<string> {
  for (const limit of ["imum", "Length", "Items", "Properties", "Contains"])
    if (Number(schema[`min${limit}`]) > Number(schema[`max${limit}`]))
      yield `min${limit} is above max${limit}, so that no value is valid`;
  if (schema.discriminator !== undefined && discriminator === undefined)
    yield "the discriminator is not checked: each schema needs its own value in mapping";
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
