import type { z } from "zod/mini";
import { wordings } from "../format/fields.js";
import {
  choicesOf,
  definitionOf,
  fieldsOf,
  limitsOf,
  type Schema,
  schemaAt,
  unwrapped,
} from "../format/inspect.js";
import { type Diagnostic, type Path, pathText } from "./scenario-error.js";
import { meaningsOf, unknownField } from "./unknown-field.js";
import { listed, nearest, quote } from "./words.js";

type Issue = z.core.$ZodIssue;

/** The largest number of mistakes of shape that are put into words. */
const maximumDiagnostics = 500;

/** Puts into words what a schema has found wrong with a value, for scenarios and for bodies of the control plane. */
export function explainIssues(issues: readonly Issue[], schema: Schema, value: unknown): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const issue of issues) {
    found.push(...explain(issue, [], schema, value));
    if (found.length >= maximumDiagnostics) break;
  }
  // A field that is only misspelt is not missing as well.
  const suggested = new Set(found.map(({ suggestion }) => suggestion && pathText(suggestion)));
  return found
    .slice(0, maximumDiagnostics)
    .filter(({ code, path }) => code !== "missing_field" || !suggested.has(pathText(path)));
}

function explain(issue: Issue, base: Path, root: Schema, value: unknown): Diagnostic[] {
  const path = [...base, ...(issue.path as (string | number)[])];
  if (issue.code === "unrecognized_keys") {
    const holder = valueAt(value, path);
    return issue.keys.slice(0, maximumDiagnostics).map((name) => unknownField(root, path, name, holder));
  }
  if (issue.code === "invalid_union") {
    // Of a field that takes several kinds of value, what is wrong with a value of this kind.
    const isOfAnotherKind = ({ code, path: at }: Issue) => code === "invalid_type" && at.length === 0;
    const meant = issue.errors.find((issues) => !issues.some(isOfAnotherKind));
    if (meant !== undefined) return meant.flatMap((one) => explain(one, path, root, value));
  }
  const schema = schemaAt(root, path);
  if (schema === undefined) return [];
  if (issue.code === "invalid_key") {
    const { keyType = schema } = definitionOf(schemaAt(root, path.slice(0, -1)) as Schema);
    // The schema does not look at an entry whose name is wrong.
    const entry = (schema as z.ZodMiniType).safeParse(valueAt(value, path));
    const inside = entry.success ? [] : entry.error.issues.flatMap((one) => explain(one, path, root, value));
    return [{ path, pointAt: "key", ...wrongText(undefined, String(path.at(-1)), keyType) }, ...inside];
  }
  const found = valueAt(value, path);
  return [found === undefined ? missingField(path, schema) : { path, ...wrongValue(path, found, schema) }];
}

type Explanation = Pick<Diagnostic, "code" | "message" | "hint">;

function missingField(path: Path, schema: Schema): Diagnostic {
  const name = String(path.at(-1) ?? "");
  const where = path.length < 2 ? "" : ` in ${quote(labelOf(path.slice(0, -1)))}`;
  const choices = choicesOf(schema)?.map(String);
  const isShort = choices !== undefined && choices.length <= mostChoicesShown;
  const hint = isShort ? `add ${name}: ${listed(choices, "or")}` : `add ${name}`;
  return { code: "missing_field", path, pointAt: "key", message: `${name} is missing${where}`, hint };
}

// The name of a field; of an item of a list that of the list with the position.
function labelOf(path: Path): string {
  const last = path.at(-1);
  return typeof last === "number" ? `${path.at(-2) ?? ""}[${last}]` : (last ?? "body");
}

function wrongValue(path: Path, value: unknown, schema: Schema): Explanation {
  const name = labelOf(path);
  const choices = choicesOf(schema);
  if (choices !== undefined) return wrongChoice(name, value, choices, schema);
  const { type } = definitionOf(schema);
  if (value === null) {
    const hint = `give it a value or remove the line${type === "object" ? ", or write {}" : ""}`;
    return { code: "wrong_type", message: `${name} is empty`, hint };
  }
  if (type === "string") {
    return typeof value === "string" ? wrongText(name, value, schema) : noText(name, value, schema);
  }
  if (type === "array" && Array.isArray(value)) return wrongLength(name, value.length, schema);
  const code = typeof value === type ? "out_of_range" : "wrong_type";
  const found = typeof value === "string" ? `the text ${quote(value)}` : quote(value);
  const { noun, hint } = wordsOf(name, value, schema);
  return { code, message: `${name} is ${noun}, not ${found}`, hint: `write ${hint}` };
}

