import { type Notation, written, writtenChoices, writtenName } from "./notation.js";
import type { Members, Mistake, Problem, Spelling, Wording } from "./problem.js";
import {
  type ChoiceKind,
  type FieldPath,
  isAllowed,
  isMapping,
  type ListKind,
  type MappingKind,
  type NamedShape,
  neededFieldsOf,
  type Shape,
  type ShapeCode,
  settableFieldsOf,
  type TextKind,
} from "./shape.js";
import { expectedWords, nounOf } from "./shape-words.js";
import { unknownField } from "./unknown-field.js";
import { listed, nearest, quote } from "./words.js";

// What is wrong with a value, and what to write in its place. A hint is either what mends the value as it is written there,
// or the list of what may be written.

/** More choices are not listed in a message. */
const maxChoicesShown = 15;

/** A value that was checked, and how its caller writes it. */
interface Checked {
  readonly root: Shape;
  readonly whole: unknown;
  readonly notation: Notation;
  readonly spelling: Spelling;
}

/** Puts a mistake into words. */
export function describeMistake(mistake: Mistake, checked: Checked): Problem<ShapeCode> {
  const { root, whole, notation } = checked;
  const { code, name, what, hint, ...more } = wordingOf(mistake, checked);
  return {
    code,
    field: mistake.path,
    message: `${name ?? partName(mistake.path, notation)} ${what}`,
    hint: notation.hintOf(mistake, root, whole) ?? hint,
    ...more,
  };
}

function wordingOf(mistake: Mistake, { root, notation, spelling }: Checked): Wording {
  const { kind, path, shape, value } = mistake;
  switch (kind) {
    case "missing":
      return missingField(path, shape, notation);
    case "unknown":
      return unknownField(mistake, root, notation);
    case "empty": {
      const { needsOneOf = [] } = shape as MappingKind;
      const hint = `add one of ${listed(needsOneOf.map(notation.spell), "or")}`;
      return { code: "missing_field", what: "has no effect", hint };
    }
    case "name": {
      const what = `is not ${nounOf(shape)}`;
      const hint = textHint(value as string, shape as TextKind, notation, mistake.holder);
      return { code: textCode(shape as TextKind), name: quote(value), what, hint, pointAt: "key" };
    }
    case "zeros": {
      const what = `must not start with zeros, as in ${spelling(path)}`;
      return { code: "out_of_range", what, hint: `write ${value}` };
    }
    case "value": {
      // A number or a flag is shown as the text has it: `1e3`, `yes`.
      const hasSpelling = typeof value === "number" || typeof value === "boolean";
      const spelled = hasSpelling ? spelling(path) : undefined;
      return wrongValue(value, shape, spelled || quote(value), notation);
    }
  }
}

/** The name of a field; of an item, the name and position: `scopes[1]`. */
function partName(path: FieldPath, { whole, spell }: Notation): string {
  const last = path.at(-1);
  if (last === undefined) return whole;
  if (typeof last === "number") return `${spell(String(path.at(-2) ?? ""))}[${last}]`;
  return spell(last);
}

function missingField(path: FieldPath, shape: Shape, notation: Notation): Wording {
  const name = String(path.at(-1));
  const where = path.length < 2 ? "" : ` in ${quote(partName(path.slice(0, -1), notation))}`;
  let hint = `add ${writtenName(name, notation)}`;
  if (shape.kind === "choice") hint += `: ${writtenChoices(shape.choices, notation)}`;
  return { code: "missing_field", what: `is missing${where}`, hint, pointAt: "key" };
}

/** A value that its shape does not allow. `shown` is the value as the text has it, or as messages quote it. */
function wrongValue(value: unknown, shape: Shape, shown: string, notation: Notation): Wording {
  if (shape.kind === "choice") return wrongChoice(value, shape, shown, notation);
  if (value === null) {
    return { code: "wrong_type", what: "is empty", hint: "write a value or remove the field" };
  }
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(value.length, shape);

  // A number may only lack its unit, as in a duration.
  const isNumberOfText = typeof value === "number" && isKnownMistake(shape, String(value));
  if (shape.kind === "text" && (typeof value === "string" || isNumberOfText)) {
    const text = String(value);
    const what = `must be ${nounOf(shape)}, not ${quote(text)}`;
    return { code: textCode(shape), what, hint: textHint(text, shape, notation) };
  }

  const isOutOfRange = shape.kind === "number" && typeof value === "number";
  const given = typeof value === "string" ? `the text ${shown}` : shown;
  return {
    code: isOutOfRange ? "out_of_range" : "wrong_type",
    what: `must be ${nounOf(shape, value)}, not ${given}`,
    hint: `write ${typeHint(value, shape, shown, notation)}`,
  };
}

function wrongChoice(value: unknown, shape: ChoiceKind, shown: string, notation: Notation): Wording {
  const choices = shape.choices.map(String);
  const wanted = choices.length > maxChoicesShown ? "one of its choices" : listed(choices, "or");
  const what = value === null ? "is empty" : `must be ${wanted}, not ${shown}`;
  return { code: shape.code, what, hint: choiceHint(value, shape, choices, notation) };
}

