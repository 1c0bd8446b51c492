import { shapeDescription } from "../src/scenario/format/scenario-json-schema.js";
import { durationPattern, waitPattern } from "../src/scenario/format/times.js";
import { type Fields, type Shape, shapeOfField } from "../src/schema/shape.js";

// A compiler knows no whole numbers: `${1}s` in a loop would be a mistake.
const durationType = `\`\${number}\${"s" | "m" | "h" | "d"}\``;
const waitType = durationType.replace('"s"', '"ms" | "s"');

// biome-ignore lint/suspicious/noTemplateCurlyInString: a type, written into a file
const successIds = "`${200 | 201 | 202 | 204}.${string}`";

/** The TypeScript type of the values of a shape, its descriptions as comments. */
export function typeOf(shape: Shape, indent = ""): string {
  switch (shape.kind) {
    case "text":
      if (shape.pattern === waitPattern) return waitType;
      return shape.pattern === durationPattern ? durationType : "string";
    case "anything":
      return "string | number | boolean | null | (unknown)[] | { [name: string]: unknown }";
    case "either":
      return shape.options.map((one) => typeOf(one, indent)).join(" | ");
    case "choice":
      return [
        ...shape.choices.map((one) => JSON.stringify(one)),
        // The successes of other endpoints than `/me`.
        ...(shape.alsoMatching === undefined ? [] : [successIds]),
      ].join(" | ");
    case "list":
      return `(${typeOf(shape.item, indent)})[]`;
    case "record":
      return `{ [name: string]: ${typeOf(shape.member, indent)} }`;
    case "mapping":
      return mappingOf(shape.fields, indent, shape.isOpen);
    default:
      return shape.kind;
  }
}

function mappingOf(fields: Fields, indent: string, isOpen = false): string {
  const inner = `${indent}  `;
  const members = Object.entries(fields).map(([name, field]) => {
    const shape = shapeOfField(field);
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${commentOf(shape, inner)}${inner}${key}${"optional" in field ? "?" : ""}: ${typeOf(shape, inner)};\n`;
  });
  const more = isOpen ? `${inner}[name: string]: unknown;\n` : "";
  return `{\n${members.join("")}${more}${indent}}`;
}

/** The description of a shape as a comment. */
export function commentOf(shape: Shape, indent = ""): string {
  const description = shapeDescription(shape);
  return description === undefined ? "" : `${indent}/** ${description} */\n`;
}
