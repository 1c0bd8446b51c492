import { redactKeys } from "../../domain/redact.js";
import {
  type ControlBody,
  type ControlBodyName,
  controlBodies,
  requestQuery,
} from "../format/control-bodies.js";
import {
  type ChoiceKind,
  fieldsOf,
  type Limits,
  type MappingKind,
  type NumberKind,
  type RecordKind,
  type Shape,
  shapeOf,
  type TextKind,
  type ValueOf,
  type Wording,
} from "../format/shape.js";
import { type Diagnostic, type Path, pathText, validationError } from "./scenario-error.js";
import { meaningsOf, unknownField } from "./unknown-field.js";
import { listed, nearest, quote } from "./words.js";

/** The largest number of mistakes of shape that are reported. */
const maximumDiagnostics = 500;

/** Finds everything that is wrong with the shape of a value, in words. */
export function shapeProblems(root: Shape, whole: unknown): Diagnostic[] {
  const found: Diagnostic[] = [];
  check(root, whole, []);
  // A field that is only misspelt is not missing as well.
  const suggested = new Set(found.map(({ suggestion }) => suggestion && pathText(suggestion)));
  return found.filter(({ code, path }) => code !== "missing_field" || !suggested.has(pathText(path)));

  function add(diagnostic: Diagnostic): void {
    if (found.length < maximumDiagnostics) found.push(diagnostic);
  }

  function check(shape: Shape, value: unknown, path: Path): void {
    if (found.length >= maximumDiagnostics || shape.kind === "anything") return;
    if (shape.kind === "either") {
      // Of several kinds of value, what is wrong with one of this kind.
      const meant = shape.options.find((option) => isOfKind(option, value)) ?? shape.options[0];
      check(meant as Shape, value, path);
      return;
    }
    if (value === undefined) add(missingField(path, shape));
    else if (!isAllowed(shape, value)) add({ path, ...wrongValue(labelOf(path), value, shape) });
    if (isOfKind(shape, value)) checkInside(shape, value, path);
  }

  function checkInside(shape: Shape, value: unknown, path: Path): void {
    if (shape.kind === "mapping") checkMapping(shape, value as Members, path);
    if (shape.kind === "record") checkRecord(shape, value as Members, path);
    if (shape.kind !== "list") return;
    for (const [index, item] of (value as unknown[]).entries()) check(shape.item, item, [...path, index]);
  }

  function checkMapping({ fields }: MappingKind, members: Members, path: Path): void {
    for (const [name, field] of Object.entries(fields)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      if (member !== undefined || !("optional" in field)) check(shapeOf(field), member, [...path, name]);
    }
    const unknown = Object.keys(members).filter((name) => !Object.hasOwn(fields, name));
    for (const name of unknown.slice(0, maximumDiagnostics)) add(unknownField(root, path, name, members));
  }

  function checkRecord({ name, member }: RecordKind, members: Members, path: Path): void {
    for (const [given, value] of Object.entries(members)) {
      const inner = [...path, given];
      if (!isAllowed(name, given)) add({ path: inner, pointAt: "key", ...wrongText(undefined, given, name) });
      check(member, value, inner);
    }
  }
}

type Members = Readonly<Record<string, unknown>>;

