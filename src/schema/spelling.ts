import { described, type Fields, optional, type Shape, shapeOfField, text } from "./shape.js";
import { isMapping } from "./type-tag.js";

// Values spell their members in camelCase; YAML, HTTP and JSON use snake_case.

/** Plain data with its members spelled for JSON: `perMinute` as `per_minute`. */
export const membersToSnakeCase = (value: unknown): unknown => spellMembers(value, snakeCaseName);

/** Plain data from JSON with its members spelled as in values: `per_minute` as `perMinute`. */
export const membersToCamelCase = (value: unknown): unknown => spellMembers(value, camelCaseName);

function spellMembers(value: unknown, spell: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => spellMembers(item, spell));
  if (!isMapping(value)) return value;

  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    // Headers have the names of a client or the API.
    const inner = name === "headers" ? member : spellMembers(member, spell);
    members.push([spell(name), inner]);
  }
  return Object.fromEntries(members);
}

function snakeCaseName(name: string): string {
  if (!isMemberName(name)) return name;
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A name as values spell it: `perMinute`. */
export function camelCaseName(name: string): string {
  if (!isMemberName(name)) return name;
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Whether a name is one of our members. Others, such as `Content-Type` and `200.getKeyUsage`, have one spelling. */
function isMemberName(name: string): boolean {
  return /^[a-z]\w*$/.test(name);
}

/** The type of a value in JSON. It renames all members, also those that `membersToSnakeCase` keeps, such as `Content-Type`: no type of ours has one. */
export type InJson<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly InJson<Item>[]
    : Value extends object
      ? {
          readonly [Name in keyof Value as Name extends string ? SnakeCaseName<Name> : never]: InJson<
            Value[Name]
          >;
        }
      : Value;

/** `"perMinute"` as `"per_minute"`, letter by letter. */
type SnakeCaseName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCaseName<Rest>}`
  : Name;

/** The shape of a value in JSON: its fields are spelled in snake_case. */
export function shapeInJson(shape: Shape): Shape {
  return withPartsInJson(shape, shapeInJson);
}

/**
 * The shape of a value in the JSON of this or another version. What differs between versions may be anything: more members, and any
 * text for choices that may get more choices, times and UUIDs.
 */
export function tolerantJsonShape(shape: Shape): Shape {
  const mayGrow = shape.kind === "choice" && shape.isGrowing === true;
  const hasFormat = shape.kind === "text" && shape.format !== undefined;
  if (!mayGrow && !hasFormat) {
    const tolerant = withPartsInJson(shape, tolerantJsonShape);
    return tolerant.kind === "mapping" ? { ...tolerant, isOpen: true } : tolerant;
  }
  return shape.description === undefined ? text() : described(text(), shape.description);
}

/** A shape with its direct parts changed, and its fields in snake_case. */
function withPartsInJson(shape: Shape, change: (part: Shape) => Shape): Shape {
  switch (shape.kind) {
    case "list":
      return { ...shape, item: change(shape.item) };
    case "record":
      return { ...shape, member: change(shape.member) };
    case "either":
      return { ...shape, options: shape.options.map(change) };
    case "mapping": {
      const fields: Record<string, Fields[string]> = {};
      for (const [name, field] of Object.entries(shape.fields)) {
        const inner = change(shapeOfField(field));
        fields[snakeCaseName(name)] = "optional" in field ? optional(inner) : inner;
      }
      const { needs } = shape;
      if (needs === undefined) return { ...shape, fields };
      return { ...shape, fields, needs: needs.map(snakeCaseName) };
    }
    default:
      return shape;
  }
}
