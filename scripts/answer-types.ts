import type { JsonSchema } from "../src/api/endpoint.js";

/** The answers of the control plane as TypeScript, for the dashboard, which knows nothing else of it. */
export function answerTypes(schemas: Readonly<Record<string, JsonSchema>>): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`)
    .join("\n");
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema has any of the members that are looked for
function typeOf(schema: any, indent = ""): string {
  const {
    $ref,
    const: only,
    enum: choices,
    anyOf,
    oneOf,
    type,
    items,
    properties,
    additionalProperties,
  } = schema;
  if ($ref !== undefined) return $ref.split("/").at(-1);
  if (only !== undefined) return JSON.stringify(only);
  if (choices !== undefined) return choices.map((one: unknown) => JSON.stringify(one)).join(" | ");
  const options = anyOf ?? oneOf;
  if (options !== undefined) return options.map((one: JsonSchema) => typeOf(one, indent)).join(" | ");
  if (Array.isArray(type)) {
    return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(" | ");
  }
  switch (type) {
    case "array":
      return `readonly (${items === undefined ? "unknown" : typeOf(items, indent)})[]`;
    case "object":
      if (properties !== undefined) return membersOf(schema, indent);
      return `{ readonly [name: string]: ${typeof additionalProperties === "object" ? typeOf(additionalProperties, indent) : "unknown"} }`;
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return type;
    default:
      return "unknown";
  }
}

function membersOf({ properties, required = [] }: JsonSchema, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, schema]) =>
      `${inner}readonly ${JSON.stringify(name)}${(required as string[]).includes(name) ? "" : "?"}: ${typeOf(schema, inner)};\n`,
  );
  return `{\n${members.join("")}${indent}}`;
}
