import { type Notation, written, writtenChoices, writtenName } from "./notation.js";
import type { Members, Mistake, Problem, Spelling } from "./problem.js";
import {
  type ChoiceKind,
  type FieldPath,
  isAllowed,
  isMapping,
  type ListKind,
  type MappingKind,
  neededFieldsOf,
  type RecordKind,
  type Shape,
  type ShapeCode,
  settableFieldsOf,
  type TextKind,
} from "./shape.js";
import { expectedWords, nounOf } from "./shape-words.js";
import { fieldSpelling, unknownField } from "./unknown-field.js";
import { listed, nearest, quote } from "./words.js";

// What is wrong with a value, and what to write in its place. A hint is either what mends the value as it is written there,
// or the list of what may be written.

/** More choices are not added to the hint for a missing field. */
const maxChoicesAdded = 8;

/** More choices are not listed in a message. */
const maxChoicesShown = 15;

/** A value that was checked, and how its caller writes it. */
interface Checked {
  readonly root: Shape;
  readonly whole: unknown;
  readonly notation: Notation;
  readonly spelling: Spelling;
}

/** What is wrong with a part. */
interface Wording {
  readonly code: ShapeCode;
  /** What the message calls the part. Default: the name of its field. */
  readonly name?: string;
  /** The message is the name of the part, and this. */
  readonly what: string;
  readonly hint: string;
  readonly pointAt?: "key";
  readonly meant?: FieldPath;
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
  if (shape.kind === "choice" && shape.choices.length <= maxChoicesAdded) {
    hint += `: ${writtenChoices(shape.choices, notation)}`;
  }
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
    case "number":
      return typeof value === "string" && /^\d+$/.test(value)
        ? `${value} without quotes`
        : expectedWords(shape, value);
    case "boolean":
      return "true or false, without quotes";
    case "text": {
      const canBeQuoted = typeof value === "number" || typeof value === "boolean";
      return canBeQuoted && isAllowed(shape, shown) ? `it in quotes: "${shown}"` : wantedText(shape);
    }
    case "list":
      return listHint(value, shape, notation);
    case "record":
      return recordHint(value, shape, notation);
    default:
      return mappingHint(value, shape, notation);
  }
}

/** The value as the item, or the items, of a list. */
function listHint(value: unknown, { item }: ListKind, notation: Notation): string {
  if (isMapping(value)) return "a list of such mappings";
  if (item.kind === "mapping") return `a list: [${mappingHint(value, item, notation)}]`;
  const parts = String(value).split(/[\s,]+/);
  const items = parts.map((part) => (item.kind === "number" ? Number(part) : part));
  const areItems = items.every((one) => isAllowed(item, one));
  const example = item.kind === "number" ? [1, 2] : ["one", "two"];
  return `a list: ${written(areItems ? items : example, notation)}`;
}

/** The first item of a list as the member of a record: `{ main: { environment: test } }`. */
function recordHint(value: unknown, { member }: RecordKind, notation: Notation): string {
  const [first] = Array.isArray(value) ? value : [];
  const { ref, name } = isMapping(first) ? first : {};
  const word = typeof ref === "string" ? ref : name;
  const isWord = typeof word === "string" && /^[\w -]{1,40}$/.test(word);
  const memberName = isWord ? fieldSpelling(word).replaceAll("_", "-") : "my-name";
  return written({ [memberName]: exampleOf(member) }, notation);
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

  const fields = settableFieldsOf(shape);
  // The value is the name of a flag: `reset` in place of `{ reset: true }`.
  const isFlag = fields.some((field) => field.name === value && field.shape.kind === "boolean");
  if (isFlag) return written({ [String(value)]: true }, notation);

  const needed = exampleOf(shape);
  const fitting = fields.map(({ name, shape: field }) => ({
    name,
    fit: fitOf(value, field, name in needed),
  }));
  const best = Math.max(0, ...fitting.map(({ fit }) => fit));
  const names = fitting.filter(({ fit }) => best > 0 && fit === best).map(({ name }) => name);
  if (names.length === 1 || names.length === 2) {
    return names.map((name) => written({ ...needed, [name]: value }, notation)).join(" or ");
  }
  if (Object.keys(needed).length > 0) return written(needed, notation);
  return `a mapping; its fields are ${listed(
    fields.map(({ name }) => notation.spell(name)),
    "and",
  )}`;
}

/** How well a single value has the form of a field: 0 for not at all. */
function fitOf(value: unknown, shape: Shape, isNeeded: boolean): number {
  if (shape.kind === "either") {
    return Math.max(...shape.options.map((option) => fitOf(value, option, isNeeded)));
  }
  const isSingle = typeof value !== "object" && value !== undefined;
  if (!isSingle || shape.kind === "anything" || !isAllowed(shape, value)) return 0;
  if (shape.kind === "choice") return 5;
  if (shape.kind !== "text") return 3;
  if (shape.isLike !== undefined) return shape.isLike(String(value)) ? 5 : 0;
  // A field that is needed comes before others of its form; a text of a special form before any text.
  const form = shape.code === "bad_time" ? 4 : shape.code === undefined ? 1 : 2;
  return isNeeded ? form + 0.5 : form;
}
