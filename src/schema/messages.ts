import type { Members, Mistake, Problem, Spelling } from "./problem.js";
import {
  type ChoiceKind,
  type FieldPath,
  fieldsOf,
  isAllowed,
  isMapping,
  type ListKind,
  type MappingKind,
  type NumberKind,
  namedFieldsOf,
  type RecordKind,
  type Shape,
  type ShapeCode,
  shapeOfField,
  type TextKind,
} from "./shape.js";
import { fieldSpelling, meaningsOf, outdentedHint, unknownField } from "./unknown-field.js";
import { listed, nearest, quote } from "./words.js";

/** More choices are not added to the hint for a missing field. */
const maxChoicesAdded = 8;

/** More choices are not listed in a message. */
const maxChoicesShown = 15;

/** A longer range of numbers, such as `1-9999`, was hardly meant as a list of them. */
const maxItemsOfRange = 19;

/** What is wrong with a part: its message is the name of the part, and `what`. */
interface Wording {
  readonly code: ShapeCode;
  readonly what: string;
  readonly hint: string;
}

/** Puts a mistake into words. */
export function describeMistake(mistake: Mistake, root: Shape, spelling: Spelling): Problem<ShapeCode> {
  const { kind, path, shape, value } = mistake;
  switch (kind) {
    case "missing": {
      const wording = missingField(path, shape, root);
      return { ...asProblem(path, String(path.at(-1) ?? ""), wording), pointAt: "key" };
    }
    case "unknown":
      return unknownField(mistake, root);
    case "empty": {
      const { needsOneOf: needs = [] } = shape as MappingKind;
      const hint = `add one of ${listed(needs, "or")}`;
      return asProblem(path, partName(path), { code: "missing_field", what: "has no effect", hint });
    }
    case "name": {
      const wording = wrongName(value as string, shape as TextKind, mistake.holder);
      return { ...asProblem(path, quote(value), wording), pointAt: "key" };
    }
    case "zeros": {
      const what = `must not start with zeros, as in ${spelling(path)}`;
      return asProblem(path, partName(path), { code: "out_of_range", what, hint: `write ${value}` });
    }
    case "value": {
      // A number or a flag is shown as the text has it: `1e3`, `yes`.
      const hasSpelling = typeof value === "number" || typeof value === "boolean";
      const spelled = hasSpelling ? spelling(path) : undefined;
      return asProblem(path, partName(path), wrongValue(value, shape, spelled || quote(value)));
    }
  }
}

function asProblem(path: FieldPath, name: string, wording: Wording): Problem<ShapeCode> {
  return { code: wording.code, field: path, message: `${name} ${wording.what}`, hint: wording.hint };
}

/** The name of a field; of an item, the name and position: `scopes[1]`; of the whole value, `body`. */
function partName(path: FieldPath): string {
  const last = path.at(-1);
  if (last === undefined) return "body";
  if (typeof last === "number") return `${path.at(-2) ?? ""}[${last}]`;
  return last;
}

function missingField(path: FieldPath, shape: Shape, root: Shape): Wording {
  const where = path.length < 2 ? "" : ` in ${quote(partName(path.slice(0, -1)))}`;
  let add = `add ${path.at(-1) ?? ""}`;
  if (shape.kind === "choice" && shape.choices.length <= maxChoicesAdded) {
    add += `: ${listed(shape.choices.map(String), "or")}`;
  }
  return { code: "missing_field", what: `is missing${where}`, hint: outdentedHint(path, root) ?? add };
}

/** A value that its shape does not allow. `shown` is the value as the text has it, or as messages quote it. */
function wrongValue(value: unknown, shape: Shape, shown: string): Wording {
  if (shape.kind === "choice") return wrongChoice(value, shape, shown);
  if (value === null) {
    const more = shape.kind === "mapping" ? ", or write {}" : "";
    return { code: "wrong_type", what: "is empty", hint: `write a value or remove the line${more}` };
  }
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(value.length, shape);

  if (shape.kind === "text") {
    if (typeof value === "string") return wrongText(value, shape);
    // A number may only lack its unit: the shape of a duration has a hint for `90`.
    const digits = String(value);
    if (typeof value === "number" && shape.hint?.(digits)) return wrongText(digits, shape);
  }
  return wrongType(value, shape, shown);
}

function wrongChoice(value: unknown, shape: ChoiceKind, shown: string): Wording {
  const choices = shape.choices.map(String);
  const wanted = choices.length > maxChoicesShown ? "one of its choices" : listed(choices, "or");
  const what = value === null ? "is empty" : `must be ${wanted}, not ${shown}`;
  return { code: shape.code, what, hint: choiceHint(value, shape, choices) };
}

