import { redactKeys } from "../domain/redact.js";
import type { JsonSchema, OwnRefusal } from "./endpoint.js";

/** The problems of a value, by the path of the field. None contains the value itself: it may hold a key (R46). */
export type FieldProblems = Readonly<Record<string, string>>;

/** The refusal of a request with these problems. */
export function invalid(fields: FieldProblems): OwnRefusal {
  return { refused: "422.validation", details: { fields } };
}

type Problem = readonly [path: string, problem: string];

const mostProblems = 50;

/**
 * Checks a value against a JSON Schema of an endpoint; `undefined` when it is valid.
 *
 * A validator of its own: a library would weigh more than all endpoints of the API in browsers and at each start. It knows
 * the keywords that the endpoints use, and throws on any other, so that none is overlooked.
 */
export function fieldProblems(schema: JsonSchema, value: unknown, name = "body"): FieldProblems | undefined {
  const problems = problemsOf(schema, value, "", name).slice(0, mostProblems);
  return problems.length === 0 ? undefined : Object.fromEntries(problems);
}

const known = new Set([
  ...["type", "enum", "properties", "required", "additionalProperties", "items", "uniqueItems", "minItems"],
  ...["minLength", "maxLength", "minimum", "maximum", "description", "default", "format"],
]);

function problemsOf(schema: JsonSchema, value: unknown, path: string, name: string): Problem[] {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword));
  if (unknown !== undefined) throw new Error(`no check for the JSON Schema keyword ${unknown} of ${name}`);
  const wrong = typeProblem(schema, value) ?? rangeProblem(schema, value);
  if (wrong !== undefined) return [[path === "" ? name : path, wrong]];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      problemsOf(schema.items as JsonSchema, item, `${path}[${index}]`, name),
    );
  }
  return schema.type === "object" ? memberProblems(schema, value as Record<string, unknown>, path, name) : [];
}

function memberProblems(
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
  name: string,
): Problem[] {
  const properties = schema.properties as Readonly<Record<string, JsonSchema>>;
  const required = (schema.required ?? []) as readonly string[];
  const at = (member: string) => (path === "" ? member : `${path}.${member}`);
  const problems = Object.entries(properties).flatMap(([member, inner]): Problem[] => {
    if (Object.hasOwn(value, member)) return problemsOf(inner, value[member], at(member), name);
    return required.includes(member) ? [[at(member), "is missing"]] : [];
  });
  const extra = Object.keys(value).filter((member) => !Object.hasOwn(properties, member));
  const expected = Object.keys(properties).join(", ");
  return [...problems, ...extra.map((member): Problem => [at(shown(member)), `is none of ${expected}`])];
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

function rangeProblem(schema: JsonSchema, value: unknown): string | undefined {
  const limit = (keyword: string, otherwise: number) => Number(schema[keyword] ?? otherwise);
  if (typeof value === "string") {
    // JSON Schema counts characters, and an emoji is one of them.
    const { length } = [...value];
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
