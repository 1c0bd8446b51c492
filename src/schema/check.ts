import { isAllowed, isOfKind } from "./allowed.js";
import { type FieldPath, pathText } from "./field-path.js";
import { describeMistake } from "./messages.js";
import { jsonNotation, type Notation } from "./notation.js";
import type { Members, Mistake, Problem, SourceTextAt } from "./problem.js";
import type { MappingKind, RecordKind, Shape, ShapeCode } from "./shape.js";
import { shapeOfField } from "./shape-fields.js";
import { describeShape } from "./shape-words.js";
import { isMapping } from "./type-tag.js";

/** More problems help nobody, and each takes time: a client may send a text full of them. */
export const maximumProblems = 100;

/** More characters of a member's name are not shown. */
const longestShownName = 60;

const notSpelled: SourceTextAt = () => undefined;

/** How the text of a value is read. */
interface ReadText {
  /** Whether a member that its mapping does not have is allowed, by its name. Default: none is. */
  readonly isExtension?: (name: string) => boolean;
  readonly spelling?: SourceTextAt;
}

interface ShapeResult {
  /** What is wrong, in the words of the caller. */
  readonly problems: readonly Problem<ShapeCode>[];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: Iterable<FieldPath>;
}

/** Checks a value, and finds the members that it has besides its shape. */
export function checkShape(
  shape: Shape,
  value: unknown,
  notation: Notation = jsonNotation,
  { isExtension = isNone, spelling = notSpelled }: ReadText = {},
): ShapeResult {
  const { mistakes, extensionFields } = new ShapeCheck(isExtension, spelling).checkWhole(shape, value);
  const problems: Problem<ShapeCode>[] = [];
  /** The fields that misspelled ones mean. */
  const misspelled = new Set<string>();
  for (const mistake of mistakes) {
    const problem = describeMistake(mistake, { root: shape, whole: value, notation, spelling });
    problems.push(problem);
    if (problem.meant !== undefined) misspelled.add(pathText(problem.meant));
  }
  // A misspelled field is not also missing.
  const isMisspelled = ({ code, field }: Problem) =>
    code === "missing_field" && misspelled.has(pathText(field));
  return { problems: problems.filter((problem) => !isMisspelled(problem)), extensionFields };
}

/** A part of a response that does not have its shape. */
interface Mismatch {
  readonly kind: "wrong_part" | "unknown_member";
  /** As `limits.per_day`, empty for the whole value. */
  readonly path: string;
  readonly expected: string;
  readonly value: unknown;
}

/** Finds the parts of a value that do not match its shape, but none inside a mismatched part. */
export function findMismatches(
  shape: Shape,
  whole: unknown,
  redact: (text: string) => string = String,
): Mismatch[] {
  const mismatches: Mismatch[] = [];
  /** The last part that has no right value: what is inside it says nothing more. */
  let mismatched: FieldPath | undefined;
  for (const mistake of new ShapeCheck(isNone, notSpelled).checkWhole(shape, whole).mistakes) {
    const { kind, path, value } = mistake;
    if (mismatched !== undefined && isInside(path, mismatched)) continue;
    if (kind === "value") mismatched = path;

    if (kind === "unknown") {
      // The name of a member from outside may contain anything.
      const name = shortName(redact(String(path.at(-1))));
      const field = [...path.slice(0, -1), name];
      mismatches.push({ kind: "unknown_member", path: pathText(field), expected: "no such member", value });
    } else {
      mismatches.push({
        kind: "wrong_part",
        path: pathText(path),
        expected: describeShape(mistake.shape, value),
        value,
      });
    }
  }
  return mismatches;
}

function isInside(path: FieldPath, outer: FieldPath): boolean {
  return outer.length < path.length && outer.every((step, index) => step === path[index]);
}

function shortName(name: string): string {
  return name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
}

function isNone(_name: string): boolean {
  return false;
}

class ShapeCheck {
  readonly mistakes: Mistake[] = [];
  readonly extensionFields: FieldPath[] = [];
  readonly #isExtension: (name: string) => boolean;
  readonly #spelling: SourceTextAt;

