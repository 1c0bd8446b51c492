import type { JsonSchema } from "../api/endpoint.js";
import { quoted, shown } from "./shown.js";

/** A member that is not as its schema says. */
export interface Mismatch {
  /** The JSON path of the member. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Holds a value against a JSON Schema; every mismatch, outermost first.
 *
 * Knows the keywords that the endpoints use, and throws on any other, so that none is overlooked.
 */
export function mismatches(schema: JsonSchema, value: unknown, at = "$"): Mismatch[] {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword));
  if (unknown !== undefined) throw new Error(`no check for the JSON Schema keyword ${unknown} at ${at}`);
  const expected = inWords(schema);
  if (!isOfType(schema.type, value) || !isAllowed(schema, value))
    return [{ at, expected, found: shown(value) }];
  if (Array.isArray(value)) {
    const items = schema.items as JsonSchema | undefined;
    return items === undefined ? [] : value.flatMap((item, i) => mismatches(items, item, `${at}[${i}]`));
  }
  return schema.type === "object" ? membersMismatched(schema, value as Record<string, unknown>, at) : [];
}

const known = new Set([
  "type",
  "required",
  "additionalProperties",
  "properties",
  "items",
  "enum",
  "format",
  "minimum",
  "minLength",
  "minItems",
  "description",
]);

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
      return typeof value === "string";
    default:
      throw new Error(`no check for the JSON Schema type ${type}`);
  }
}

function isAllowed(schema: JsonSchema, value: unknown): boolean {
  const { enum: choices, format, minimum, minLength, minItems } = schema;
  if (choices !== undefined && !(choices as readonly unknown[]).includes(value)) return false;
  if (format === "uuid" && !uuid.test(value as string)) return false;
  if (minimum !== undefined && (value as number) < (minimum as number)) return false;
  const { length } = value as { length: number };
  return !(length < ((minLength ?? 0) as number)) && !(length < ((minItems ?? 0) as number));
}

function membersMismatched(schema: JsonSchema, value: Record<string, unknown>, at: string): Mismatch[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema.required ?? []) as readonly string[];
  const known = Object.entries(properties).flatMap(([name, member]) => {
    if (Object.hasOwn(value, name)) return mismatches(member, value[name], `${at}.${name}`);
    if (!required.includes(name)) return [];
    return [{ at: `${at}.${name}`, expected: inWords(member), found: "nothing" }];
  });
  if (schema.additionalProperties !== false) return known;
  const extra = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return [
    ...known,
    ...extra.map((name) => ({
      at: `${at}${step(name)}`,
      expected: `nothing but ${Object.keys(properties).join(", ")}`,
      found: shown(value[name]),
    })),
  ];
}

function step(name: string): string {
  return /^\w{1,60}$/.test(name) ? `.${name}` : `[${quoted(name)}]`;
}

function inWords({ type, enum: choices, format, minimum, minItems }: JsonSchema): string {
  if (choices !== undefined)
    return (choices as readonly unknown[]).map((one) => JSON.stringify(one)).join(" or ");
  if (format === "uuid") return "a UUID";
  if (type === "integer") return minimum === undefined ? "an integer" : `an integer of at least ${minimum}`;
  if (type === "array" && minItems !== undefined) return `an array of at least ${minItems}`;
  return type === "object" || type === "array" ? `an ${type}` : `a ${type}`;
}
