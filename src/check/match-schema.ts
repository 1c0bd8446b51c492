import type { JsonSchema } from "../api/endpoint.js";
import { describeValue, isObject, quoted } from "./answer.js";

/** A member that differs from its schema. */
export interface Mismatch {
  /** The JSON path of the member. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Compares a value with a JSON Schema and returns every mismatch, outermost first.
 *
 * Knows the keywords that the endpoints use, and throws on any other, so that none is overlooked.
 */
export function mismatches(schema: JsonSchema, value: unknown, at = "$"): Mismatch[] {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword));
  if (unknown !== undefined) throw new Error(`no check for the JSON Schema keyword ${unknown} at ${at}`);
  const expected = describeSchema(schema);
  if (!isOfType(schema.type, value) || !isAllowed(schema, value))
    return [{ at, expected, found: describeValue(value) }];
  if (Array.isArray(value)) {
    const items = schema.items as JsonSchema | undefined;
    return items === undefined ? [] : value.flatMap((item, i) => mismatches(items, item, `${at}[${i}]`));
  }
  return schema.type === "object" ? membersMismatched(schema, value as Record<string, unknown>, at) : [];
}

const known = new Set(
  "type required additionalProperties properties items enum format minimum minLength minItems description".split(
    " ",
  ),
);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  integer: Number.isInteger,
  string: (value) => typeof value === "string",
};

function isOfType(type: unknown, value: unknown): boolean {
  const check = types[String(type)];
  if (check === undefined) throw new Error(`no check for the JSON Schema type ${type}`);
  return check(value);
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
    return [{ at: `${at}.${name}`, expected: describeSchema(member), found: "nothing" }];
  });
  if (schema.additionalProperties !== false) return known;
  const extra = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return [
    ...known,
    ...extra.map((name) => ({
      at: `${at}${step(name)}`,
      expected: `nothing but ${Object.keys(properties).join(", ")}`,
      found: describeValue(value[name]),
    })),
  ];
}

function step(name: string): string {
  return /^\w{1,60}$/.test(name) ? `.${name}` : `[${quoted(name)}]`;
}

function describeSchema({ type, enum: choices, format, minimum, minItems }: JsonSchema): string {
  if (choices !== undefined)
    return (choices as readonly unknown[]).map((one) => JSON.stringify(one)).join(" or ");
  if (format === "uuid") return "a UUID";
  if (type === "integer") return minimum === undefined ? "an integer" : `an integer of at least ${minimum}`;
  if (type === "array" && minItems !== undefined) return `an array of at least ${minItems}`;
  return type === "object" || type === "array" ? `an ${type}` : `a ${type}`;
}
