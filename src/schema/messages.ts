import type { FieldPath } from "./field-path.js";
import { hintForMeant, hintForText } from "./meant-value.js";
import { type Notation, writeChoices, writeName, writeValue } from "./notation.js";
import type { Members, Mistake, Problem, RefusedValue, SourceTextAt, Wording, WrongName } from "./problem.js";
import { fieldsOf, neededFieldsOf, shapeAt } from "./shape-fields.js";
import type { Range, Shape, ShapeCode } from "./shape-kinds.js";
import { describeShape } from "./shape-words.js";
import { knownFields, unknownField } from "./unknown-field.js";
import { listed, quote } from "./words.js";

// What is wrong with a value, and what to write in its place: what the value probably means, or else what is allowed.

/** The most choices that a message lists. Its hint lists all of them. */
const maxChoicesShown = 15;

/** A value that was checked, and how its caller writes it. */
interface CheckedValue {
  readonly root: Shape;
  readonly whole: unknown;
  readonly notation: Notation;
  readonly sourceTextAt: SourceTextAt | undefined;
}

/** Puts a mistake into words. */
export function describeMistake(mistake: Mistake, checked: CheckedValue): Problem<ShapeCode> {
  const { root, whole, notation } = checked;
  const { code, name, predicate, hint, pointAt, meant } = wordingOf(mistake, checked);
  return {
    code,
    field: mistake.path,
    message: `${name ?? partName(mistake.path, notation)} ${predicate}`,
    hint: notation.ownHint(mistake, root, whole) ?? hint,
    ...(pointAt && { pointAt }),
    ...(meant && { meant }),
  };
}

function wordingOf(mistake: Mistake, checked: CheckedValue): Wording {
  const { notation, sourceTextAt } = checked;
  switch (mistake.kind) {
    case "missing":
      return missingField(mistake.path, mistake.shape, notation);
    case "unknown":
      return unknownField(mistake, notation);
    case "empty": {
      const hint = `add one of ${listed(mistake.neededFields.map(notation.spell), "or")}`;
      return { code: "missing_field", predicate: "has no effect", hint };
    }
    case "zeros": {
      const predicate = `must not start with zeros, as in ${sourceTextAt?.(mistake.path)}`;
      return { code: "out_of_range", predicate, hint: `write ${mistake.value}` };
    }
    case "name":
      return wrongName(mistake, notation);
    case "value":
      return wrongValue(mistake, checked);
  }
}

/** The name of a field; of an item, the name and position: `scopes[1]`. */
function partName(path: FieldPath, { nameOfWhole, spell }: Notation): string {
  const last = path.at(-1);
  if (last === undefined) return nameOfWhole;
  if (typeof last === "number") return `${spell(String(path.at(-2) ?? ""))}[${last}]`;
  return spell(last);
}

function missingField(path: FieldPath, shape: Shape, notation: Notation): Wording {
  const name = String(path.at(-1));
  const where = path.length < 2 ? "" : ` in ${quote(partName(path.slice(0, -1), notation))}`;
  let hint = `add ${writeName(name, notation)}`;
  if (shape.kind === "choice") hint += `: ${writeChoices(shape.choices, notation)}`;
  return { code: "missing_field", predicate: `is missing${where}`, hint, pointAt: "name" };
}

function wrongName({ shape, value, members }: WrongName, notation: Notation): Wording {
  const hint = hintForText(value, shape, notation, members) ?? allowedHint(shape, notation);
  const predicate = `is not ${describeShape(shape)}`;
  return { code: codeOfValue(shape, value), name: quote(value), predicate, hint, pointAt: "name" };
}

function wrongValue(mistake: RefusedValue, checked: CheckedValue): Wording {
  const { path, shape } = mistake;
  const { notation } = checked;
  // From here on, a number without the unit that it needs is a text.
  const value = textIfUnitIsMissing(mistake.value, shape, notation);
  const orRemove = canBeRemoved(checked.root, path) ? " or remove the field" : "";

  // These messages do not show the value.
  if (value === null && shape.kind !== "choice") {
    return { code: "wrong_type", predicate: "is empty", hint: `write a value${orRemove}` };
  }
  if (shape.kind === "list" && Array.isArray(value)) {
    if (value.length > 0) return wrongLength(shape, value.length);
    return { code: "empty_list", predicate: "is an empty list", hint: `add an entry${orRemove}` };
  }
  if (shape.kind === "text" && shape.isSecret) return wrongSecret(shape, value);

  const shown = valueInMessage(value, path, checked);
  const code = codeOfValue(shape, value);
  const hint = hintForMeant({ value, shape, shown, notation }) ?? allowedHint(shape, notation, value);
  return { code, predicate: whatIsWrong(shape, value, shown), hint };
}

