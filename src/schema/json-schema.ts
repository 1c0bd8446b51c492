import {
  type MappingKind,
  type Range,
  type RecordKind,
  type Shape,
  shapeOfField,
  type TextKind,
} from "./shape.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The description of a shape, by its path in the root. A step of the path is the name of a field, or stands for:
 *
 * - `<ref>`: any member of a record
 * - `<name>`: the name of such a member
 * - `<item>`: any item of a list
 * - `<option>`: one of several kinds
 */
type Describe = (shape: Shape, path: readonly string[]) => string | undefined;

const ownDescription: Describe = ({ description }) => description;

export function jsonSchemaDocument(shape: Shape, describe?: Describe): JsonSchema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchemaOf(shape, describe) };
}

/** The JSON Schema 2020-12 of a shape. */
export function jsonSchemaOf(
  shape: Shape,
  describe: Describe = ownDescription,
  path: readonly string[] = [],
): JsonSchema {
  const schema: Record<string, unknown> = {};
  if (shape.title !== undefined) schema.title = shape.title;
  const description = describe(shape, path);
  if (description !== undefined) schema.description = description;

  const schemaOfPart = (part: Shape, step: string) => jsonSchemaOf(part, describe, [...path, step]);
  const keywords = keywordsOf(shape, schemaOfPart);
  return Object.assign(schema, keywords);
}

function keywordsOf(shape: Shape, schemaOfPart: (part: Shape, step: string) => JsonSchema): JsonSchema {
  switch (shape.kind) {
    case "anything":
      return {};
    case "either":
      return { anyOf: shape.options.map((option) => schemaOfPart(option, "<option>")) };
    case "choice": {
      const { choices, alsoMatching } = shape;
      const oneOfThem = { type: typeof choices[0], enum: choices };
      if (alsoMatching === undefined) return oneOfThem;
      return { anyOf: [oneOfThem, { type: "string", pattern: alsoMatching.source }] };
    }
    case "list": {
      const { item } = shape;
      const items: Record<string, unknown> = { ...schemaOfPart(item, "<item>") };
      // Editors insert the default of an item, or else 0.
      if (item.kind === "number" && item.min !== undefined) items.default = item.min;
      return { type: "array", items, ...rangeKeywords(shape, "minItems", "maxItems") };
    }
    case "text":
      return textKeywords(shape);
    case "number": {
      const type = shape.isWhole ? "integer" : "number";
      const keywords = { type, ...rangeKeywords(shape, "minimum", "maximum") };
      // Editors insert an example, or else 0.
      const { min = 0 } = shape;
      return min > 0 ? { ...keywords, examples: [min] } : keywords;
    }
    case "record":
      return recordKeywords(shape, schemaOfPart);
    case "mapping":
      return mappingKeywords(shape, schemaOfPart);
    default:
      return { type: shape.kind };
  }
}

function textKeywords(shape: TextKind): JsonSchema {
  const schema: Record<string, unknown> = {
    type: "string",
    ...rangeKeywords(shape, "minLength", "maxLength"),
  };
  if (shape.format !== undefined) schema.format = shape.format;
  if (shape.pattern !== undefined) schema.pattern = shape.pattern.source;
  return schema;
}

function recordKeywords(
  shape: RecordKind,
  schemaOfPart: (part: Shape, step: string) => JsonSchema,
): JsonSchema {
  const { name, member } = shape;
  const schema: Record<string, unknown> = { type: "object" };
  if (name !== undefined) schema.propertyNames = schemaOfPart(name, "<name>");
  schema.additionalProperties = schemaOfPart(member, "<ref>");
  // Explicit, or generated types would have an object without members.
  if (name === undefined && member.kind === "anything") schema.additionalProperties = true;
  return schema;
}

function mappingKeywords(
  shape: MappingKind,
  schemaOfPart: (part: Shape, step: string) => JsonSchema,
): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(shape.fields)) {
    properties[name] = schemaOfPart(shapeOfField(field), name);
    if (!("optional" in field)) required.push(name);
  }

  const schema: Record<string, unknown> = { type: "object", properties };
  if (required.length > 0) schema.required = required;
  if (!shape.isOpen) schema.additionalProperties = false;
  if (shape.needs !== undefined) schema.anyOf = shape.needs.map((name) => ({ required: [name] }));
  return schema;
}

/** The limits of a range, by these keywords. */
function rangeKeywords(range: Range, minName: string, maxName: string): JsonSchema {
  const limits: Record<string, number> = {};
  if (range.min !== undefined) limits[minName] = range.min;
  if (range.max !== undefined) limits[maxName] = range.max;
  return limits;
}