  constructor(isExtension: (name: string) => boolean, spelling: SourceTextAt) {
    this.#isExtension = isExtension;
    this.#spelling = spelling;
  }

  checkWhole(root: Shape, whole: unknown): this {
    this.#check(root, whole, []);
    return this;
  }

  #check(shape: Shape, value: unknown, path: FieldPath): void {
    if (this.mistakes.length >= maximumProblems) return;
    if (shape.isNullable && value === null) return;
    const isMissing = value === undefined && path.length > 0;
    if (shape.kind === "anything" && !isMissing) return;
    if (shape.kind === "either") {
      this.#check(optionFor(shape.options, value), value, path);
      return;
    }

    if (isMissing) this.#add({ kind: "missing", path, shape, value });
    else if (!isAllowed(shape, value)) this.#add({ kind: "value", path, shape, value });
    else if (this.#startsWithZeros(value, path)) this.#add({ kind: "zeros", path, shape, value });

    // The parts of a list that is too long are checked, too.
    if (isOfKind(shape, value)) this.#checkParts(shape, value, path);
  }

  // In other formats, such a number is octal, or a code.
  #startsWithZeros(value: unknown, path: FieldPath): boolean {
    return typeof value === "number" && /^[+-]?0\d/.test(this.#spelling(path) ?? "");
  }

  #add(mistake: Mistake): void {
    if (this.mistakes.length < maximumProblems) this.mistakes.push(mistake);
  }

  #checkParts(shape: Shape, value: unknown, path: FieldPath): void {
    if (shape.kind === "mapping") this.#checkMapping(shape, value as Members, path);
    if (shape.kind === "record") this.#checkRecord(shape, value as Members, path);
    if (shape.kind !== "list" || !Array.isArray(value)) return;
    for (const [index, item] of value.entries()) this.#check(shape.item, item, [...path, index]);
  }

  #checkMapping(shape: MappingKind, members: Members, path: FieldPath): void {
    for (const [name, field] of Object.entries(shape.fields)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      if (member === undefined && "optional" in field) continue;
      this.#check(shapeOfField(field), member, [...path, name]);
    }
    if (shape.isOpen) return;

    const unknown: string[] = [];
    for (const name of Object.keys(members)) {
      if (Object.hasOwn(shape.fields, name)) continue;
      if (this.#isExtension(name)) this.extensionFields.push([...path, name]);
      else unknown.push(name);
    }
    // An unknown field is probably the needed one, misspelled.
    const hasNoEffect = shape.needsOneOf?.every((name) => isUnset(shape, members[name]));
    if (hasNoEffect && unknown.length === 0) this.#add({ kind: "empty", path, shape, value: members });
    for (const name of unknown) {
      this.#add({ kind: "unknown", path: [...path, name], shape, value: members[name], holder: members });
    }
  }

  #checkRecord(shape: RecordKind, members: Members, path: FieldPath): void {
    const nameShape = shape.name;
    for (const [name, value] of Object.entries(members)) {
      const inner = [...path, name];
      if (nameShape !== undefined && !isAllowed(nameShape, name)) {
        this.#add({ kind: "name", path: inner, shape: nameShape, value: name, holder: members });
      }
      this.#check(shape.member, value, inner);
    }
  }
}

/**
 * The option that a value is checked with: one of its kind, among mappings the first that has one of its fields. Without
 * one of its kind, the first option, for the message.
 */
function optionFor(options: readonly Shape[], value: unknown): Shape {
  const alike = options.filter((option) => isOfKind(option, value));
  for (const option of alike) {
    if (option.kind !== "mapping" || !isMapping(value)) continue;
    const { fields } = option;
    const names = Object.keys(value);
    if (names.some((name) => Object.hasOwn(fields, name))) return option;
  }
  return alike[0] ?? (options[0] as Shape);
}

/** Whether a field that its mapping needs is missing, or switched off. */
function isUnset(shape: MappingKind, member: unknown): boolean {
  return member === undefined || (shape.isOffByFalse === true && member === false);
}
