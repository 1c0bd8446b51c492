import aliases from "./aliases.json" with { type: "json" };
import {
  type ChoiceKind,
  type FieldPath,
  fieldsOf,
  isMapping,
  type ListKind,
  type MappingField,
  type MappingKind,
  pathText,
  type RecordKind,
  type Shape,
  type ShapeCode,
  shapeAt,
  shapeOf,
  type TextKind,
} from "./shape.js";
import { listed, nearest, quote } from "./words.js";

/** A mistake in a value that somebody wrote: what was found, at which field, and how to fix it. Contains no key. */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "key" | "value";
}

export interface Mistake {
  readonly path: FieldPath;
  /** `name`: of a record's member; `unknown`: not in the mapping; `empty`: without a field that it needs. */
  readonly kind: "missing" | "value" | "name" | "unknown" | "empty";
  /** The shape of the part; for an unknown member, the shape of its mapping. */
  readonly shape: Shape;
  readonly value: unknown;
  readonly holder?: Members;
}

export type Members = Readonly<Record<string, unknown>>;

/** A problem of one part; `suggestion` is the field that was probably meant. */
interface WordedMistake extends Problem<ShapeCode> {
  readonly suggestion?: FieldPath | undefined;
}

/** What a text has at a path for a value that is no text: `007`, `0x1F`. */
export type Spelling = (path: FieldPath) => string | undefined;

export function inWords(
  { kind, path, shape, value, holder }: Mistake,
  root: Shape,
  spelling: Spelling,
): WordedMistake {
  if (kind === "missing") return missingField(path, shape);
  if (kind === "unknown") return unknownField(path, shape, holder, shapeAt(root, path.slice(0, -2)));
  if (kind === "empty") {
    const hint = `add one of ${listed((shape as MappingKind).needs ?? [], "or")}`;
    return explained(path, labelOf(path), { code: "missing_field", problem: "has no effect", hint });
  }
  if (kind === "value") {
    const isPlain = typeof value === "number" || typeof value === "boolean";
    return explained(
      path,
      labelOf(path),
      wrongValue(value, shape, (isPlain && spelling(path)) || quote(value)),
    );
  }
  const wrong = wrongText(value as string, shape as TextKind, "is not", holder);
  return { ...explained(path, quote(value), wrong), pointAt: "key" };
}

interface Explanation extends Pick<WordedMistake, "code"> {
  readonly problem: string;
  readonly hint: string;
}

function explained(path: FieldPath, name: string, { problem, ...wrong }: Explanation): WordedMistake {
  return { ...wrong, field: path, message: `${name} ${problem}` };
}

function missingField(path: FieldPath, shape: Shape): WordedMistake {
  const name = String(path.at(-1) ?? "");
  const where = path.length < 2 ? "" : ` in ${quote(labelOf(path.slice(0, -1)))}`;
  const choices = shape.kind === "choice" && shape.choices.length <= maxChoicesAdded ? shape.choices : [];
  const hint = choices.length > 0 ? `add ${name}: ${listed(choices.map(String), "or")}` : `add ${name}`;
  const wrong = { code: "missing_field", problem: `is missing${where}`, hint } as const;
  return { ...explained(path, name, wrong), pointAt: "key" };
}

// The name of a field; for an item of a list, the list's name and the position.
function labelOf(path: FieldPath): string {
  const last = path.at(-1);
  return typeof last === "number" ? `${path.at(-2) ?? ""}[${last}]` : (last ?? "body");
}

function wrongValue(value: unknown, shape: Shape, shown: string): Explanation {
  if (shape.kind === "choice") return wrongChoice(value, shape, shown);
  if (value === null) {
    const hint = `write a value or remove the line${shape.kind === "mapping" ? ", or write {}" : ""}`;
    return { code: "wrong_type", problem: "is empty", hint };
  }
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(value.length, shape);
  if (shape.kind === "text") {
    // A number may only lack its unit.
    const isText = typeof value === "string" || (typeof value === "number" && shape.hint?.(String(value)));
    if (isText) return wrongText(String(value), shape);
  }
  const isQuoted = shape.kind === "number" && typeof value === "string" && /^\d+$/.test(value);
  return {
    code: shape.kind === "number" && typeof value === "number" ? "out_of_range" : "wrong_type",
    problem: `must be ${nounOf(shape, value)}, not ${typeof value === "string" ? "the text " : ""}${shown}`,
    hint: `write ${isQuoted ? `${value} without quotes` : typeHint(value, shape, shown)}`,
  };
}

