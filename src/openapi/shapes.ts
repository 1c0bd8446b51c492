import type { Endpoint } from "../api/endpoint.js";
import { describeApi } from "../api/openapi.js";
import type { Members } from "../rules/schema/messages.js";
import * as s from "../rules/schema/shape.js";
import { type Fields, isMapping, type Shape, shapeOf } from "../rules/schema/shape.js";
import { type ApiDocument, valueAt } from "./document.js";
import type { Discriminator } from "./keywords.js";
import { type Operation, routeKey } from "./operations.js";
import { type SchemaReader, whole } from "./schemas.js";

// The shapes of schemas, and the differences between a document and the operations that the sandbox has built in.

const maxParts = 2000;
const maxNested = 12;

interface Walk {
  readonly reader: Pick<SchemaReader, "whole">;
  /** The parts that are left. */
  left: number;
}

/** The shape of a schema; what a shape cannot express, and what is too large or too deep, is `anything`. */
export function shapeOfSchema(reader: Walk["reader"], schema: unknown): Shape {
  return shapeOfNode({ reader, left: maxParts }, schema, 0);
}

function shapeOfNode(walk: Walk, node: unknown, level: number): Shape {
  walk.left -= 1;
  return walk.left < 0 || level > maxNested
    ? s.anything()
    : shapeOfWhole(walk, walk.reader.whole(node), level);
}

function shapeOfWhole(walk: Walk, schema: Members, level: number): Shape {
  const { type, anyOf, oneOf, enum: choices } = schema;
  const either = anyOf ?? oneOf;
  const shapesOf = (nodes: Iterable<unknown>) =>
    alternatives(Array.from(nodes, (one) => shapeOfNode(walk, one, level + 1)));
  if (Array.isArray(type)) return shapeOfTypes(walk, schema, type, level);
  if (schema.const !== undefined) return choiceOf([schema.const]);
  if (Array.isArray(choices)) return choiceOf(choices);
  if (schema.discriminator !== undefined && either === undefined)
    return shapesOf((schema.discriminator as Discriminator).branches.values());
  if (!Array.isArray(either)) return shapeOfType(walk, schema, level);
  const isMixed = isMapping(schema.properties) || (anyOf !== undefined && oneOf !== undefined);
  return isMixed ? s.anything() : shapesOf(either);
}

function shapeOfTypes(walk: Walk, schema: Members, types: readonly unknown[], level: number): Shape {
  const kinds = types.filter((one) => one !== "null");
  const choices = Array.isArray(schema.enum) && { enum: schema.enum.filter((one) => one !== null) };
  const options = kinds.map((one) => shapeOfWhole(walk, { ...schema, ...choices, type: one }, level));
  return alternatives(kinds.length < types.length ? [...options, { kind: "null" }] : options);
}

function shapeOfType(walk: Walk, schema: Members, level: number): Shape {
  const { type } = schema;
  switch (type) {
    case "object":
    case undefined:
      return isMapping(schema.properties) || type === "object"
        ? mappingOf(walk, schema, level)
        : s.anything();
    case "array": {
      const item = shapeOfNode(walk, schema.items ?? {}, level + 1);
      return { kind: "list", item, ...limits(schema.minItems, schema.maxItems) };
    }
    case "string": {
      const format = typeof schema.format === "string" && { format: schema.format };
      return { kind: "text", ...limits(schema.minLength, schema.maxLength), ...format };
    }
    case "integer":
    case "number":
      return { kind: "number", isWhole: type === "integer", ...limits(schema.minimum, schema.maximum) };
    case "boolean":
    case "null":
      return { kind: type };
    default:
      return s.anything();
  }
}

function mappingOf(walk: Walk, schema: Members, level: number): Shape {
  const { properties, required, additionalProperties: more } = schema;
  const members = isMapping(properties) ? properties : {};
  if (Object.keys(members).length === 0 && isMapping(more))
    return { kind: "record", member: shapeOfNode(walk, more, level + 1), isAsSpelled: true };
  const needed = Array.isArray(required) ? required.map(String) : [];
  const fieldOf = (name: string, node: unknown) => {
    const shape = shapeOfNode(walk, node, level + 1);
    return needed.includes(name) ? shape : s.optional(shape);
  };
  const fields: Fields = Object.fromEntries([
    ...Object.entries(members).map(([name, one]) => [name, fieldOf(name, one)]),
    ...needed.filter((name) => !Object.hasOwn(members, name)).map((name) => [name, s.anything()]),
  ]);
  return { kind: "mapping", fields, isOpen: more !== false, isAsSpelled: true };
}

function limits(min: unknown, max: unknown) {
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) };
}

function choiceOf(choices: readonly unknown[]): Shape {
  const values = choices.filter((one) => one !== null);
  const [first] = values;
  const isOfOneKind = values.every((one) => typeof one === typeof first);
  if (!isOfOneKind || !["string", "number", "boolean"].includes(typeof first)) return s.anything();
  const shape: Shape = { kind: "choice", choices: values as string[], code: "bad_choice" };
  return values.length < choices.length ? alternatives([shape, { kind: "null" }]) : shape;
}

