import aliases from "./aliases.json" with { type: "json" };
import {
  type Around,
  type ChoiceKind,
  fieldsOf,
  isMapping,
  type Limits,
  lengthOf,
  type MappingField,
  type NumberKind,
  type Path,
  pathText,
  type Shape,
  type ShapeCode,
  shapeOf,
  type TextKind,
  type Wording,
} from "./shape.js";
import { listed, nearest, quote } from "./words.js";

/** A part of a value that its shape does not allow. */
export interface Mistake {
  readonly path: Path;
  /** `name`: the name of a record's member; `unknown`: a member that the mapping does not have. */
  readonly kind: "missing" | "value" | "name" | "unknown";
  /** The shape of the part; for an unknown member, the shape of its mapping. */
  readonly shape: Shape;
  /** The part; `undefined` if it is missing. */
  readonly value: unknown;
  /** The mapping around an unknown member. */
  readonly holder?: Members;
  /** The shape of the mapping around that mapping, and its field there. */
  readonly around?: Around;
}

export type Members = Readonly<Record<string, unknown>>;

/** A mistake as a message for the author of the value. */
export interface ShapeProblem<Code extends string = ShapeCode> {
  readonly code: Code;
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether to point at the name of the field instead of its value. */
  readonly pointAt?: "key" | "value";
  /** The field that was probably meant. */
  readonly suggestion?: Path | undefined;
}

/** Describes a mistake and how to fix it. */
export function inWords({ kind, path, shape, value, holder, around }: Mistake): ShapeProblem {
  if (kind === "missing") return missingField(path, shape);
  if (kind === "unknown") return unknownField(path, shape, holder, around);
  if (kind === "value") return { path, ...wrongValue(labelOf(path), value, shape) };
  return { path, pointAt: "key", ...wrongText(undefined, value as string, shape as TextKind) };
}

type Explanation = Pick<ShapeProblem, "code" | "message" | "hint">;

function missingField(path: Path, shape: Shape): ShapeProblem {
  const name = String(path.at(-1) ?? "");
  const where = path.length < 2 ? "" : ` in ${quote(labelOf(path.slice(0, -1)))}`;
  const choices = shape.kind === "choice" && shape.choices.length <= mostChoicesShown ? shape.choices : [];
  const hint = choices.length > 0 ? `add ${name}: ${listed(choices.map(String), "or")}` : `add ${name}`;
  return { code: "missing_field", path, pointAt: "key", message: `${name} is missing${where}`, hint };
}

// The name of a field; for an item of a list, the list's name and the position.
function labelOf(path: Path): string {
  const last = path.at(-1);
  return typeof last === "number" ? `${path.at(-2) ?? ""}[${last}]` : (last ?? "body");
}

function wrongValue(name: string, value: unknown, shape: Shape): Explanation {
  if (shape.kind === "choice") return wrongChoice(name, value, shape);
  if (value === null) {
    const hint = `write a value or remove the line${shape.kind === "mapping" ? ", or write {}" : ""}`;
    return { code: "wrong_type", message: `${name} is empty`, hint };
  }
  if (shape.kind === "text") {
    return typeof value === "string" ? wrongText(name, value, shape) : noText(name, value, shape);
  }
  if (shape.kind === "number") return wrongNumber(name, value, shape);
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(name, value.length, shape);
  const found = typeof value === "string" ? `the text ${quote(value)}` : quote(value);
  const { noun, hint } = wordsOf(name, value, shape);
  return { code: "wrong_type", message: `${name} must be ${noun}, not ${found}`, hint: `write ${hint}` };
}

// The expected kind of a value, and what to write instead.
function wordsOf(name: string, value: unknown, shape: Shape): { noun: string; hint: string } {
  if (shape.kind === "boolean") return { noun: "true or false", hint: switchHint(value) };
  if (shape.kind !== "list") return { noun: "a mapping", hint: mappingHint(name, value, shape) };
  if (shape.item.kind === "mapping") return { noun: "a list", hint: "a list: a dash before each item" };
  const isOne = typeof value === "number" || (typeof value === "string" && /^[^\s,]{1,60}$/.test(value));
  return { noun: "a list", hint: isOne ? `[${value}]` : "a list: [one, two]" };
}