function isOfKind({ kind }: Shape, value: unknown): boolean {
  if (kind === "text") return typeof value === "string";
  if (kind === "null") return value === null;
  if (kind === "list") return Array.isArray(value);
  if (kind !== "mapping" && kind !== "record") return typeof value === kind;
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Of lists and mappings without what is in them.
function isAllowed(shape: Shape, value: unknown): boolean {
  if (shape.kind === "choice") return (shape.choices as readonly unknown[]).includes(value);
  if (!isOfKind(shape, value)) return false;
  if (shape.kind === "list") return isWithin(shape, (value as unknown[]).length);
  if (shape.kind === "number") {
    const isFine = shape.isWhole ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isFine && isWithin(shape, value as number);
  }
  if (shape.kind !== "text") return true;
  const text = value as string;
  return (
    isWithin(shape, text.length) && shape.pattern?.test(text) !== false && shape.isAllowed?.(text) !== false
  );
}

function isWithin({ least = -Infinity, most = Infinity }: Limits, size: number): boolean {
  return size >= least && size <= most;
}

/** A copy of a value of this shape; throws `validation_failed` with each mistake in `details.fields`. */
export function checkValue<Of extends Shape>(
  shape: Of,
  value: unknown,
  failure = "The body is not valid",
): ValueOf<Of> {
  const problems = shapeProblems(shape, value);
  if (problems.length > 0) throw validationError(failure, problems);
  // A copy, since the caller may change its own; plain data by now, also where it came in a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

/** Reads an input of an operation; to hold an API key is a mistake, too: names and codes are shown again (R46). */
export function checkInput<Name extends ControlBodyName>(
  name: Name,
  value: unknown,
  failure = "The body is not valid",
): ControlBody<Name> {
  const input = checkValue(controlBodies[name], value, failure);
  const leaks = leakedKeys(value, []);
  if (leaks.length > 0) throw validationError(failure, leaks);
  return input as ControlBody<Name>;
}

/** Reads which requests to list. */
export function checkRequestQuery(value: unknown, failure: string): ValueOf<typeof requestQuery> {
  return checkValue(requestQuery, value, failure);
}

function leakedKeys(value: unknown, path: Path): Diagnostic[] {
  if (typeof value === "string" && redactKeys(value) !== value) {
    const message = `${path.at(-1) ?? "body"} must not hold an API key`;
    return [{ code: "forbidden_field", path, message }];
  }
  if (typeof value !== "object" || value === null) return [];
  return (
    Object.entries(value)
      // A scenario may pin its keys; it has checks of its own.
      .filter(([name]) => path.length > 0 || name !== "scenario")
      .flatMap(([name, member]) => leakedKeys(member, [...path, name]))
  );
}

type Explanation = Pick<Diagnostic, "code" | "message" | "hint">;

function missingField(path: Path, shape: Shape): Diagnostic {
  const name = String(path.at(-1) ?? "");
  const where = path.length < 2 ? "" : ` in ${quote(labelOf(path.slice(0, -1)))}`;
  const choices = shape.kind === "choice" && shape.choices.length <= mostChoicesShown ? shape.choices : [];
  const hint = choices.length > 0 ? `add ${name}: ${listed(choices.map(String), "or")}` : `add ${name}`;
  return { code: "missing_field", path, pointAt: "key", message: `${name} is missing${where}`, hint };
}

// The name of a field; of an item of a list that of the list with the position.
function labelOf(path: Path): string {
  const last = path.at(-1);
  return typeof last === "number" ? `${path.at(-2) ?? ""}[${last}]` : (last ?? "body");
}

function wrongValue(name: string, value: unknown, shape: Shape): Explanation {
  if (shape.kind === "choice") return wrongChoice(name, value, shape);
  if (value === null) {
    const hint = `give it a value or remove the line${shape.kind === "mapping" ? ", or write {}" : ""}`;
    return { code: "wrong_type", message: `${name} is empty`, hint };
  }
  if (shape.kind === "text") {
    return typeof value === "string" ? wrongText(name, value, shape) : noText(name, value, shape);
  }
  if (shape.kind === "number") return wrongNumber(name, value, shape);
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(name, value.length, shape);
  const found = typeof value === "string" ? `the text ${quote(value)}` : quote(value);
  const { noun, hint } = wordsOf(name, value, shape);
  return { code: "wrong_type", message: `${name} is ${noun}, not ${found}`, hint: `write ${hint}` };
}

// What a value that is no text has to be, and what to write instead.
function wordsOf(name: string, value: unknown, shape: Shape): { noun: string; hint: string } {
  if (shape.kind === "boolean") return { noun: "true or false", hint: "true or false, without quotes" };
  if (shape.kind !== "list") return { noun: "a mapping", hint: mappingHint(name, value, shape) };
  if (shape.item.kind === "mapping") return { noun: "a list", hint: "a list: a dash before each of them" };
  const isOne = typeof value === "number" || (typeof value === "string" && /^[^\s,]{1,60}$/.test(value));
  return { noun: "a list", hint: isOne ? `[${value}]` : "a list: [one, two]" };
}

/** More choices than this are not listed in the message. */
const mostChoicesShown = 8;

function wrongChoice(name: string, value: unknown, { choices: of, code }: ChoiceKind): Explanation {
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

function wrongNumber(name: string, value: unknown, { least, most, isWhole }: NumberKind): Explanation {
  const kind = isWhole ? "a whole number" : "a number";
  const from = least ?? 0;
  const range = most === undefined ? `, ${from} or more` : `, from ${from} to ${most}`;
  const noun = least === undefined && most === undefined ? kind : kind + range;
  const isText = typeof value === "string";
  return {
    code: typeof value === "number" ? "out_of_range" : "wrong_type",
    message: `${name} is ${noun}, not ${isText ? "the text " : ""}${quote(value)}`,
    hint: isText && /^\d+$/.test(value.trim()) ? `write ${value.trim()} without quotes` : `write ${noun}`,
  };
}

function wrongLength(name: string, length: number, { most }: Limits): Explanation {
  if (length === 0) {
    const hint = "give one or leave the field out";
    return { code: "empty_list", message: `${name} is an empty list`, hint };
  }
  const hint = `list ${most} at most`;
  return { code: "out_of_range", message: `${name} is too long: ${length} entries`, hint };
}

function mappingHint(name: string, value: unknown, shape: Shape): string {
  const [first] = Object.keys(fieldsOf(shape) ?? {});
  if (first !== undefined) return `${name.endsWith("]") ? "" : `${name}: `}{ ${first}: … }`;
  const { code, example = "name" }: Wording = shape.kind === "record" ? shape.name : {};
  const entry = code === "bad_ref" ? "<ref>: { … }" : `${example}: …`;
  return Array.isArray(value) ? `${entry} instead of each dash` : `${entry} on the lines below`;
}

function wrongText(name: string | undefined, value: string, shape: TextKind): Explanation {
  const { code = "bad_format", most } = shape;
  if (value.trim() === "" && shape.code === undefined) {
    return { code, message: `${name} is an empty text`, hint: "write it, or leave the field out" };
  }
  if (shape.noun === undefined && most !== undefined && value.length > most) {
    const message = `${name} is too long: ${value.length} characters`;
    return { code: "out_of_range", message, hint: `shorten it to ${most} characters` };
  }
  const { noun = "a text of visible ASCII characters", example = "application-7", hint } = shape;
  return {
    code,
    message:
      name === undefined ? `${quote(value)} is not ${noun}` : `${name} is ${noun}, not ${quote(value)}`,
    hint: hint?.(value) ?? `write it as in ${example}`,
  };
}

function noText(name: string, value: unknown, shape: TextKind): Explanation {
  const { noun = "a text", example, hint } = shape;
  const message = `${name} is ${noun}, not ${quote(value)}`;
  // What is wrong with a number is what would be wrong with its digits.
  const asText = typeof value === "number" ? hint?.(String(value)) : undefined;
  if (asText !== undefined) return { ...wrongText(name, String(value), shape), message };
  if (typeof value === "number" || typeof value === "boolean") {
    return { code: "wrong_type", message, hint: `put it in quotes: "${value}"` };
  }
  return { code: "wrong_type", message, hint: example ? `write it as in ${example}` : "write a text" };
}