function alternatives(options: readonly Shape[]): Shape {
  if (options.some(({ kind }) => kind === "anything")) return s.anything();
  return options.length === 1 ? (options[0] as Shape) : { kind: "either", options };
}

/** Lists each difference between the operations of a document and the built-in ones, as sentences. */
export function differencesTo(
  own: readonly Endpoint[],
  operations: readonly Operation[],
  document: ApiDocument,
): string[] {
  const described = describeApi(own);
  const differences = keyDifferences(document);
  for (const operation of operations) {
    const endpoint = own.find((one) => routeKey(one) === routeKey(operation));
    const sameId = own.find(({ operationId }) => operationId === operation.id);
    const name = `${operation.method} ${operation.path}`;
    if (endpoint === undefined) {
      if (sameId !== undefined)
        differences.push(
          `${operation.id} is ${name} in the document and ${sameId.method} ${sameId.path} here.`,
        );
      continue;
    }
    const { status = 200, operationId } = endpoint;
    if (operation.id !== operationId)
      differences.push(
        `${name} has the operation id ${operation.id} in the document and ${operationId} here.`,
      );
    const content = operation.responses.get(String(status));
    if (content === undefined) {
      differences.push(`${name} documents no response with status ${status}, which it has here.`);
      continue;
    }
    if (content.schema === undefined) continue;
    const here = valueAt(described, `#/components/schemas/${endpoint.responseName}`);
    const [inDocument, builtIn] = [
      shapeOfSchema(content.reader, content.schema),
      shapeOfSchema(plainReader, here),
    ];
    differences.push(...shapeDifferences(inDocument, builtIn).map((one) => `${name}: ${one}`));
  }
  const isDocumented = (one: Endpoint) =>
    operations.some((operation) => routeKey(operation) === routeKey(one));
  const missing = operations.length === 0 ? [] : own.filter((one) => !isDocumented(one));
  for (const { method, path } of missing)
    differences.push(`The document does not have ${method} ${path}, which the sandbox has.`);
  return differences;
}

// Every request to the sandbox has its key in `x-api-key`.
function keyDifferences({ root }: ApiDocument): string[] {
  const schemes = valueAt(root, "#/components/securitySchemes");
  const entries = Object.entries(isMapping(schemes) ? schemes : {});
  const isOurs = (one: unknown) =>
    isMapping(one) && one.in === "header" && String(one.name).toLowerCase() === "x-api-key";
  if (entries.length === 0 || entries.some(([, one]) => isOurs(one))) return [];
  return [
    `The document authenticates with ${entries.map(([name]) => name.slice(0, 60)).join(", ")}; here each request has its key in x-api-key.`,
  ];
}

/** The schemas of the built-in operations refer to no others. */
const plainReader = {
  whole: (node: unknown) => whole({ view: (one) => one as Members, target: () => undefined }, node),
};

function shapeDifferences(there: Shape, here: Shape, at = ""): string[] {
  const [typeThere, typeHere] = [typeOf(there), typeOf(here)];
  const place = at === "" ? "the body" : at;
  if (typeThere === undefined || typeHere === undefined) return [];
  if (typeThere !== typeHere) return [`${place} is ${typeThere} in the document and ${typeHere} here.`];
  if (there.kind === "list" && here.kind === "list")
    return shapeDifferences(there.item, here.item, `${place}[]`);
  if (there.kind !== "mapping" || here.kind !== "mapping") return [];
  return Object.keys({ ...there.fields, ...here.fields }).flatMap((name) => {
    const inner = at === "" ? name : `${at}.${name}`;
    const [fieldThere, fieldHere] = [there, here].map(({ fields }) =>
      Object.hasOwn(fields, name) ? fields[name] : undefined,
    );
    if (fieldThere === undefined) return [`${inner} is only here, not in the document.`];
    if (fieldHere === undefined) return [`${inner} is only in the document, not here.`];
    const [needed, neededHere] = [fieldThere, fieldHere].map((one) =>
      "optional" in one ? "optional" : "required",
    );
    const needs = `${inner} is ${needed} in the document and ${neededHere} here.`;
    const inside = shapeDifferences(shapeOf(fieldThere), shapeOf(fieldHere), inner);
    return [...(needed === neededHere ? [] : [needs]), ...inside];
  });
}

const typeWords = { text: "a string", list: "an array", mapping: "an object", record: "an object" } as const;

/** The type of a shape; `undefined` for any. */
function typeOf(shape: Shape): string | undefined {
  switch (shape.kind) {
    case "anything":
      return undefined;
    case "choice":
      return `one of ${shape.choices.map(String).sort().join(", ")}`;
    case "either":
      return shape.options.map(typeOf).sort().join(" or ");
    case "number":
      return shape.isWhole ? "an integer" : "a number";
    case "boolean":
    case "null":
      return shape.kind;
    default:
      return typeWords[shape.kind];
  }
}
