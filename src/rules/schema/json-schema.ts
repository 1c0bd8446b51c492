import { type MappingKind, type Range, type RecordKind, type Shape, shapeOf } from "./shape.js";

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
  const description = describe(shape, path);
  return {
    ...(shape.title !== undefined && { title: shape.title }),
    ...(description !== undefined && { description }),
    ...orNullKeywords(
      shape,
      keywordsOf(shape, (inner, ...step) => jsonSchemaOf(inner, describe, [...path, ...step])),
    ),
    // A keyword for editors; validators ignore it.
    ...(shape.isOfSnapshots && { doNotSuggest: true }),
  };
}

function orNullKeywords({ isNullable }: Shape, keywords: JsonSchema): JsonSchema {
  if (!isNullable) return keywords;
  const { type, enum: choices, anyOf } = keywords;
  if (anyOf !== undefined) return { ...keywords, anyOf: [...(anyOf as []), { type: "null" }] };
  return {
    ...keywords,
    type: [type, "null"],
    ...(choices !== undefined && { enum: [...(choices as []), null] }),
  };
}

/** Returns the schema of a shape inside, at this step. */
type Inside = (shape: Shape, ...step: string[]) => JsonSchema;

function keywordsOf(shape: Shape, inside: Inside): JsonSchema {
  switch (shape.kind) {
    case "anything":
      return {};
    case "either":
      return { anyOf: shape.options.map((option) => inside(option, "<option>")) };
    case "choice": {
      const [first] = shape.choices;
      if (shape.besides !== undefined) {
        const otherNames = { type: "string", pattern: shape.besides.source };
        return { anyOf: [{ type: "string", enum: shape.choices }, otherNames] };
      }
      return shape.isConstant ? { const: first } : { type: typeof first, enum: shape.choices };
    }
    case "list":
      return {
        type: "array",
        items: inside(shape.item, "<item>"),
        ...limited(shape, "minItems", "maxItems"),
      };
    case "text": {
      const { format, pattern } = shape;
      return {
        type: "string",
        ...limited(shape, "minLength", "maxLength"),
        ...(format !== undefined && { format }),
        ...(pattern !== undefined && { pattern: pattern.source }),
      };
    }
    case "number":
      return { type: shape.isWhole ? "integer" : "number", ...limited(shape, "minimum", "maximum") };
    case "record":
      return recordKeywords(shape, inside);
    case "mapping":
      return mappingKeywords(shape, inside);
    default:
      return { type: shape.kind };
  }
}

function recordKeywords({ name, member }: RecordKind, inside: Inside): JsonSchema {
  if (name !== undefined) {
    return {
      type: "object",
      propertyNames: inside(name, "<name>"),
      additionalProperties: inside(member, "<ref>"),
    };
  }
  // Explicit, or generated types would have an object without members.
  return { type: "object", additionalProperties: member.kind === "anything" || inside(member, "<ref>") };
}

function mappingKeywords(shape: MappingKind, inside: Inside): JsonSchema {
  const fields = Object.entries(shape.fields);
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, inside(shapeOf(field), name)]));
  const required = fields.filter(([, field]) => !("optional" in field)).map(([name]) => name);
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    ...(!shape.isOpen && { additionalProperties: false }),
    ...(shape.needs && { anyOf: shape.needs.map((name) => having(name, shape)) }),
  };
}

function having(name: string, { isOffByFalse, fields }: MappingKind) {
  const isOn = isOffByFalse && shapeOf(fields[name] as Shape).kind === "boolean";
  return { required: [name], ...(isOn && { properties: { [name]: { const: true } } }) };
}

function limited({ min, max }: Range, minName: string, maxName: string) {
  return { ...(min !== undefined && { [minName]: min }), ...(max !== undefined && { [maxName]: max }) };
}
