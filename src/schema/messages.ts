import type { FieldPath } from "./field-path.js";
import { hintForMeant } from "./meant-value.js";
import { type Notation, writeChoices, writeName } from "./notation.js";
import type {
  EmptyMapping,
  MissingField,
  Mistake,
  RefusedValue,
  ShapeProblem,
  WrongName,
} from "./problem.js";
import type { Range, Shape, ShapeCode } from "./shape-kinds.js";
import { describeShape } from "./shape-words.js";
import { knownFields, unknownField } from "./unknown-field.js";
import { listed, quote } from "./words.js";

// What is wrong with a value, and what to write in its place: what the value probably means, or else what is allowed. The
// message says in words what is allowed (`expectedWords`), the hint as the caller writes it (`allowedHint`):
//
//   message  live_access must be not_approved, approved or suspended, not 5
//   hint     write not_approved, approved or suspended        in YAML
//            write "not_approved", "approved" or "suspended"  in JSON

/** The most choices that a message lists. Its hint lists all of them. */
const maxChoicesShown = 15;

/** Puts a mistake into words. */
export function describeMistake(mistake: Mistake, notation: Notation): ShapeProblem {
  switch (mistake.kind) {
    case "missing":
      return missingField(mistake, notation);
    case "unknown":
      return unknownField(mistake, notation);
    case "empty":
      return emptyMapping(mistake, notation);
    case "name":
      return wrongName(mistake, notation);
    case "value":
      return wrongValue(mistake, notation);
  }
}

/** The name of a field; of an item, the name and position: `scopes[1]`. */
function partName(path: FieldPath, { nameOfWhole, spell }: Notation): string {
  const last = path.at(-1);
  if (last === undefined) return nameOfWhole;
  if (typeof last === "number") return `${spell(String(path.at(-2) ?? ""))}[${last}]`;
  return spell(last);
}

function missingField({ path, shape }: MissingField, notation: Notation): ShapeProblem {
  const where = path.length < 2 ? "" : ` in ${quote(partName(path.slice(0, -1), notation))}`;
  const message = `${partName(path, notation)} is missing${where}`;
  let hint = `add ${writeName(String(path.at(-1)), notation)}`;
  if (shape.kind === "choice") hint += `: ${writeChoices(shape.choices, notation)}`;
  return { code: "missing_field", field: path, message, hint, pointAt: "name" };
}

function emptyMapping({ path, neededFields }: EmptyMapping, notation: Notation): ShapeProblem {
  const message = `${partName(path, notation)} has no effect`;
  const hint = `add one of ${listed(neededFields.map(notation.spell), "or")}`;
  return { code: "missing_field", field: path, message, hint };
}

function wrongName({ path, shape, value }: WrongName, notation: Notation): ShapeProblem {
  const message = `${quote(value)} is not ${describeShape(shape)}`;
  const hint = shape.hint?.(value) ?? allowedHint(shape, notation);
  return { code: codeOfValue(shape, value), field: path, message, hint, pointAt: "name" };
}

function wrongValue({ path, shape, value }: RefusedValue, notation: Notation): ShapeProblem {
  const part = partName(path, notation);
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(path, part, shape, value.length);

  const code = codeOfValue(shape, value);
  if (shape.kind === "text" && shape.isSecret) {
    const message = `${part} must be ${describeShape(shape)}`;
    return { code, field: path, message, hint: "write one line of text, in quotes" };
  }
  const message = `${part} ${whatIsWrong(shape, value)}`;
  const hint = hintForMeant({ value, shape, notation }) ?? allowedHint(shape, notation);
  return { code, field: path, message, hint };
}

function wrongLength(field: FieldPath, part: string, { min = 0, max }: Range, length: number): ShapeProblem {
  if (length === 0) {
    return { code: "empty_list", field, message: `${part} is an empty list`, hint: "add an entry" };
  }
  const entries = length === 1 ? "1 entry" : `${length} entries`;
  const [extent, hint] = length < min ? ["short", `list at least ${min}`] : ["long", `list at most ${max}`];
  return { code: "out_of_range", field, message: `${part} is too ${extent}: ${entries}`, hint };
}

/** What is wrong with a value that the message shows. */
function whatIsWrong(shape: Shape, value: unknown): string {
  if (value === null) return "is empty";
  const isNumber = shape.kind === "number" && typeof value === "number";
  if (isNumber && value > Number.MAX_SAFE_INTEGER) return `is too large: ${quote(value)}`;
  return `must be ${expectedWords(shape)}, not ${quote(value)}`;
}

/** What a shape allows, in words. Choices are without quotes, which `describeShape` gives them for a response. */
function expectedWords(shape: Shape): string {
  if (shape.kind !== "choice") return describeShape(shape);
  if (shape.choices.length > maxChoicesShown) return "one of its choices";
  return listed(shape.choices.map(String), "or");
}

function codeOfValue(shape: Shape, value: unknown): ShapeCode {
  if (shape.kind === "choice") return shape.code;
  if (shape.kind === "text" && typeof value === "string") return shape.code ?? "bad_format";
  const isOutOfRange = shape.kind === "number" && typeof value === "number";
  return isOutOfRange ? "out_of_range" : "wrong_type";
}

/** What may be written in place of a value, in the caller's notation. */
function allowedHint(shape: Shape, notation: Notation): string {
  switch (shape.kind) {
    case "choice":
      return `write ${writeChoices(shape.choices, notation)}`;
    case "boolean":
      return "write true or false, without quotes";
    case "text":
      return `write ${shape.example === undefined ? describeShape(shape) : `a value such as ${shape.example}`}`;
    case "record":
      return `write { ${writeName("my-name", notation)}: … }`;
    case "mapping":
      return `write a mapping; its fields are ${knownFields(shape, notation)}`;
    default:
      return `write ${describeShape(shape)}`;
  }
}
