import {
  type ChoiceKind,
  type MappingKind,
  type Range,
  type RecordKind,
  type Shape,
  shapeOf,
  type TextKind,
} from "./shape.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The description of a shape at a path in the root: `<ref>` is any member of a record, `<item>` any item of a list, `<option>` one of several kinds. */
export type Describe = (shape: Shape, path: readonly string[]) => string | undefined;

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

  const inside: Inside = (inner, step) => jsonSchemaOf(inner, describe, [...path, step]);
  const keywords = keywordsOf(shape, inside);
  Object.assign(schema, shape.isNullable ? orNullKeywords(keywords) : keywords);

  // A keyword for editors; validators ignore it.
  if (shape.isOfSnapshots) schema.doNotSuggest = true;
  return schema;
}

function orNullKeywords(keywords: JsonSchema): JsonSchema {
  const { type, enum: choices, anyOf } = keywords;
  if (anyOf !== undefined) return { ...keywords, anyOf: [...(anyOf as []), { type: "null" }] };
  const types = [type, "null"];
  if (choices === undefined) return { ...keywords, type: types };
  return { ...keywords, type: types, enum: [...(choices as []), null] };
}

/** Returns the schema of a shape inside, at this step. */
type Inside = (shape: Shape, step: string) => JsonSchema;

function keywordsOf(shape: Shape, inside: Inside): JsonSchema {
  switch (shape.kind) {
    case "anything":
      return {};
    case "either":
      return { anyOf: shape.options.map((option) => inside(option, "<option>")) };
    case "choice":
      return choiceKeywords(shape);
    case "list": {
      const items = inside(shape.item, "<item>");
      return { type: "array", items, ...limited(shape, "minItems", "maxItems") };
    }
    case "text":
      return textKeywords(shape);
    case "number": {
      const type = shape.isWhole ? "integer" : "number";
      return { type, ...limited(shape, "minimum", "maximum") };
    }
    case "record":
      return recordKeywords(shape, inside);
    case "mapping":
      return mappingKeywords(shape, inside);
    default:
      return { type: shape.kind };
  }
}

function choiceKeywords(shape: ChoiceKind): JsonSchema {
  const { choices, besides } = shape;
  if (besides !== undefined) {
    const otherNames = { type: "string", pattern: besides.source };
    return { anyOf: [{ type: "string", enum: choices }, otherNames] };
  }
  const [first] = choices;
  if (shape.isConstant) return { const: first };
  return { type: typeof first, enum: choices };
}

function textKeywords(shape: TextKind): JsonSchema {
  const schema: Record<string, unknown> = { type: "string", ...limited(shape, "minLength", "maxLength") };
  if (shape.format !== undefined) schema.format = shape.format;
  if (shape.pattern !== undefined) schema.pattern = shape.pattern.source;
  return schema;
}

function recordKeywords(shape: RecordKind, inside: Inside): JsonSchema {
  const { name, member } = shape;
  if (name !== undefined) {
    const propertyNames = inside(name, "<name>");
    return { type: "object", propertyNames, additionalProperties: inside(member, "<ref>") };
  }
  // Explicit, or generated types would have an object without members.
  if (member.kind === "anything") return { type: "object", additionalProperties: true };
  return { type: "object", additionalProperties: inside(member, "<ref>") };
}

function mappingKeywords(shape: MappingKind, inside: Inside): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(shape.fields)) {
    properties[name] = inside(shapeOf(field), name);
    if (!("optional" in field)) required.push(name);
  }

  const schema: Record<string, unknown> = { type: "object", properties };
  if (required.length > 0) schema.required = required;
  if (!shape.isOpen) schema.additionalProperties = false;
  if (shape.needs !== undefined) schema.anyOf = shape.needs.map((name) => having(name, shape));
  return schema;
}

/** The schema of a mapping that has a field, and that has it switched on. */
function having(name: string, shape: MappingKind): JsonSchema {
  const field = shapeOf(shape.fields[name] as Shape);
  const canBeOff = shape.isOffByFalse && field.kind === "boolean";
  if (!canBeOff) return { required: [name] };
  return { required: [name], properties: { [name]: { const: true } } };
}

function limited(range: Range, minName: string, maxName: string): JsonSchema {
  const limits: Record<string, number> = {};
  if (range.min !== undefined) limits[minName] = range.min;
  if (range.max !== undefined) limits[maxName] = range.max;
  return limits;
}
