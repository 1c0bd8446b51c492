import { hasKind, isAllowed } from "./allowed.js";
import {
  describeShape,
  hintFor,
  jsonNotation,
  knownFields,
  type Notation,
  partName,
  writeChoices,
  writeName,
} from "./describe.js";
import {
  type FieldPath,
  fieldNames,
  type MappingKind,
  pathText,
  type RecordKind,
  type Shape,
  type ShapeCode,
  shapeOfField,
} from "./shape.js";
import { isMapping } from "./type-tag.js";
import { listed, nearest, quote } from "./words.js";

/** More problems help nobody, and each takes time: a client may send a text full of them. */
export const maximumProblems = 100;

/** The members of a mapping or a record, not checked yet. */
export type Members = Readonly<Record<string, unknown>>;

/** What is wrong with a field, and how to fix it. It quotes what the caller wrote: who shows it redacts it (R46). */
export interface Problem<Code extends string = string> {
  readonly code: Code;
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether the name of the field is wrong, or its value. Default: its value. */
  readonly pointAt?: "name" | "value";
}

/** A problem of a value that does not have its shape. `expected`: what the shape allows, in words. */
interface ShapeProblem extends Problem<ShapeCode> {
  readonly expected: string;
  readonly value: unknown;
}

/**
 * Checks a value: its problems in the words of the caller, and the members that it has besides its shape and that are allowed
 * (`isExtension`).
 */
export function checkShape(
  shape: Shape,
  value: unknown,
  notation: Notation = jsonNotation,
  isExtension = (_name: string) => false,
) {
  const { problems, extensionFields, checkValue } = new ShapeCheck(notation, isExtension);
  checkValue(shape, value, []);
  return { problems, extensionFields };
}

class ShapeCheck {
  /** From the outside in: the problem of a value comes before those of its parts. */
  readonly problems: ShapeProblem[] = [];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: FieldPath[] = [];
  readonly #notation: Notation;
  readonly #isExtension: (name: string) => boolean;

  constructor(notation: Notation, isExtension: (name: string) => boolean) {
    this.#notation = notation;
    this.#isExtension = isExtension;
  }

  readonly checkValue = (shape: Shape, value: unknown, field: FieldPath): void => {
    if (this.problems.length >= maximumProblems) return;
    if (shape.kind === "either") {
      this.checkValue(optionFor(shape.options, value), value, field);
      return;
    }

    if (!isAllowed(shape, value)) this.#addWrongValue(shape, value, field);
    // The parts of a list that is too long are checked, too.
    if (!hasKind(shape, value)) return;
    if (shape.kind === "mapping") this.#checkMapping(shape, value as Members, field);
    if (shape.kind === "record") this.#checkRecord(shape, value as Members, field);
    if (shape.kind !== "list") return;
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      // A list in JSON has null in place of `undefined`.
      this.checkValue(shape.item, item === undefined ? null : item, [...field, index]);
    }
  };

  #add(problem: ShapeProblem): void {
    if (this.problems.length < maximumProblems) this.problems.push(problem);
  }

  #checkMapping(shape: MappingKind, members: Members, field: FieldPath): void {
    const unknown = shape.isOpen ? [] : this.#unknownNames(shape, members, field);
    /** The fields that unknown ones misspell: they are not missing, too. */
    const meant = new Set<string | undefined>();
    for (const name of unknown) meant.add(this.#addUnknown(shape, members, [...field, name]));

    const { needs } = shape;
    // An unknown field is probably the needed one, misspelled.
    if (needs?.every((name) => members[name] === undefined) && unknown.length === 0) {
      const message = `${partName(field, this.#notation)} has no effect`;
      const hint = `add one of ${listed(needs.map(this.#notation.spell), "or")}`;
      const expected = describeShape(shape);
      this.#add({ code: "missing_field", field, message, hint, expected, value: members });
    }

    for (const [name, fieldShape] of Object.entries(shape.fields)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      const inner = [...field, name];
      if (member !== undefined) this.checkValue(shapeOfField(fieldShape), member, inner);
      else if (!("optional" in fieldShape) && !meant.has(name)) this.#addMissing(fieldShape, inner);
    }
  }

  /** The members that the mapping does not have. Extensions are none of them, and are kept. */
  #unknownNames(shape: MappingKind, members: Members, field: FieldPath): string[] {
    const unknown: string[] = [];
    for (const name of Object.keys(members)) {
      if (Object.hasOwn(shape.fields, name)) continue;
      if (this.#isExtension(name)) this.extensionFields.push([...field, name]);
      else unknown.push(name);
    }
    return unknown;
  }

  /** Returns the field that an unknown one probably is, if its mapping does not have it already. */
  #addUnknown(shape: MappingKind, members: Members, field: FieldPath): string | undefined {
    const { spell } = this.#notation;
    const name = String(field.at(-1));
    const outer = field.slice(0, -1).map((step) => (typeof step === "string" ? spell(step) : step));
    const place = outer.length === 0 ? "at the top level" : `in ${pathText(outer)}`;

    const near = nearest(name, fieldNames(shape));
    const meant = near === undefined || Object.hasOwn(members, near) ? undefined : near;
    let hint = `known fields here: ${knownFields(shape, this.#notation)}`;
    if (meant !== undefined) hint = `did you mean ${quote(spell(meant))}?`;
    this.#add({
      code: "unknown_field",
      field,
      message: `unknown field ${quote(spell(name))} ${place}`,
      hint,
      pointAt: "name",
      expected: "no such member",
      value: members[name],
    });
    return meant;
  }

  #addMissing(shape: Shape, field: FieldPath): void {
    if (shape.kind === "either") {
      this.#addMissing(optionFor(shape.options, undefined), field);
      return;
    }
    const where = field.length < 2 ? "" : ` in ${quote(partName(field.slice(0, -1), this.#notation))}`;
    let hint = `add ${writeName(String(field.at(-1)), this.#notation)}`;
    if (shape.kind === "choice") hint += `: ${writeChoices(shape.choices, this.#notation)}`;
    const message = `${partName(field, this.#notation)} is missing${where}`;
    const expected = describeShape(shape);
    this.#add({ code: "missing_field", field, message, hint, pointAt: "name", expected, value: undefined });
  }

  #checkRecord(shape: RecordKind, members: Members, field: FieldPath): void {
    const { name: shapeOfName, member } = shape;
    for (const [name, value] of Object.entries(members)) {
      const inner = [...field, name];
      if (shapeOfName !== undefined && !isAllowed(shapeOfName, name)) {
        const expected = describeShape(shapeOfName);
        const message = `${quote(name)} is not ${expected}`;
        const hint = hintFor(shapeOfName, name, this.#notation);
        const code = codeFor(shapeOfName, name);
        this.#add({ code, field: inner, message, hint, pointAt: "name", expected, value: name });
      }
      if (value === undefined) this.#addMissing(member, inner);
      else this.checkValue(member, value, inner);
    }
  }

  #addWrongValue(shape: Shape, value: unknown, field: FieldPath): void {
    const part = partName(field, this.#notation);
    const expected = describeShape(shape);
    const words = wrongLength(shape, value, part) ?? {
      code: codeFor(shape, value),
      message: wrongValueMessage(shape, value, part),
      hint: hintFor(shape, value, this.#notation),
    };
    this.#add({ ...words, field, expected, value });
  }
}