/** A number as a text, if its shape knows what it means as one: `90` lacks the unit of a duration. */
function textIfUnitIsMissing(value: unknown, shape: Shape, notation: Notation): unknown {
  if (typeof value !== "number") return value;
  const text = String(value);
  return hintForText(text, shape, notation) === undefined ? value : text;
}

/** A number or a flag as the text has it, such as `1e3` or `yes`; any other value in quotes. */
function valueInMessage(value: unknown, path: FieldPath, { sourceTextAt }: CheckedValue): string {
  const isAsWritten = typeof value === "number" || typeof value === "boolean";
  const sourceText = isAsWritten ? sourceTextAt?.(path) : undefined;
  return sourceText ?? quote(value);
}

function wrongLength({ min = 0, max }: Range, length: number): Wording {
  if (length < min) {
    const entries = length === 1 ? "entry" : "entries";
    return {
      code: "out_of_range",
      predicate: `is too short: ${length} ${entries}`,
      hint: `list at least ${min}`,
    };
  }
  return { code: "out_of_range", predicate: `is too long: ${length} entries`, hint: `list at most ${max}` };
}

/** The wording for a wrong secret, which is not shown. */
function wrongSecret(shape: Shape, value: unknown): Wording {
  let predicate = `must be ${describeShape(shape, value)}`;
  if (typeof value === "object") predicate += `, not ${quote(value)}`;
  else if (typeof value !== "string") predicate += `, not a ${typeof value}`;
  return { code: codeOfValue(shape, value), predicate, hint: "write one line of text, in quotes" };
}

/** An optional field, or a member of a record. */
function canBeRemoved(root: Shape, path: FieldPath): boolean {
  const holder = shapeAt(root, path.slice(0, -1));
  if (holder === undefined) return false;
  if (holder.kind === "record") return true;
  const field = fieldsOf(holder)?.[String(path.at(-1))];
  return field !== undefined && "optional" in field;
}

/** What is wrong with a value that the message shows. */
function whatIsWrong(shape: Shape, value: unknown, shown: string): string {
  if (value === null) return "is empty";
  if (shape.kind === "choice") {
    const hasMany = shape.choices.length > maxChoicesShown;
    return `must be ${hasMany ? "one of its choices" : listed(shape.choices.map(String), "or")}, not ${shown}`;
  }
  const isOtherKind = typeof value === "string" && shape.kind !== "text";
  return `must be ${describeShape(shape, value)}, not ${isOtherKind ? `the text ${shown}` : shown}`;
}

function codeOfValue(shape: Shape, value: unknown): ShapeCode {
  if (shape.kind === "choice") return shape.code;
  if (shape.kind === "number" && typeof value === "number") return "out_of_range";
  if (shape.kind !== "text" || typeof value !== "string") return "wrong_type";
  if (shape.code !== undefined) return shape.code;
  const isLimitedByLengthOnly = shape.noun === undefined && shape.max !== undefined;
  return isLimitedByLengthOnly ? "out_of_range" : "bad_format";
}

/** What may be written in place of a value. */
function allowedHint(shape: Shape, notation: Notation, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return `write ${writeChoices(shape.choices, notation)}`;
    case "boolean":
      return "write true or false, without quotes";
    case "text":
      return `write ${shape.example === undefined ? describeShape(shape) : `a value such as ${shape.example}`}`;
    case "record":
      return `write ${writeValue({ "my-name": exampleOfMember(shape.member) }, notation)}`;
    case "mapping": {
      const example = exampleOf(shape);
      if (Object.keys(example).length > 0) return `write ${writeValue(example, notation)}`;
      return `write a mapping; its fields are ${knownFields(shape, notation)}`;
    }
    default:
      return `write ${describeShape(shape, value)}`;
  }
}

/** A member of a record: a mapping with the fields that it needs; `undefined` for any other value, which the reader fills in. */
function exampleOfMember(member: Shape): Members | undefined {
  return fieldsOf(member) === undefined ? undefined : exampleOf(member);
}

/** The fields that a mapping needs, each with its first choice. */
function exampleOf(shape: Shape): Members {
  const members: Record<string, unknown> = {};
  for (const { name, shape: field } of neededFieldsOf(shape)) {
    members[name] = field.kind === "choice" ? field.choices[0] : undefined;
  }
  return members;
}