function choiceHint(value: unknown, shape: ChoiceKind, choices: string[]): string {
  // A number in quotes, perhaps in another spelling such as `0503`.
  if (typeof value === "string") {
    const written = value.trim();
    const number = Number(written);
    if (shape.choices.includes(number)) {
      return String(number) === written ? `write ${number} without quotes` : `write ${number}`;
    }
  }

  const hintOfShape = shape.hint?.(value);
  if (hintOfShape !== undefined) return hintOfShape;

  const typed = String(value).toLowerCase();
  // `401` is the first part of `401.revoked`.
  const withStatus = choices.filter((id) => id.startsWith(`${typed}.`));
  const meant = meantChoice(typed, shape, choices, withStatus);
  if (meant === undefined) return `write ${listed(choices, "or")}`;
  if (withStatus.length < 2) return `did you mean ${meant}?`;
  return `did you mean ${meant}? The choices are ${listed(withStatus, "or")}`;
}

function meantChoice(
  typed: string,
  shape: ChoiceKind,
  choices: string[],
  withStatus: string[],
): string | undefined {
  const byMeaning = meaningsOf(typed).find((word) => choices.includes(word));
  if (byMeaning !== undefined) return byMeaning;
  if (withStatus[0] !== undefined) return withStatus[0];
  // `revoked` is the last part of `401.revoked`.
  const byCause = choices.find((id) => id.endsWith(`.${typed}`));
  if (byCause !== undefined) return byCause;

  // A similar number is not more likely to be the intended one.
  if (shape.choices.every((choice) => typeof choice === "number")) return undefined;
  return nearest(typed, choices);
}

function wrongLength(length: number, shape: ListKind): Wording {
  if (length === 0) {
    return { code: "empty_list", what: "is an empty list", hint: "add an entry or remove the field" };
  }
  const what = `is too long: ${length} entries`;
  return { code: "out_of_range", what, hint: `list at most ${shape.max}` };
}

function wrongText(value: string, shape: TextKind): Wording {
  const what = `must be ${nounOf(shape)}, not ${quote(value)}`;
  return { code: textCode(shape), what, hint: textHint(value, shape) };
}

/** The name of a record's member that its shape does not allow. */
function wrongName(name: string, shape: TextKind, siblings: Members | undefined): Wording {
  return { code: textCode(shape), what: `is not ${nounOf(shape)}`, hint: textHint(name, shape, siblings) };
}

function textCode(shape: TextKind): ShapeCode {
  if (shape.code !== undefined) return shape.code;
  const isAnyText = shape.noun === undefined && shape.max !== undefined;
  return isAnyText ? "out_of_range" : "bad_format";
}

function textHint(value: string, shape: TextKind, siblings: Members = {}): string {
  if (/[\r\n]/.test(value) && shape.pattern !== undefined) {
    return "write one line; a block starts with >- or |-, which leave out the line end";
  }
  return shape.hint?.(value, siblings) ?? `write ${wantedText(shape)}`;
}

function wantedText(shape: TextKind): string {
  return shape.example === undefined ? nounOf(shape) : `a value such as ${shape.example}`;
}

/** A value of another type, or a number out of its range. */
function wrongType(value: unknown, shape: Shape, shown: string): Wording {
  const isOutOfRange = shape.kind === "number" && typeof value === "number";
  const given = typeof value === "string" ? `the text ${shown}` : shown;
  return {
    code: isOutOfRange ? "out_of_range" : "wrong_type",
    what: `must be ${nounOf(shape, value)}, not ${given}`,
    hint: `write ${typeHint(value, shape, shown)}`,
  };
}

/** What to write in place of a value of another type. */
function typeHint(value: unknown, shape: Shape, shown: string): string {
  const unspaced = unspacedName(value, shape);
  if (unspaced !== undefined) return `${unspaced}: … with an ordinary space after the colon`;

  switch (shape.kind) {
    case "number":
      return numberHint(value, shape);
    case "boolean":
      return "true or false, without quotes";
    case "list":
      return listHint(value, shape);
    case "text": {
      const canBeQuoted = typeof value === "number" || typeof value === "boolean";
      if (canBeQuoted && isAllowed(shape, shown)) return `it in quotes: "${shown}"`;
      return wantedText(shape);
    }
    case "record":
      return recordHint(value, shape);
    default:
      return mappingHint(value, shape);
  }
}

/** The name in `per_minute:60`, which YAML reads as a text, if a mapping of this shape can have it. */
function unspacedName(value: unknown, shape: Shape): string | undefined {
  if (typeof value !== "string") return undefined;
  if (shape.kind !== "mapping" && shape.kind !== "record") return undefined;
  const [, name] = /^([\w-]+)\s*:\s*\S/.exec(value) ?? [];
  if (name === undefined) return undefined;
  const isPossible = shape.kind === "record" || Object.hasOwn(shape.fields, name);
  return isPossible ? name : undefined;
}