/** The most choices that a message lists. Its hint lists all of them. */
const maxChoicesShown = 15;

/** `live_access must be not_approved, approved or suspended, not 5`. */
function wrongValueMessage(shape: Shape, value: unknown, part: string): string {
  if (shape.kind === "text" && shape.isSecret) return `${part} must be ${describeShape(shape)}`;
  if (value === null) return `${part} is empty`;
  if (shape.kind === "number" && typeof value === "number" && value > Number.MAX_SAFE_INTEGER) {
    return `${part} is too large: ${quote(value)}`;
  }

  let expected = describeShape(shape);
  // Choices are without quotes, which `describeShape` gives them for a response.
  if (shape.kind === "choice") expected = listed(shape.choices.map(String), "or");
  if (shape.kind === "choice" && shape.choices.length > maxChoicesShown) expected = "one of its choices";
  return `${part} must be ${expected}, not ${quote(value)}`;
}

/** The problem of a list of another length, or of a text that is too long; `undefined` for any other value. */
function wrongLength(
  shape: Shape,
  value: unknown,
  part: string,
): Pick<ShapeProblem, "code" | "message" | "hint"> | undefined {
  if (shape.kind === "text" && typeof value === "string" && shape.max !== undefined) {
    const characters = [...value].length;
    if (characters <= shape.max) return undefined;
    const message = `${part} is too long: ${characters.toLocaleString("en")} characters`;
    return {
      code: codeFor(shape, value),
      message,
      hint: `write at most ${shape.max.toLocaleString("en")} characters`,
    };
  }

  if (shape.kind !== "list" || !Array.isArray(value)) return undefined;
  const { length } = value;
  if (length === 0) return { code: "empty_list", message: `${part} is an empty list`, hint: "add an entry" };
  const { min = 0, max } = shape;
  const entries = length === 1 ? "1 entry" : `${length} entries`;
  const [extent, hint] = length < min ? ["short", `list at least ${min}`] : ["long", `list at most ${max}`];
  return { code: "out_of_range", message: `${part} is too ${extent}: ${entries}`, hint };
}

function codeFor(shape: Shape, value: unknown): ShapeCode {
  if (shape.kind === "choice") return shape.code;
  if (shape.kind === "text" && typeof value === "string") return shape.code ?? "bad_format";
  const isOutOfRange = shape.kind === "number" && typeof value === "number";
  return isOutOfRange ? "out_of_range" : "wrong_type";
}

/** The option that a value is checked with. */
function optionFor(options: readonly Shape[], value: unknown): Shape {
  const alike = options.filter((option) => hasKind(option, value));
  const names = isMapping(value) ? Object.keys(value) : [];
  // Of several mappings, the first that has a field with the name of one of the value's.
  const mapping = alike.find((option) => {
    return option.kind === "mapping" && names.some((name) => Object.hasOwn(option.fields, name));
  });
  // Without an option of the value's kind, the message names the first one.
  return mapping ?? alike[0] ?? (options[0] as Shape);
}

/** More characters of a member's name are not shown. */
const longestShownName = 60;

/** Finds the parts of a value from outside that do not match its shape, but none inside such a part. */
export function findMismatches(shape: Shape, whole: unknown, redact: (text: string) => string = String) {
  // The name of a member from outside may contain anything.
  const safeStep = (step: string | number) => {
    if (typeof step === "number") return step;
    const name = redact(step);
    return name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
  };

  const mismatches = [];
  /** The last part that has a wrong value: a problem inside it comes later, and says nothing more. */
  let wrongPart: FieldPath | undefined;
  for (const { code, field, expected, value } of checkShape(shape, whole).problems) {
    const isInside = wrongPart !== undefined && wrongPart.length < field.length;
    if (isInside && wrongPart?.every((step, index) => step === field[index])) continue;
    const isUnknown = code === "unknown_field";
    if (!isUnknown && code !== "missing_field") wrongPart = field;
    const kind = isUnknown ? ("unknown_member" as const) : ("wrong_part" as const);
    mismatches.push({ kind, path: pathText(field.map(safeStep)), expected, value });
  }
  return mismatches;
}
