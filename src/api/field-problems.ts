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
  return Object.fromEntries(problems.map(({ path, problem }) => [path === "" ? name : path, problem]));
}

/** A part of a value that does not fit its schema. */
export interface SchemaProblem {
  /** Of the part: `limits.per_day`, `scopes[0]`; empty for the whole value. */
  readonly path: string;
  /** In words that do not contain the part. */
  readonly problem: string;
  /** The schema that it should fit; left out for a member that should not be there. */
  readonly schema?: JsonSchema;
  /** The part; `undefined` when it is missing. */
  readonly value: unknown;
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
  const problem = typeProblem(schema, value) ?? rangeProblem(schema, value);
  if (problem !== undefined) return [{ path, problem, schema, value }];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      schemaProblems(schema.items as JsonSchema, item, `${path}[${index}]`),
    );
  }
  return schema.type === "object" ? memberProblems(schema, value as Record<string, unknown>, path) : [];
}

function memberProblems(
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): SchemaProblem[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (schema.required ?? []) as readonly string[];
  const at = (member: string) => (path === "" ? member : `${path}.${member}`);
  const problems = Object.entries(properties).flatMap(([member, inner]): SchemaProblem[] => {
    if (Object.hasOwn(value, member)) return schemaProblems(inner, value[member], at(member));
    if (!required.includes(member)) return [];
    return [{ path: at(member), problem: "is missing", schema: inner, value: undefined }];
  });
  if (schema.additionalProperties !== false) return problems;
  const problem = `is none of ${Object.keys(properties).join(", ")}`;
  const extra = Object.keys(value).filter((member) => !Object.hasOwn(properties, member));
  return [
    ...problems,
    ...extra.map((member) => ({ path: at(shown(member)), problem, value: value[member] })),
  ];
}

function typeProblem({ type, enum: choices }: JsonSchema, value: unknown): string | undefined {
  const [isFitting, words] = {
    object: [typeof value === "object" && value !== null && !Array.isArray(value), "an object"],
    array: [Array.isArray(value), "an array"],
    string: [typeof value === "string", "a text"],
    integer: [Number.isSafeInteger(value), "a whole number"],
  }[type as "object" | "array" | "string" | "integer"];
  if (!isFitting) return `must be ${words}`;
  if (choices === undefined || (choices as readonly unknown[]).includes(value)) return undefined;
  return `must be one of ${(choices as readonly unknown[]).join(", ")}`;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function rangeProblem(schema: JsonSchema, value: unknown): string | undefined {
  const limit = (keyword: string, otherwise: number) => Number(schema[keyword] ?? otherwise);
  if (typeof value === "string") {
    // JSON Schema counts characters, and an emoji is one of them.
    const { length } = [...value];
    if (schema.format === "uuid" && !uuid.test(value)) return "must be a UUID";
    if (length < limit("minLength", 0)) return `must have ${schema.minLength} characters or more`;
    return length > limit("maxLength", length)
      ? `must have ${schema.maxLength} characters at most`
      : undefined;
  }
  if (Array.isArray(value)) {
    if (value.length < limit("minItems", 0)) return `must have ${schema.minItems} or more`;
    const repeats = schema.uniqueItems === true && new Set(value).size < value.length;
    return repeats ? "must not contain duplicates" : undefined;
  }
  if (typeof value !== "number") return undefined;
  const isWithin = value >= limit("minimum", value) && value <= limit("maximum", value);
  return isWithin ? undefined : `must be from ${schema.minimum} to ${schema.maximum ?? "any number"}`;
}

// A field that a client made up may have any name.
function shown(name: string): string {
  const redacted = redactKeys(name);
  return redacted.length > 60 ? `${redacted.slice(0, 60)}…` : redacted;
}
