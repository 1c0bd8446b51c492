import { canonicalJson, memberIn } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { listed, quote } from "../rules/schema/words.js";
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
import { keptIn } from "./once.js";
import { type SchemaSource, validatorOf } from "./validator.js";

// The schemas of a document as JSON Schema 2020-12, for three readers: the validator, the sampler and our shapes. No schema is
// copied: each is read where the document has it, when it is first needed. What is wrong in those that operations reach is reported.

/** What a value is for: a client need not send members that are only read, and the reverse. */
type Direction = "request" | "response";

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
    const isShown = ([, one]: [string, unknown]) => resolved(document, one, []).node.writeOnly !== true;
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
  const { node: schema } = resolved(document, node, []);
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { properties, allOf } = schema;
  const member = isMapping(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (resolved(document, member, []).node[flag] === true) return true;
  return Array.isArray(allOf) && allOf.some((part) => hasMemberWith(document, part, name, flag, seen));
}

/** Replaces the flags of OpenAPI 3.0 by limits. Documents of 3.1 may still have them. */
function replaceFlags(schema: Record<string, unknown>): void {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof schema[flag] !== "boolean") continue;
    const isOn = schema[flag];
    delete schema[flag];
    if (!isOn || schema[limit] === undefined) continue;
    schema[flag] = schema[limit];
    delete schema[limit];
  }
}

const combining = ["allOf", "anyOf", "oneOf", "not", "const", "discriminator"];

/** A schema that also allows `null`, no matter what else it has. */
function orNull(schema: Members): Members {
  const isCombined = combining.some((name) => Object.hasOwn(schema, name));
  if (typeof schema.type !== "string" || isCombined) return { anyOf: [schema, { type: "null" }] };
  const { enum: choices } = schema;
  const isChoice = Array.isArray(choices) && !choices.includes(null);
  return { ...schema, ...(isChoice && { enum: [...choices, null] }), type: [schema.type, "null"] };
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

const limitNames = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
  ["minContains", "maxContains"],
] as const;

