import { descriptionOf } from "../scenario/format/json-schema.js";
import { describedFields, type JsonSchema, jsonSchemaDocument } from "../spec/schema/json-schema.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { certificateShape } from "./result.js";

/** The certificate as JSON Schema 2020-12. */
export function certificateJsonSchema(): JsonSchema {
  const described = describedFields(certificateShape, descriptions);
  return jsonSchemaDocument(certificateShape, (shape) => described.get(shape) ?? descriptionOf(shape));
}
