import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { generateSync } from "json-schema-faker";
import { RE2JS } from "re2js";
import type { JsonSchema } from "../spec/schema/json-schema.js";
import type { Members } from "../spec/schema/messages.js";
import {
  anything,
  type Fields,
  isMapping,
  type MappingKind,
  optional,
  type Path,
  type Shape,
  shapeOf,
} from "../spec/schema/shape.js";
import { type ApiDocument, checkSchema, resolved, stepsOf, valueAt } from "./document.js";

// The schemas of a document in the form of JSON Schema 2020-12, for three readers: Ajv, the sampler and our shapes.

/** What a value is for: a client need not send members that are only read, and the reverse. */
export type Direction = "request" | "response";

const plain =
  "examples type enum const format pattern required uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains dependentRequired".split(
    " ",
  );
const single =
  "items additionalProperties not contains if then else propertyNames unevaluatedProperties unevaluatedItems".split(
    " ",
  );
const several = "allOf anyOf oneOf prefixItems".split(" ");
const byName = "properties patternProperties dependentSchemas".split(" ");

/** The most that a schema may require of a value: the sandbox makes such values. */
const mostRequired: Readonly<Record<string, number>> = {
  minLength: 10_000,
  minItems: 100,
  minProperties: 100,
  minContains: 100,
};

export type Schemas = ReturnType<typeof schemasOf>;