function typeHint(value: unknown, shape: Shape, shown: string): string {
  const isContainer = shape.kind === "mapping" || shape.kind === "record";
  const [, name] = (isContainer && typeof value === "string" && /^([\w-]+)\s*:\s*\S/.exec(value)) || [];
  if (name !== undefined) return `${name}: … with an ordinary space after the colon`;
  switch (shape.kind) {
    case "number": {
      const percent = shape.max === 1 ? Number.parseFloat(String(value)) : 0;
      const isPercent = percent > 1 && percent <= 100;
      return isPercent ? `${percent / 100} for ${percent}%` : expectedOf(shape, value);
    }
    case "boolean":
      return "true or false, without quotes";
    case "list":
      return shape.item.kind === "mapping"
        ? "a list: a dash before each item"
        : `a list: [${itemsIn(value).join(", ") || "one, two"}]`;
    case "text":
      return typeof value === "object" ? (shape.example ?? nounOf(shape)) : `it in quotes: "${shown}"`;
    case "record":
      return recordHint(shape, value);
    default: {
      const fields = Object.entries(fieldsOf(shape) ?? {}).map(
        ([name, field]) => [name, shapeOf(field)] as const,
      );
      const fit =
        fields.find(
          ([, one]) => one.kind === "choice" && (one.choices as readonly unknown[]).includes(value),
        ) ?? fields.find(([, one]) => one.kind === "number" && typeof value === "number");
      if (fit !== undefined) return `{ ${fit[0]}: ${value} }`;
      const [first = "name"] = fields.map(([name]) => name);
      return `{ ${first}: … }, or ${first}: … on the next line`;
    }
  }
}

/** The plain items that somebody wrote without brackets: `a:read, b:read`. */
function itemsIn(value: unknown): string[] {
  const isPlain = typeof value === "number" || (typeof value === "string" && /^[\w:., -]+$/.test(value));
  return isPlain
    ? String(value)
        .split(/[\s,]+/)
        .filter(Boolean)
    : [];
}

/** Shows the first member of a list as a member of a record: `main: { environment: test }`. */
function recordHint({ member }: RecordKind, value: unknown): string {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  const { name, ref = name }: Members = isMapping(first) ? first : {};
  const [needed] = Object.entries(fieldsOf(member) ?? {}).filter(([, field]) => !("optional" in field));
  const choices = needed && shapeOf(needed[1]);
  const chosen = choices?.kind === "choice" ? choices.choices[0] : "…";
  const word =
    typeof ref === "string" && /^[\w -]{1,40}$/.test(ref) ? fieldSpelling(ref).replaceAll("_", "-") : "name";
  return `${word}: ${needed === undefined ? "…" : `{ ${needed[0]}: ${chosen} }`}`;
}

const maxChoicesAdded = 8;
const maxChoicesShown = 15;

function wrongChoice(
  value: unknown,
  { choices: of, code, hint: own }: ChoiceKind,
  written: string,
): Explanation {
  const choices = of.map(String);
  const choicesListed = listed(choices, "or");
  const isLong = choices.length > maxChoicesShown;
  const wanted = isLong ? "one of its choices" : choicesListed;
  const problem = value === null ? "is empty" : `must be ${wanted}, not ${written}`;
  if (typeof value === "string" && of.includes(Number(value.trim()))) {
    const number = String(Number(value.trim()));
    const hint = `write ${number}${number === value.trim() ? " without quotes" : ""}`;
    return { code, problem, hint };
  }
  const typed = String(value).toLowerCase();
  // A similar number is not more likely to be the intended one.
  const near = of.every((one) => typeof one === "number") ? undefined : nearest(typed, choices);
  const meant = meaningsOf(typed).find((one) => choices.includes(one)) ?? near;
  const suggested = `did you mean ${meant}?${isLong ? ` The choices are ${choicesListed}` : ""}`;
  return {
    code,
    problem,
    hint: own?.(value) ?? (meant === undefined ? `write ${choicesListed}` : suggested),
  };
}

function wrongLength(length: number, { max }: ListKind): Explanation {
  if (length === 0) {
    const hint = "add an entry or remove the field";
    return { code: "empty_list", problem: "is an empty list", hint };
  }
  return { code: "out_of_range", problem: `is too long: ${length} entries`, hint: `list at most ${max}` };
}

function wrongText(
  value: string,
  shape: TextKind,
  is: "must be" | "is not" = "must be",
  siblings: Members = {},
): Explanation {
  const { noun, example, hint, max } = shape;
  const isBlock = /[\r\n]/.test(value) && shape.pattern !== undefined;
  return {
    code: shape.code ?? (noun === undefined && max !== undefined ? "out_of_range" : "bad_format"),
    problem: `${is} ${nounOf(shape)}${is === "must be" ? `, not ${quote(value)}` : ""}`,
    hint:
      (isBlock ? "write one line; a block starts with >- or |-, which leave out the line end" : undefined) ??
      hint?.(value, siblings) ??
      `write ${example === undefined ? nounOf(shape) : `a value such as ${example}`}`,
  };
}