// What a value that is no text has to be, and what to write instead.
function wordsOf(name: string, value: unknown, schema: Schema): { noun: string; hint: string } {
  const { type, element } = definitionOf(schema);
  if (type === "number") return numberWords(value, schema);
  if (type === "boolean") return { noun: "true or false", hint: "true or false, without quotes" };
  if (element === undefined) return { noun: "a mapping", hint: mappingHint(name, value, schema) };
  if (definitionOf(element).shape !== undefined) {
    return { noun: "a list", hint: "a list: a dash before each of them" };
  }
  const isOne = typeof value === "number" || (typeof value === "string" && /^[^\s,]{1,60}$/.test(value));
  return { noun: "a list", hint: isOne ? `[${value}]` : "a list: [one, two]" };
}

/** More choices than this are not listed in the message. */
const mostChoicesShown = 8;

function wrongChoice(
  name: string,
  value: unknown,
  of: readonly (string | number)[],
  schema: Schema,
): Explanation {
  const code = wordings.get(unwrapped(schema))?.code ?? "bad_choice";
  const choices = of.map(String);
  const all = listed(choices, "or");
  const shown = choices.length > mostChoicesShown ? "one of a fixed list" : all;
  const message = value === null ? `${name} is empty` : `${name} is ${shown}, not ${quote(value)}`;
  if (typeof value === "string" && of.includes(Number(value.trim()))) {
    return { code, message, hint: `write ${value.trim()} without quotes` };
  }
  const typed = String(value).toLowerCase();
  // A number that is near is no likelier to be meant.
  const near = of.every((one) => typeof one === "number") ? undefined : nearest(typed, choices);
  const meant = meaningsOf(typed).find((one) => choices.includes(one)) ?? near;
  return { code, message, hint: meant === undefined ? `write ${all}` : `did you mean ${meant}?` };
}

function numberWords(value: unknown, schema: Schema): { noun: string; hint: string } {
  const { least, most } = limitsOf(schema);
  const isWhole = definitionOf(schema).format !== undefined;
  const from = least ?? 0;
  const range = most === undefined ? `, ${from} or more` : `, from ${from} to ${most}`;
  const kind = isWhole ? "a whole number" : "a number";
  const noun = least === undefined && most === undefined ? kind : kind + range;
  const isQuoted = typeof value === "string" && /^\d+$/.test(value.trim());
  return { noun, hint: isQuoted ? `${value.trim()} without quotes` : noun };
}

function wrongLength(name: string, length: number, schema: Schema): Explanation {
  if (length === 0) {
    return {
      code: "empty_list",
      message: `${name} is an empty list`,
      hint: "give one or leave the field out",
    };
  }
  const { most } = limitsOf(schema);
  const hint = `list ${most} at most`;
  return { code: "out_of_range", message: `${name} is too long: ${length} entries`, hint };
}

function mappingHint(name: string, value: unknown, schema: Schema): string {
  const fields = fieldsOf(schema);
  if (fields.length > 0) return `${name.endsWith("]") ? "" : `${name}: `}{ ${fields[0]}: … }`;
  const { keyType } = definitionOf(schema);
  const wording = keyType && wordings.get(keyType);
  const entry = wording?.code === "bad_ref" ? "<ref>: { … }" : `${wording?.example ?? "name"}: …`;
  return Array.isArray(value) ? `${entry} instead of each dash` : `${entry} on the lines below`;
}

function wrongText(name: string | undefined, value: string, schema: Schema): Explanation {
  const wording = wordings.get(unwrapped(schema));
  const code = wording?.code ?? "bad_format";
  if (value.trim() === "" && wording?.code === undefined) {
    return { code, message: `${name} is an empty text`, hint: "write it, or leave the field out" };
  }
  const { most } = limitsOf(schema);
  if (wording?.noun === undefined && most !== undefined && value.length > most) {
    const message = `${name} is too long: ${value.length} characters`;
    return { code: "out_of_range", message, hint: `shorten it to ${most} characters` };
  }
  const { noun = "a text of visible ASCII characters", example, hint } = wording ?? {};
  return {
    code,
    message:
      name === undefined ? `${quote(value)} is not ${noun}` : `${name} is ${noun}, not ${quote(value)}`,
    hint: hint?.(value) ?? `write it as in ${example ?? "application-7"}`,
  };
}

function noText(name: string, value: unknown, schema: Schema): Explanation {
  const { noun = "a text", example, hint } = wordings.get(unwrapped(schema)) ?? {};
  const message = `${name} is ${noun}, not ${quote(value)}`;
  // What is wrong with a number is what would be wrong with its digits.
  const asText = typeof value === "number" ? hint?.(String(value)) : undefined;
  if (asText !== undefined) return { ...wrongText(name, String(value), schema), message };
  if (typeof value === "number" || typeof value === "boolean") {
    return { code: "wrong_type", message, hint: `put it in quotes: "${value}"` };
  }
  return { code: "wrong_type", message, hint: example ? `write it as in ${example}` : "write a text" };
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}
