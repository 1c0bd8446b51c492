import { redactKeys } from "../domain/redact.js";
import type { JsonSchema } from "./endpoint.js";

/** What is wrong with a value, by the path of the field. Never says what the value is: it may hold a key (R46). */
export type FieldProblems = Readonly<Record<string, string>>;

type Problem = readonly [path: string, problem: string];

const mostProblems = 50;

/**
 * Holds a value against a JSON Schema as endpoints declare it; `undefined` when it is as described.
 *
 * Knows the keywords that the endpoints use, and throws on any other, so that none is overlooked.
 */
export function fieldProblems(schema: JsonSchema, value: unknown, name = "body"): FieldProblems | undefined {
  const problems = problemsOf(schema, value, "", name).slice(0, mostProblems);
  return problems.length === 0 ? undefined : Object.fromEntries(problems);
}

const annotations = ["description", "default", "format"];
const known = new Set([
  ...["type", "enum", "properties", "required", "additionalProperties", "items", "uniqueItems"],
  ...["minItems", "minLength", "maxLength", "minimum", "maximum", "pattern", ...annotations],
]);

function problemsOf(schema: JsonSchema, value: unknown, path: string, name: string): Problem[] {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword));
  if (unknown !== undefined) throw new Error(`no check for the JSON Schema keyword ${unknown} of ${name}`);
  const wrong = typeProblem(schema, value) ?? textProblem(schema, value) ?? countProblem(schema, value);
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
  const there = Object.keys(properties).join(", ");
  return [...problems, ...extra.map((member): Problem => [at(shown(member)), `is none of ${there}`])];
}

function typeProblem({ type, enum: choices }: JsonSchema, value: unknown): string | undefined {
  const isFitting = {
    object: typeof value === "object" && value !== null && !Array.isArray(value),
    array: Array.isArray(value),
    string: typeof value === "string",
    integer: Number.isSafeInteger(value),
  }[type as string];
  if (isFitting === undefined) throw new Error(`no check for the JSON Schema type ${type}`);
  if (!isFitting)
    return `must be ${type === "string" ? "a text" : type === "integer" ? "a whole number" : `an ${type}`}`;
  if (choices === undefined || (choices as readonly unknown[]).includes(value)) return undefined;
  return `must be one of ${(choices as readonly unknown[]).join(", ")}`;
}

function textProblem(
  { minLength, maxLength, pattern, description }: JsonSchema,
  value: unknown,
): string | undefined {
  if (typeof value !== "string") return undefined;
  // JSON Schema counts characters, and an emoji is one of them.
  const { length } = [...value];
  if (length < Number(minLength ?? 0)) return `must have ${minLength} characters or more`;
  if (maxLength !== undefined && length > Number(maxLength))
    return `must have ${maxLength} characters at most`;
  if (pattern === undefined || new RegExp(pattern as string, "u").test(value)) return undefined;
  return `is not as described: ${description}`;
}

function countProblem(schema: JsonSchema, value: unknown): string | undefined {
  const { minItems, uniqueItems, minimum, maximum } = schema;
  if (Array.isArray(value)) {
    if (value.length < Number(minItems ?? 0)) return `must have ${minItems} or more`;
    return uniqueItems === true && new Set(value).size < value.length ? "must not name one twice" : undefined;
  }
  if (typeof value !== "number") return undefined;
  const isWithin = value >= Number(minimum ?? value) && value <= Number(maximum ?? value);
  return isWithin ? undefined : `must be from ${minimum} to ${maximum ?? "any number"}`;
}

// The name of a field that a client made up may be anything.
function shown(name: string): string {
  const redacted = redactKeys(name);
  return redacted.length > 60 ? `${redacted.slice(0, 60)}…` : redacted;
}
