import { type Limits, type Shape, shapeOf } from "./shape.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns the description of a shape, if it has one. */
type Describe = (shape: Shape) => string | undefined;

const ownDescription: Describe = ({ description }) => description;

/** A shape as a file of JSON Schema 2020-12. */
export function jsonSchemaDocument(shape: Shape, describe?: Describe): JsonSchema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchemaOf(shape, describe) };
}

/** The JSON Schema 2020-12 of a shape. */
export function jsonSchemaOf(shape: Shape, describe = ownDescription): JsonSchema {
  const description = describe(shape);
  return {
    ...(description !== undefined && { description }),
    ...keywordsOf(shape, (inner) => jsonSchemaOf(inner, describe)),
    // A keyword of editors; validators pass over it.
    ...(shape.isOfSnapshots && { doNotSuggest: true }),
  };
}

function keywordsOf(shape: Shape, inside: (shape: Shape) => JsonSchema): JsonSchema {
  switch (shape.kind) {
    case "anything":
      return {};
    case "either":
      return { anyOf: shape.options.map(inside) };
    case "choice":
      return { type: typeof shape.choices[0], enum: shape.choices };
    case "list":
      return { type: "array", items: inside(shape.item), ...limited("Items", shape) };
    case "text": {
      const { pattern } = shape;
      return { type: "string", ...limited("Length", shape), ...(pattern && { pattern: pattern.source }) };
    }
    case "number":
      return { type: shape.isWhole ? "integer" : "number", ...limited("imum", shape) };
    case "record": {
      const names = { propertyNames: inside(shape.name) };
      return { type: "object", ...names, additionalProperties: inside(shape.member) };
    }
    case "mapping": {
      const fields = Object.entries(shape.fields);
      const properties = Object.fromEntries(fields.map(([name, field]) => [name, inside(shapeOf(field))]));
      const required = fields.filter(([, field]) => !("optional" in field)).map(([name]) => name);
      const some = required.length > 0 && { required };
      return { type: "object", properties, ...some, additionalProperties: false };
    }
    default:
      return { type: shape.kind };
  }
}

function limited(what: string, { least, most }: Limits) {
  return {
    ...(least !== undefined && { [`min${what}`]: least }),
    ...(most !== undefined && { [`max${what}`]: most }),
  };
}