export function schemasOf(document: ApiDocument) {
  const { root, isOld, report } = document;
  const names = new Map<string, string>();
  const definitions: Record<string, JsonSchema> = {};

  const inside = (node: unknown, direction: Direction, path: Path): JsonSchema | boolean => {
    if (!isMapping(node)) return typeof node === "boolean" ? node : {};
    // OpenAPI 3.0 ignores everything next to a reference.
    const given = isOld && typeof node.$ref === "string" ? { $ref: node.$ref } : node;
    const kept = Object.entries(given).flatMap(([name, value]) => {
      const one = keyword(name, value, direction, [...path, name]);
      return one === undefined ? [] : [[name, one] as const];
    });
    const made: Record<string, unknown> = Object.fromEntries(kept);
    if (Array.isArray(node.required) && isMapping(node.properties)) {
      made.required = node.required.filter((name) => !isLeftOut(node.properties as Members, name, direction));
    }
    // A response has no member that is only written.
    if (direction === "response" && isMapping(made.properties) && isMapping(node.properties)) {
      const own = Object.entries(made.properties);
      const isShown = ([name]: [string, unknown]) => !isLeftOut(node.properties as Members, name, direction);
      made.properties = Object.fromEntries(own.filter(isShown));
    }
    if (Object.hasOwn(node, "example")) made.examples = [node.example];
    return isOld ? ofOld(made, node) : made;
  };

  /** A keyword in its new form; `undefined` for one that does not restrict values. */
  const keyword = (name: string, value: unknown, direction: Direction, path: Path): unknown => {
    if (name === "$ref") return `#/$defs/${definitionOf(String(value), direction)}`;
    if (typeof value === "number" && value > (mostRequired[name] ?? Number.POSITIVE_INFINITY)) {
      report("too_large", path, `${name} is larger than ${mostRequired[name]}`, "write a smaller number");
    }
    if (plain.includes(name)) return value;
    if (single.includes(name)) return inside(value, direction, path);
    if (!several.includes(name) && !byName.includes(name)) return undefined;
    // Of the wrong kind: the check of the schema reports it.
    if (typeof value !== "object" || value === null || Array.isArray(value) !== several.includes(name))
      return value;
    const all = Object.entries(value).map(
      ([key, one]) => [key, inside(one, direction, [...path, key])] as const,
    );
    return Array.isArray(value) ? all.map(([, one]) => one) : Object.fromEntries(all);
  };

  const definitionOf = (reference: string, direction: Direction): string => {
    const key = `${direction} ${reference}`;
    let name = names.get(key);
    if (name === undefined) {
      name = `d${names.size}`;
      names.set(key, name);
      definitions[name] = inside(valueAt(root, reference), direction, stepsOf(reference)) as JsonSchema;
      checkSchema(document, definitions[name], stepsOf(reference));
    }
    return name;
  };

  const isLeftOut = (properties: Members, name: unknown, direction: Direction): boolean => {
    const { at } = resolved(
      document,
      Object.hasOwn(properties, String(name)) ? properties[String(name)] : {},
      [],
    );
    return at[direction === "request" ? "readOnly" : "writeOnly"] === true;
  };

  /** A schema with the definitions that it reaches. */
  const schemaAt = (node: unknown, direction: Direction, path: Path): JsonSchema => {
    const schema = inside(node, direction, path);
    const own = typeof schema === "boolean" ? { allOf: [schema] } : schema;
    checkSchema(document, own, path);
    const reached = reachedFrom(own);
    return reached.size === 0
      ? own
      : { ...own, $defs: Object.fromEntries([...reached].map((name) => [name, definitions[name]])) };
  };

  const links = new Map<string, readonly string[]>();
  const linksOf = (schema: unknown) =>
    [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/(d\d+)"/g)].map(([, name]) => name as string);
  const reachedFrom = (schema: JsonSchema): ReadonlySet<string> => {
    const reached = new Set(linksOf(schema));
    for (const name of reached) {
      if (!links.has(name)) links.set(name, linksOf(definitions[name]));
      for (const next of links.get(name) ?? []) reached.add(next);
    }
    return reached;
  };

  return { schemaAt, isOld, ...checksOf() };
}

// OpenAPI 3.0: `nullable`, and limits that are flags.
function ofOld(made: Record<string, unknown>, { nullable }: Readonly<Record<string, unknown>>): JsonSchema {
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

const longestPattern = 1000;

/**
 * Compiles a pattern with an engine whose time grows only with the text. Patterns that it does not support, such as
 * ones that look back, accept everything.
 */
function guarded(pattern: string): { test(text: string): boolean } {
  try {
    if (pattern.length <= longestPattern) return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {}
  return { test: () => true };
}

export type Check = (value: unknown) => ErrorObject | undefined;

function checksOf() {
  const regExp = Object.assign(guarded, { code: "undefined" });
  const options = {
    strict: false,
    validateSchema: false,
    logger: false,
    code: { regExp },
    formats: fullFormats,
  } as const;
  const made = { read: new Map<JsonSchema, Check>(), checked: new Map<JsonSchema, Check>() };
  const instances = new Map<boolean, Ajv2020>();
  /** The check of a schema; with `reads`, values are texts that it converts first. A schema that cannot be checked accepts everything. */
  const checkOf = (schema: JsonSchema, reads = false): Check => {
    const known = reads ? made.read : made.checked;
    const check = known.get(schema) ?? compiled(schema, reads);
    known.set(schema, check);
    return check;
  };
  const compiled = (schema: JsonSchema, reads: boolean): Check => {
    const ajv = instances.get(reads) ?? new Ajv2020({ ...options, ...(reads && { coerceTypes: "array" }) });
    instances.set(reads, ajv);
    try {
      const validate = ajv.compile(schema);
      return (value) => {
        try {
          return validate(value) ? undefined : validate.errors?.[0];
        } catch {
          // A schema that contains itself without a member in between.
          return undefined;
        }
      };
    } catch {
      return () => undefined;
    }
  };
  return { checkOf };
}

const mostParts = 2000;
const mostNested = 12;

/** A schema without references, cut where it is too large or repeats itself too often. */
export function expanded(schema: JsonSchema): JsonSchema {
  const { $defs = {} } = schema as { $defs?: Readonly<Record<string, JsonSchema>> };
  let left = mostParts;
  const expand = (node: unknown, level: number): unknown => {
    if (Array.isArray(node)) return node.map((one) => expand(one, level));
    if (!isMapping(node)) return node;
    left -= 1;
    if (left < 0 || level > mostNested) return {};
    const { $ref, $defs: _, ...own } = node;
    const target = typeof $ref === "string" ? $defs[$ref.slice("#/$defs/".length)] : undefined;
    const all =
      target === undefined
        ? own
        : isMapping(target) && typeof target.$ref !== "string"
          ? { ...target, ...own }
          : { allOf: [target, own] };
    const members = Object.entries(all).map(([name, member]) => {
      const isPlain = plain.includes(name);
      if (isPlain) return [name, member];
      if (byName.includes(name) && isMapping(member)) {
        // Only needed members at the end of a recursive type.
        const required = Array.isArray(all.required) ? all.required : [];
        const kept = Object.entries(member).filter(
          ([key]) => level < mostNested - 4 || required.includes(key),
        );
        return [name, Object.fromEntries(kept.map(([key, one]) => [key, expand(one, level + 1)]))];
      }
      return [name, expand(member, level + 1)];
    });
    return Object.fromEntries(members);
  };
  return expand(schema, 0) as JsonSchema;
}

/** Makes a value of a schema, the same for a seed; `undefined` if none of a few is valid. */
export function sampleOf(
  schema: JsonSchema,
  check: Check,
  seed: number,
): { readonly value: unknown } | undefined {
  const flat = expanded(schema);
  const tries = [
    { alwaysFakeOptionals: true, useExamplesValue: true },
    { alwaysFakeOptionals: true },
    { optionalsProbability: 0, useExamplesValue: true },
    ...[1, 2, 3].map((at) => ({ optionalsProbability: 0, seed: seed + at })),
  ];
  for (const options of tries) {
    try {
      const value: unknown = generateSync(flat as never, {
        seed,
        maxDefaultItems: 2,
        maxDepth: 20,
        ...options,
      });
      if (value !== undefined && check(value) === undefined) return { value };
    } catch {}
  }
  return undefined;
}

/** The shape of a schema without references; what a shape cannot express is `anything`. */
export function shapeOfSchema(schema: unknown): Shape {
  if (!isMapping(schema)) return anything();
  const { type, anyOf, oneOf, allOf, enum: choices, const: constant } = schema;
  if (Array.isArray(type)) {
    const kinds = type.filter((one) => one !== "null");
    const isNullable = kinds.length < type.length;
    const rest = {
      ...schema,
      ...(Array.isArray(choices) && { enum: choices.filter((one) => one !== null) }),
    };
    const options = kinds.map((one) => shapeOfSchema({ ...rest, type: one }));
    return alternatives(isNullable ? [...options, { kind: "null" }] : options);
  }
  if (constant !== undefined) return shapeOfSchema({ enum: [constant] });
  if (Array.isArray(choices)) return choiceOf(choices);
  const alternative = anyOf ?? oneOf;
  if (Array.isArray(alternative))
    return isMapping(schema.properties) || allOf ? anything() : alternatives(alternative.map(shapeOfSchema));
  if (Array.isArray(allOf)) return mergedShape([...allOf, { ...schema, allOf: undefined }]);
  switch (type) {
    case "object":
    case undefined:
      return isMapping(schema.properties) || type === "object" ? mappingOf(schema) : anything();
    case "array":
      return { kind: "list", item: shapeOfSchema(schema.items), ...limits(schema, "Items") };
    case "string":
      return {
        kind: "text",
        ...limits(schema, "Length"),
        ...(typeof schema.format === "string" && { format: schema.format }),
      };
    case "integer":
    case "number":
      return { kind: "number", isWhole: type === "integer", ...limits(schema, "imum") };
    case "boolean":
    case "null":
      return { kind: type };
    default:
      return anything();
  }
}

function limits(schema: Readonly<Record<string, unknown>>, what: string) {
  const { [`min${what}`]: least, [`max${what}`]: most } = schema;
  return { ...(typeof least === "number" && { least }), ...(typeof most === "number" && { most }) };
}

function choiceOf(choices: readonly unknown[]): Shape {
  const given = choices.filter((one) => one !== null);
  const [first] = given;
  const isOfOneKind = given.every((one) => typeof one === typeof first);
  if (!isOfOneKind || !["string", "number", "boolean"].includes(typeof first)) return anything();
  const shape: Shape = { kind: "choice", choices: given as string[], code: "bad_choice" };
  return given.length < choices.length ? alternatives([shape, { kind: "null" }]) : shape;
}

function alternatives(options: readonly Shape[]): Shape {
  if (options.some(({ kind }) => kind === "anything")) return anything();
  return options.length === 1 ? (options[0] as Shape) : { kind: "either", options };
}

function mappingOf({
  properties,
  required,
  additionalProperties: more,
}: Readonly<Record<string, unknown>>): Shape {
  const members = isMapping(properties) ? properties : {};
  if (Object.keys(members).length === 0 && isMapping(more))
    return { kind: "record", member: shapeOfSchema(more), isAsSpelled: true };
  const needed = Array.isArray(required) ? required.map(String) : [];
  const fields: Fields = Object.fromEntries([
    ...Object.entries(members).map(([name, one]) => [
      name,
      needed.includes(name) ? shapeOfSchema(one) : optional(shapeOfSchema(one)),
    ]),
    ...needed.filter((name) => !Object.hasOwn(members, name)).map((name) => [name, anything()]),
  ]);
  return { kind: "mapping", fields, isOpen: more !== false, isAsSpelled: true };
}

// Only objects: any other kinds are rarely combined.
function mergedShape(parts: readonly unknown[]): Shape {
  const shapes = parts.map(shapeOfSchema).filter(({ kind }) => kind !== "anything");
  const [first] = shapes;
  if (first === undefined) return anything();
  if (shapes.length === 1) return first;
  if (!shapes.every((one): one is Shape & MappingKind => one.kind === "mapping")) return anything();
  const required = new Set(
    parts.flatMap((one) => (isMapping(one) && Array.isArray(one.required) ? one.required.map(String) : [])),
  );
  const all = Object.entries(Object.assign({}, ...shapes.map(({ fields }) => fields)) as Fields);
  const fields = all.map(([name, field]) => [name, required.has(name) ? shapeOf(field) : field]);
  return {
    kind: "mapping",
    fields: Object.fromEntries(fields),
    isOpen: shapes.every(({ isOpen }) => isOpen),
    isAsSpelled: true,
  };
}