function numberHint(value: unknown, shape: NumberKind): string {
  if (typeof value === "string" && /^\d+$/.test(value)) return `${value} without quotes`;
  // A share, such as a probability, that was written in percent: `0.05 for 5%`.
  const percent = shape.max === 1 ? Number.parseFloat(String(value)) : 0;
  if (percent > 1 && percent <= 100) return `${percent / 100} for ${percent}%`;
  return expectedWords(shape, value);
}

function listHint(value: unknown, shape: ListKind): string {
  if (shape.item.kind === "mapping") return "a list: a dash before each item";
  const items = unbracketedItems(value).join(", ") || "one, two";
  return `a list: [${items}]`;
}

/** The plain items that somebody wrote without brackets: `a:read, b:read`, or a range of numbers such as `3-7`. */
function unbracketedItems(value: unknown): string[] {
  const range = /^(\d{1,4})-(\d{1,4})$/.exec(String(value));
  if (range !== null) {
    const first = Number(range[1]);
    const count = Number(range[2]) - first + 1;
    if (count > 0 && count <= maxItemsOfRange) {
      return Array.from({ length: count }, (_, index) => String(first + index));
    }
  }

  const isPlain = typeof value === "number" || (typeof value === "string" && /^[\w:., -]+$/.test(value));
  if (!isPlain) return [];
  return String(value)
    .split(/[\s,]+/)
    .filter((item) => item !== "");
}

/** Shows the first item of a list as the member of a record: `main: { environment: test }`. */
function recordHint(value: unknown, shape: RecordKind): string {
  const ref = refOfFirst(value) ?? "name";
  const needed = Object.entries(fieldsOf(shape.member) ?? {}).find(([, field]) => !("optional" in field));
  if (needed === undefined) return `${ref}: …`;

  const [name, field] = needed;
  const neededShape = shapeOfField(field);
  const example = neededShape.kind === "choice" ? neededShape.choices[0] : "…";
  return `${ref}: { ${name}: ${example} }`;
}

/** The ref or the name of the first item, as a ref. */
function refOfFirst(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const first: unknown = value[0];
  if (!isMapping(first)) return undefined;
  const word = first.ref === undefined ? first.name : first.ref;
  if (typeof word !== "string" || !/^[\w -]{1,40}$/.test(word)) return undefined;
  return fieldSpelling(word).replaceAll("_", "-");
}

/** Shows the value as the member that it can be: `{ per_minute: 60 }`. */
function mappingHint(value: unknown, shape: Shape): string {
  const fields = namedFieldsOf(shape);
  // A field of any or several kinds shows nothing of what is meant.
  const ofOneKind = fields.filter(({ shape: { kind } }) => kind !== "anything" && kind !== "either");
  const fitting = ofOneKind.filter((field) => isAllowed(field.shape, value));
  const best = fitting.find((field) => field.shape.kind === "choice") ?? fitting[0];
  if (best !== undefined) {
    const member = best.shape.kind === "text" ? JSON.stringify(value) : value;
    return `{ ${best.name}: ${member} }`;
  }

  // The value is the name of a flag: `reset` in place of `{ reset: true }`.
  const isFlag = fields.some((field) => field.name === value && field.shape.kind === "boolean");
  if (isFlag) return `{ ${value}: true }`;
  const { name = "name" } = fields[0] ?? {};
  return `{ ${name}: … }`;
}

/** What this shape requires, in the words of the format. `value` is what it has got. */
function nounOf(shape: Shape, value?: unknown): string {
  if (shape.kind === "text" && shape.noun !== undefined) return shape.noun;
  return expectedWords(shape, value);
}

/** Describes what this shape requires, for readers of JSON: `a string of 1 to 200 characters`. `value` is what it has got. */
export function expectedWords(shape: Shape, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return shape.choices.map((choice) => JSON.stringify(choice)).join(" or ");
    case "number":
      return expectedNumber(shape, value);
    case "list":
      return `a list${ofAtLeast(shape.min)}`;
    case "text":
      if (shape.format === "uuid") return "a UUID";
      if (shape.max === undefined) return "a string";
      return `a string of ${shape.min ?? 0} to ${shape.max} characters`;
    case "boolean":
      return "a boolean";
    default:
      return "a mapping";
  }
}

function expectedNumber(shape: NumberKind, value: unknown): string {
  const { isWhole, min } = shape;
  let { max } = shape;
  // JSON has larger integers, but not exactly. Any other value may have no number.
  const isNumeric = typeof value === "number" || typeof value === "string";
  const isTooLarge = isWhole && isNumeric && Number(value) > Number.MAX_SAFE_INTEGER;
  if (max === undefined && isTooLarge) max = Number.MAX_SAFE_INTEGER;

  const noun = isWhole ? "an integer" : "a number";
  if (max === undefined) return noun + ofAtLeast(min);
  return `${noun} from ${min ?? "any"} to ${max.toLocaleString("en")}`;
}

function ofAtLeast(min: number | undefined): string {
  return min === undefined ? "" : ` of at least ${min}`;
}
