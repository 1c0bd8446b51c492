import { choicesOf, definitionOf, type Schema } from "../src/scenario/format/inspect.js";
import { descriptionOf } from "../src/scenario/format/json-schema.js";

/** The TypeScript type that a schema takes, its descriptions as comments. */
export function typeOf(schema: Schema, indent = ""): string {
  const { innerType, options } = schema._zod.def as unknown as { innerType?: Schema; options?: Schema[] };
  if (innerType !== undefined) {
    return typeOf(innerType, indent) + (schema._zod.def.type === "nullable" ? " | null" : "");
  }
  if (options !== undefined) return options.map((one) => typeOf(one, indent)).join(" | ");
  const { type, shape, element, valueType } = definitionOf(schema);
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.map((one) => JSON.stringify(one)).join(" | ");
  if (shape !== undefined) return mappingOf(shape, indent);
  if (element !== undefined) return `(${typeOf(element, indent)})[]`;
  return valueType === undefined ? type : `{ [name: string]: ${typeOf(valueType, indent)} }`;
}

function mappingOf(shape: Readonly<Record<string, Schema>>, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(shape).map(([name, field]) => {
    const isOptional = field._zod.def.type === "optional";
    return `${commentOf(field, inner)}${inner}${name}${isOptional ? "?" : ""}: ${typeOf(field, inner)};\n`;
  });
  return `{\n${members.join("")}${indent}}`;
}

/** The description of a schema as a comment. */
export function commentOf(schema: Schema, indent = ""): string {
  const description = descriptionOf(schema);
  return description === undefined ? "" : `${indent}/** ${description} */\n`;
}