/** What is odd in a schema that can be read. */
function* oddities(schema: Members, { discriminator }: Members): Generator<string> {
  for (const [min, max] of limitNames)
    if (Number(schema[min]) > Number(schema[max])) yield `${min} is above ${max}, so that no value is valid`;
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

// A discriminator is a member of a value whose text names the schema of the value: an alternative of the schema with the
// discriminator, or a schema that inherits from it by `allOf`.

/** The named schemas of a document. */
interface NamedSchemas {
  readonly document: ApiDocument;
  readonly byName: Members;
  readonly names: ReadonlyMap<unknown, string>;
  /** By a schema, those with it in their `allOf`. */
  readonly heirs: ReadonlyMap<unknown, readonly unknown[]>;
  readonly discriminators: Map<unknown, Discriminator | undefined>;
  /** Schemas without what chooses between others. */
  readonly plain: Map<unknown, Members>;
}

function namedSchemas(document: ApiDocument): NamedSchemas {
  const schemas = valueAt(document.root, "#/components/schemas");
  const byName: Members = isMapping(schemas) ? schemas : {};
  const names = new Map(Object.entries(byName).map(([name, node]) => [node, name]));
  const heirs = new Map<unknown, unknown[]>();
  for (const node of names.keys())
    for (const part of partsOf(node)) keptIn(heirs, targetOf(document, part), () => []).push(node);
  return { document, byName, names, heirs, discriminators: new Map(), plain: new Map() };
}

const partsOf = (node: unknown): readonly unknown[] =>
  isMapping(node) && Array.isArray(node.allOf) ? node.allOf : [];

const targetOf = (document: ApiDocument, node: unknown): unknown => resolved(document, node, []).node;

/** A schema and those that inherit from it, in the order of the document. */
function familyOf(node: unknown, { heirs }: NamedSchemas): Set<unknown> {
  const family = new Set([node]);
  for (const member of family) for (const heir of heirs.get(member) ?? []) family.add(heir);
  return family;
}

/** What the discriminator of a schema chooses between; `undefined` for a schema without, or if no names are known. */
function discriminatorOf(node: Members, named: NamedSchemas): Discriminator | undefined {
  const { discriminator } = node;
  if (!isMapping(discriminator) || typeof discriminator.propertyName !== "string") return undefined;
  const { propertyName: name, mapping } = discriminator;
  return keptIn(named.discriminators, node, () => {
    const branches = branchesOf(node, name, mappedBy(mapping, named), named);
    return branches.size === 0 ? undefined : { name, branches };
  });
}

function branchesOf(
  node: Members,
  name: string,
  mapped: ReadonlyMap<string, unknown>,
  named: NamedSchemas,
): ReadonlyMap<string, unknown> {
  const { oneOf, anyOf, properties } = node;
  // Some documents name a member that is not a text.
  const { type = "string" } = wholeIn(memberIn(properties, [name]), named.document);
  if (![type].flat().includes("string")) return new Map();
  const alternatives = [oneOf, anyOf].find(Array.isArray)?.filter((one) => !isNull(one));
  const nodes: readonly unknown[] = alternatives ?? inheritingOf(node, mapped, named);
  const isParent = alternatives === undefined;
  const branches = new Map<string, unknown>();
  for (const branch of nodes) {
    const values = valuesFor(branch, name, mapped, named);
    const isNamed = values.length === 1 || mapped.has(values[0] ?? "");
    const free = values.filter((value) => !branches.has(value));
    // Each alternative needs values of its own. A parent may have heirs without one, or with that of their parent.
    if (!isParent && (values.length === 0 || free.length < values.length)) return new Map();
    if (isParent && !isNamed) continue;
    for (const value of free) branches.set(value, branch === node ? withoutChoice(node, named) : branch);
  }
  return branches;
}

const isNull = (node: unknown) => isMapping(node) && node.type === "null";

/** The schemas that a parent chooses between: its heirs, and with a mapping only itself if that names it. */
function inheritingOf(node: Members, mapped: ReadonlyMap<string, unknown>, named: NamedSchemas): unknown[] {
  const family = new Set(familyOf(node, named));
  family.delete(node);
  for (const target of mapped.values()) family.add(target);
  if (mapped.size === 0 && family.size > 0) family.add(node);
  return [...family];
}

/** The schemas that a mapping has values for: by their names or their places. */
function mappedBy(mapping: unknown, { document, byName }: NamedSchemas): Map<string, unknown> {
  const targets = Object.entries(isMapping(mapping) ? mapping : {}).map(([value, to]) => {
    const name = String(to);
    const node = Object.hasOwn(byName, name) ? byName[name] : valueAt(document.root, name);
    return [value, targetOf(document, node)] as const;
  });
  return new Map(targets);
}

/** The values that name a schema: those of the mapping, its own name, or the choices that only it has. */
function valuesFor(
  node: unknown,
  member: string,
  mapped: ReadonlyMap<string, unknown>,
  { document, names }: NamedSchemas,
): string[] {
  const target = targetOf(document, node);
  const mappedValues = [...mapped].filter(([, one]) => one === target).map(([value]) => value);
  if (mappedValues.length > 0) return mappedValues;
  const choices = choicesIn(node, member, document);
  const name = names.get(target);
  if (name !== undefined && (choices === undefined || choices.includes(name))) return [name];
  return (choices ?? []).map(String).filter((value) => !mapped.has(value));
}

/** A schema of the document as it is written, with its references and the parts of `allOf`. */
function wholeIn(node: unknown, { root }: ApiDocument): Members {
  const view = (one: unknown) => (isMapping(one) ? one : {});
  return whole({ view, target: (reference) => valueAt(root, reference) }, node);
}

/** The values that a schema allows for a member; `undefined` for any. */
function choicesIn(node: unknown, member: string, document: ApiDocument): readonly unknown[] | undefined {
  const { properties } = wholeIn(node, document);
  if (!isMapping(properties) || !Object.hasOwn(properties, member)) return undefined;
  const { enum: choices, const: only } = wholeIn(properties[member], document);
  return only !== undefined ? [only] : Array.isArray(choices) ? choices : undefined;
}

function withoutChoice(node: Members, { plain }: NamedSchemas): Members {
  return keptIn(plain, node, () => {
    const { discriminator: _, oneOf: __, anyOf: ___, ...rest } = node;
    return rest;
  });
}

/** A schema with the values that name it, if it inherits a discriminator. */
function inheriting(node: Members, named: NamedSchemas): Members {
  const restrictions: Members[] = [];
  const parts = partsOf(node);
  const allOf = parts.map((part) => {
    const parent = targetOf(named.document, part);
    const discriminator = isMapping(parent) ? discriminatorOf(parent, named) : undefined;
    if (!isMapping(parent) || discriminator === undefined) return part;
    const family = familyOf(node, named);
    const values = [...discriminator.branches]
      .filter(([, one]) => family.has(targetOf(named.document, one)))
      .map(([value]) => value);
    // A named schema without a value of its own, because it has several choices, is chosen by none.
    if (values.length === 0) return named.names.has(node) ? withoutChoice(parent, named) : part;
    const { properties } = wholeIn(parent, named.document);
    // A request need not have a member that is only read, and the reverse.
    const { readOnly, writeOnly } = wholeIn(memberIn(properties, [discriminator.name]), named.document);
    const member = { enum: values, readOnly, writeOnly };
    restrictions.push({ properties: { [discriminator.name]: member }, required: [discriminator.name] });
    return withoutChoice(parent, named);
  });
  const isSame = allOf.every((part, at) => part === parts[at]);
  return isSame ? node : { ...node, allOf: [...allOf, ...restrictions] };
}

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