function nounOf(shape: Shape, value?: unknown): string {
  return (shape.kind === "text" ? shape.noun : undefined) ?? expectedOf(shape, value);
}

/** Describes what this shape requires instead of a value, for readers of JSON: `a string of 1 to 200 characters`. */
export function expectedOf(shape: Shape, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return shape.choices.map((one) => JSON.stringify(one)).join(" or ");
    case "number": {
      const { isWhole, min } = shape;
      // JSON has larger integers, but not exactly.
      const isTooLarge = isWhole && Number(value) > Number.MAX_SAFE_INTEGER;
      const max = shape.max ?? (isTooLarge ? Number.MAX_SAFE_INTEGER : undefined);
      const noun = isWhole ? "an integer" : "a number";
      return max === undefined
        ? noun + ofAtLeast(min)
        : `${noun} from ${min ?? "any"} to ${max.toLocaleString("en")}`;
    }
    case "list":
      return `a list${ofAtLeast(shape.min)}`;
    case "text":
      if (shape.format === "uuid") return "a UUID";
      return shape.max === undefined
        ? "a string"
        : `a string of ${shape.min ?? 0} to ${shape.max} characters`;
    case "boolean":
      return "a boolean";
    default:
      return "a mapping";
  }
}

function ofAtLeast(min: number | undefined): string {
  return min === undefined ? "" : ` of at least ${min}`;
}

/** `holder` has the unknown field, and `around` is the shape of the mapping that `holder` is in. */
function unknownField(path: FieldPath, shape: Shape, holder: unknown, around: Shape | undefined) {
  const parent = path.slice(0, -1);
  const name = String(path.at(-1));
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  const problem = {
    code: "unknown_field",
    field: path,
    pointAt: "key",
    message: `unknown field ${quote(name)} ${where}`,
  } as const;
  const fields = writtenFields(shape);
  const suggest = (field: string) => ({
    ...problem,
    hint: `did you mean ${quote(field)}?`,
    suggestion: [...parent, field],
  });

  const members = (holder ?? {}) as Readonly<Record<string, unknown>>;
  const emptied = fields.find((field) => members[field] === null && isOfRefs(fieldsOf(shape)?.[field]));
  if (emptied !== undefined && isMapping(members[name])) {
    return { ...problem, hint: `indent ${name} by more spaces than ${emptied}` };
  }
  const spelled = fieldSpelling(name);
  const isState = ([, field]: [string, MappingField]) => {
    const inner = shapeOf(field);
    return inner.kind === "choice" && inner.choices.includes(spelled);
  };
  const state = Object.entries(fieldsOf(shape) ?? {}).find(isState);
  // `rotated: { to: … }` is about the replacement.
  if (state && (!isMapping(members[name]) || meaningsOf(spelled)[0] === state[0]))
    return { ...problem, hint: `write ${state[0]}: ${spelled}` };
  const outer = path.at(-2);
  if (typeof outer === "string" && around !== undefined && writtenFields(around).includes(name)) {
    return { ...problem, hint: `${name} belongs next to ${outer}, not in it` };
  }
  const inner = fields.filter((field) => writtenFields(shapeAt(shape, [field]) as Shape).includes(name));
  if (inner.length === 1) return { ...problem, hint: `${name} belongs in ${inner[0]}: { ${name}: … }` };
  const words = [spelled, ...meaningsOf(spelled)];
  const isFree = (field: string) => fields.includes(field) && !Object.hasOwn(members, field);
  const free = words.find(isFree);
  if (free !== undefined) return suggest(free);
  const near = nearest(name, fields);
  if (near !== undefined) return suggest(near);
  const hint =
    fields.length === 0 ? "no fields are known here" : `known fields here: ${listed(fields, "and")}`;
  return { ...problem, hint };
}

function isOfRefs(field: MappingField | undefined): boolean {
  return field !== undefined && shapeOf(field).kind === "record";
}

function writtenFields(shape: Shape): string[] {
  const fields = Object.entries(fieldsOf(shape) ?? {});
  return fields.flatMap(([name, field]) => (shapeOf(field).isOfSnapshots ? [] : [name]));
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function fieldSpelling(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}

// Other tools' words for the fields and choices, by the word of the format.
const aliasesOf: Readonly<Record<string, readonly string[]>> = aliases;

/** The words of the format that another tool's word can mean; the first matching one is suggested. */
function meaningsOf(word: string): string[] {
  return Object.keys(aliasesOf).filter((ours) => aliasesOf[ours]?.includes(word));
}