// Booleans in YAML 1.1, but texts in YAML 1.2.
function switchHint(value: unknown): string {
  const word = String(value).toLowerCase();
  if (["yes", "y", "on"].includes(word)) return `true instead of ${value}, without quotes`;
  if (["no", "n", "off"].includes(word)) return `false instead of ${value}, without quotes`;
  return "true or false, without quotes";
}

/** The maximum number of choices to list in a message. */
const mostChoicesShown = 8;

function wrongChoice(name: string, value: unknown, { choices: of, code, hint }: ChoiceKind): Explanation {
  const choices = of.map(String);
  const all = listed(choices, "or");
  const shown = choices.length > mostChoicesShown ? "one of a fixed list" : all;
  const message = value === null ? `${name} is empty` : `${name} must be ${shown}, not ${quote(value)}`;
  if (typeof value === "string" && of.includes(Number(value.trim()))) {
    return { code, message, hint: `write ${value.trim()} without quotes` };
  }
  const advised = hint?.(value);
  if (advised !== undefined) return { code, message, hint: advised };
  const typed = String(value).toLowerCase();
  // A similar number is not more likely to be the intended one.
  const near = of.every((one) => typeof one === "number") ? undefined : nearest(typed, choices);
  const meant = meaningsOf(typed).find((one) => choices.includes(one)) ?? near;
  return { code, message, hint: meant === undefined ? `write ${all}` : `did you mean ${meant}?` };
}

function wrongNumber(name: string, value: unknown, { least, most, isWhole }: NumberKind): Explanation {
  const kind = isWhole ? "a whole number" : "a number";
  const from = least ?? 0;
  const isTooLarge = isWhole && Number(value) > Number.MAX_SAFE_INTEGER;
  const largest = most ?? (isTooLarge ? Number.MAX_SAFE_INTEGER : undefined);
  const shown = largest?.toLocaleString("en-US", { useGrouping: largest > 1e9 });
  const range = shown === undefined ? `, ${from} or more` : `, from ${from} to ${shown}`;
  const noun = least === undefined && shown === undefined ? kind : kind + range;
  const isText = typeof value === "string";
  return {
    code: typeof value === "number" ? "out_of_range" : "wrong_type",
    message: `${name} must be ${noun}, not ${isText ? "the text " : ""}${quote(value)}`,
    hint: isText && /^\d+$/.test(value.trim()) ? `write ${value.trim()} without quotes` : `write ${noun}`,
  };
}

function wrongLength(name: string, length: number, { most }: Limits): Explanation {
  if (length === 0) {
    const hint = "add an entry or remove the field";
    return { code: "empty_list", message: `${name} is an empty list`, hint };
  }
  const hint = `list at most ${most}`;
  return { code: "out_of_range", message: `${name} is too long: ${length} entries`, hint };
}

function mappingHint(name: string, value: unknown, shape: Shape): string {
  const [first] = Object.keys(fieldsOf(shape) ?? {});
  if (first !== undefined) return `${name.endsWith("]") ? "" : `${name}: `}{ ${first}: … }`;
  const { code, example = "name" }: Wording = (shape.kind === "record" && shape.name) || {};
  const entry = code === "bad_ref" ? "<ref>: { … }" : `${example}: …`;
  return Array.isArray(value) ? `${entry} instead of each dash` : `${entry} on the lines below`;
}

function wrongText(name: string | undefined, value: string, shape: TextKind): Explanation {
  const { code = "bad_format", most } = shape;
  if (value.trim() === "" && shape.code === undefined) {
    return { code, message: `${name} is an empty text`, hint: "write a text, or remove the field" };
  }
  if (shape.noun === undefined && most !== undefined && lengthOf(value) > most) {
    const message = `${name} is too long: ${lengthOf(value)} characters`;
    return { code: "out_of_range", message, hint: `shorten it to ${most} characters` };
  }
  const { noun = "a text of visible ASCII characters", example = "application-7", hint } = shape;
  return {
    code,
    message:
      name === undefined ? `${quote(value)} is not ${noun}` : `${name} must be ${noun}, not ${quote(value)}`,
    hint: hint?.(value) ?? `write a value such as ${example}`,
  };
}

