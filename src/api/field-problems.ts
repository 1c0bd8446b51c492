import { isMapping } from "../domain/json.js";
import { redactKeys } from "../domain/redact.js";
import type { JsonSchema, OwnRefusal } from "./endpoint.js";

/** The problems of a value, by the path of the field. None contains the value itself: it may hold a key (R46). */
export type FieldProblems = Readonly<Record<string, string>>;

/** The refusal of a request with these problems. */
export function invalid(fields: FieldProblems): OwnRefusal {
  return { refused: "422.validation", details: { fields } };
}

const mostProblems = 50;

/** Checks a value against a JSON Schema of an endpoint; `undefined` when it is valid. */
export function fieldProblems(schema: JsonSchema, value: unknown, name = "body"): FieldProblems | undefined {
  const problems = schemaProblems(schema, value).slice(0, mostProblems);
  if (problems.length === 0) return undefined;
  return Object.fromEntries(
    problems.map(({ path, expected, value }) => [
      path === "" ? name : path,
      value === undefined ? "is missing" : `expected ${expected}`,
    ]),
  );
}

/** A part of a value that does not fit its schema. */
export interface SchemaProblem {
  /** Of the part: `limits.per_day`, `scopes[0]`; empty for the whole value. */
  readonly path: string;
  readonly expected: string;
  /** The part; `undefined` when it is missing. */
  readonly value: unknown;
}

/** The keywords that the endpoints use. */
interface Keywords {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

const known = new Set([
  ...["type", "enum", "properties", "required", "additionalProperties", "items", "uniqueItems", "minItems"],
  ...["minLength", "maxLength", "minimum", "maximum", "description", "default", "format"],
]);

/**
 * Returns the problems of a value, outermost first.
 *
 * A validator of its own: a library would weigh more than all endpoints of the API in browsers and at each start. It knows
 * the keywords that the endpoints use, and throws on any other, so that none is overlooked.
 */
export function schemaProblems(schema: JsonSchema, value: unknown, path = ""): SchemaProblem[] {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword));
  if (unknown !== undefined) throw new Error(`no check for the JSON Schema keyword ${unknown} at "${path}"`);
  const { type, items, properties = {}, required = [], additionalProperties }: Keywords = schema;
  if (!fits(schema, value)) return [{ path, expected: describeSchema(schema), value }];
  if (Array.isArray(value) && items !== undefined) {
    return value.flatMap((item, index) => schemaProblems(items, item, `${path}[${index}]`));
  }
  if (type !== "object") return [];
  const members = new Map(Object.entries(value as object));
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const problems = Object.entries(properties)
    .filter(([name]) => members.has(name) || required.includes(name))
    .flatMap(([name, inner]) => schemaProblems(inner, members.get(name), at(name)));
  if (additionalProperties !== false) return problems;
  const extra = [...members].filter(([name]) => !Object.hasOwn(properties, name));
  const expected = "no such member";
  return [...problems, ...extra.map(([name, value]) => ({ path: at(shown(name)), expected, value }))];
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function fits(schema: Keywords, value: unknown): boolean {
  const { type, enum: choices, format, minLength = 0, minItems = 0, uniqueItems } = schema;
  if (choices !== undefined) return choices.includes(value);
  switch (type) {
    case "object":
      return isMapping(value);
    case "array":
      if (!Array.isArray(value) || value.length < minItems) return false;
      return uniqueItems !== true || new Set(value).size === value.length;
    case "string": {
      if (typeof value !== "string") return false;
      // JSON Schema counts characters, and an emoji is one of them.
      const { length } = [...value];
      const isLong = length >= minLength && length <= (schema.maxLength ?? length);
      return isLong && (format !== "uuid" || uuid.test(value));
    }
    case "integer":
      if (typeof value !== "number" || !Number.isSafeInteger(value)) return false;
      return value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value);
    default:
      throw new Error(`no check for the JSON Schema type ${type}`);
  }
}

function describeSchema(schema: Keywords): string {
  const { type, enum: choices, format, minimum, maximum, minLength = 0, maxLength, minItems } = schema;
  if (choices !== undefined) return choices.map((one) => JSON.stringify(one)).join(" or ");
  if (format === "uuid") return "a UUID";
  if (maxLength !== undefined) return `a string of ${minLength} to ${maxLength} characters`;
  if (maximum !== undefined) return `an integer from ${minimum ?? "any"} to ${maximum}`;
  const least = minimum ?? minItems;
  const size = least === undefined ? "" : ` of at least ${least}`;
  const rest = schema.uniqueItems === true ? ", without duplicates" : "";
  return `${type === "string" ? "a" : "an"} ${type}${size}${rest}`;
}

// A field that a client made up may have any name.
function shown(name: string): string {
  const redacted = redactKeys(name);
  return redacted.length > 60 ? `${redacted.slice(0, 60)}…` : redacted;
}