function choiceHint(value: unknown, shape: ChoiceKind, choices: string[], notation: Notation): string {
  // A number in quotes, perhaps in another spelling such as `0503`.
  if (typeof value === "string" && shape.choices.includes(Number(value.trim()))) {
    return `write ${Number(value.trim())} without quotes`;
  }
  const hintOfShape = shape.hint?.(value);
  if (hintOfShape !== undefined) return hintOfShape;

  // `401` and `revoked` are parts of `401.revoked`.
  const typed = String(value).toLowerCase();
  const withPart = choices.filter((id) => id.startsWith(`${typed}.`) || id.endsWith(`.${typed}`));
  if (withPart.length > 0) return `write ${listed(withPart, "or")}`;

  let meant = notation.meaningsOf(typed).find((word) => choices.includes(word));
  // A similar number is not more likely to be the intended one.
  const areNumbers = shape.choices.every((choice) => typeof choice === "number");
  if (!areNumbers) meant ??= nearest(typed, choices);
  return meant === undefined ? `write ${listed(choices, "or")}` : `did you mean ${meant}?`;
}

function wrongLength(length: number, shape: ListKind): Wording {
  if (length === 0) {
    return { code: "empty_list", what: "is an empty list", hint: "add an entry or remove the field" };
  }
  const what = `is too long: ${length} entries`;
  return { code: "out_of_range", what, hint: `list at most ${shape.max}` };
}

function textCode(shape: TextKind): ShapeCode {
  if (shape.code !== undefined) return shape.code;
  const isAnyText = shape.noun === undefined && shape.max !== undefined;
  return isAnyText ? "out_of_range" : "bad_format";
}

function isKnownMistake(shape: Shape, text: string): boolean {
  if (shape.kind !== "text") return false;
  return (shape.meant?.(text) ?? []).length > 0 || shape.hint?.(text) !== undefined;
}

function textHint(text: string, shape: TextKind, notation: Notation, siblings: Members = {}): string {
  const meant = shape.meant?.(text) ?? [];
  if (meant.length > 0) return `write ${writtenChoices(meant, notation)}`;
  return shape.hint?.(text, siblings) ?? `write ${wantedText(shape)}`;
}

function wantedText(shape: TextKind): string {
  return shape.example === undefined ? nounOf(shape) : `a value such as ${shape.example}`;
}

/** What to write in place of a value of another type. */
function typeHint(value: unknown, shape: Shape, shown: string, notation: Notation): string {
  switch (shape.kind) {
    case "number": {
      const isQuoted = typeof value === "string" && /^\d+$/.test(value);
      return isQuoted ? `${value} without quotes` : expectedWords(shape, value);
    }
    case "boolean":
      return "true or false, without quotes";
    case "text": {
      const canBeQuoted = typeof value === "number" || typeof value === "boolean";
      return canBeQuoted && isAllowed(shape, shown) ? `it in quotes: "${shown}"` : wantedText(shape);
    }
    case "list":
      return listHint(value, shape, notation);
    case "record":
      return written({ "my-name": exampleOf(shape.member) }, notation);
    default:
      return mappingHint(value, shape, notation);
  }
}

/** The value as the item, or the items, of a list. */
function listHint(value: unknown, list: ListKind, notation: Notation): string {
  const { item } = list;
  if (isMapping(value)) return "a list of such mappings";
  if (item.kind === "mapping") return `a list: [${mappingHint(value, item, notation)}]`;
  if (isAllowed(item, value)) return `a list: ${written([value], notation)}`;
  const words = String(value).split(/[\s,]+/);
  const areItems = words.every((word) => isAllowed(item, word));
  return areItems ? `a list: ${written(words, notation)}` : nounOf(list);
}

/** The fields that a mapping needs, each with its first choice. */
function exampleOf(shape: Shape): Members {
  const members: Record<string, unknown> = {};
  for (const { name, shape: field } of neededFieldsOf(shape)) {
    members[name] = field.kind === "choice" ? field.choices[0] : undefined;
  }
  return members;
}

/** The value as the field of a mapping whose form it has: `{ per_minute: 60 }`; or the fields that there are. */
function mappingHint(value: unknown, shape: Shape, notation: Notation): string {
  if (Array.isArray(value) && value.every(isMapping)) return "its fields without a list around them";

  // The value is the name of a flag: `reset` in place of `{ reset: true }`.
  const fields = settableFieldsOf(shape);
  const isFlag = fields.some((field) => field.name === value && field.shape.kind === "boolean");
  if (isFlag) return written({ [String(value)]: true }, notation);

  const needed = exampleOf(shape);
  const fitting = fieldsFor(value, fields, needed);
  if (fitting.length === 1 || fitting.length === 2) {
    return fitting.map(({ name }) => written({ ...needed, [name]: value }, notation)).join(" or ");
  }
  if (Object.keys(needed).length > 0) return written(needed, notation);
  const names = fields.map(({ name }) => notation.spell(name));
  return `a mapping; its fields are ${listed(names, "and")}`;
}

/** The fields that a single value may be of: those of its form, else those that are needed, else any. */
function fieldsFor(value: unknown, fields: readonly NamedShape[], needed: Members): readonly NamedShape[] {
  if (typeof value === "object") return [];
  const fitting = fields.filter(({ shape }) => canBe(value, shape));
  const ofForm = fitting.filter(({ shape }) => isOfForm(value, shape));
  if (ofForm.length > 0) return ofForm;
  const ofNeeded = fitting.filter(({ name }) => name in needed);
  return ofNeeded.length > 0 ? ofNeeded : fitting;
}

function canBe(value: unknown, shape: Shape): boolean {
  if (shape.kind === "anything" || !isAllowed(shape, value)) return false;
  return shape.kind !== "text" || shape.isLike === undefined || shape.isLike(String(value));
}

/** Whether the form of a value that can be of this shape tells so: that of most texts does not. */
function isOfForm(value: unknown, shape: Shape): boolean {
  if (shape.kind === "either") return shape.options.some((one) => canBe(value, one) && isOfForm(value, one));
  if (shape.kind === "choice") return true;
  return shape.kind === "text" && (shape.isLike !== undefined || shape.code === "bad_time");
}