function noText(name: string, value: unknown, shape: TextKind): Explanation {
  const { noun = "a text", example, hint } = shape;
  const message = `${name} must be ${noun}, not ${quote(value)}`;
  // Describe a number's mistake as if its digits were a text.
  const asText = typeof value === "number" ? hint?.(String(value)) : undefined;
  if (asText !== undefined) return { ...wrongText(name, String(value), shape), message };
  if (typeof value === "number" || typeof value === "boolean") {
    return { code: "wrong_type", message, hint: `put it in quotes: "${value}"` };
  }
  return { code: "wrong_type", message, hint: example ? `write a value such as ${example}` : "write a text" };
}

/** Describes a value of this shape for readers of JSON: `a string of 1 to 200 characters`. */
export function expectedOf(shape: Shape): string {
  switch (shape.kind) {
    case "choice":
      return shape.choices.map((one) => JSON.stringify(one)).join(" or ");
    case "number": {
      const { isWhole, least, most } = shape;
      const noun = isWhole ? "an integer" : "a number";
      return most === undefined ? noun + ofAtLeast(least) : `${noun} from ${least ?? "any"} to ${most}`;
    }
    case "list":
      return `an array${ofAtLeast(shape.least)}${shape.isUnique ? ", without duplicates" : ""}`;
    case "text":
      if (shape.format === "uuid") return "a UUID";
      return shape.most === undefined
        ? "a string"
        : `a string of ${shape.least ?? 0} to ${shape.most} characters`;
    case "boolean":
      return "a boolean";
    default:
      return "an object";
  }
}

function ofAtLeast(least: number | undefined): string {
  return least === undefined ? "" : ` of at least ${least}`;
}

/**
 * The diagnostic of an unknown field, with the probable field or the known fields.
 *
 * `holder` is the mapping with the field; `around` is the shape of the mapping around `holder`.
 */
function unknownField(path: Path, shape: Shape, holder: unknown, around?: Around) {
  const parent = path.slice(0, -1);
  const name = String(path.at(-1));
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  const diagnostic = {
    code: "unknown_field",
    path,
    pointAt: "key",
    message: `unknown field ${quote(name)} ${where}`,
  } as const;
  const fields = writtenFields(shape);
  const suggest = (field: string) => ({
    ...diagnostic,
    hint: `did you mean ${quote(field)}?`,
    suggestion: [...parent, field],
  });

  const members = (holder ?? {}) as Readonly<Record<string, unknown>>;
  const emptied = fields.find((field) => members[field] === null && isOfRefs(fieldsOf(shape)?.[field]));
  if (emptied !== undefined && isMapping(members[name])) {
    return { ...diagnostic, hint: `indent ${name} by more spaces than ${emptied}` };
  }
  const spelled = snakeCase(name);
  // `overlap_minutes: 60`: a duration contains its unit.
  const withoutUnit = spelled.replace(/_(?:ms|millis|seconds|minutes|hours|days)$/, "");
  const words = [spelled, ...meaningsOf(spelled), withoutUnit];
  const isFree = (field: string) => fields.includes(field) && !Object.hasOwn((holder ?? {}) as object, field);
  const free = words.find(isFree);
  if (free !== undefined) return suggest(free);
  if (around !== undefined && writtenFields(around.shape).includes(name)) {
    return { ...diagnostic, hint: `${name} belongs next to ${around.name}, not in it` };
  }
  const chooser = fields.find((field) => isChoiceOf(fieldsOf(shape)?.[field], spelled));
  if (chooser !== undefined) return { ...diagnostic, hint: `write ${chooser}: ${spelled}` };
  const near = nearest(name, fields);
  if (near !== undefined) return suggest(near);
  const hint =
    fields.length === 0 ? "no fields are known here" : `known fields here: ${listed(fields, "and")}`;
  return { ...diagnostic, hint };
}

function isOfRefs(field: MappingField | undefined): boolean {
  return field !== undefined && shapeOf(field).kind === "record";
}

function isChoiceOf(field: MappingField | undefined, word: string): boolean {
  const shape = field && shapeOf(field);
  return shape?.kind === "choice" && (shape.choices as readonly unknown[]).includes(word);
}

// The fields that people write, without those that only snapshots write.
function writtenFields(shape: Shape): string[] {
  const fields = Object.entries(fieldsOf(shape) ?? {});
  return fields.flatMap(([name, field]) => (shapeOf(field).isOfSnapshots ? [] : [name]));
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function snakeCase(name: string): string {
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
