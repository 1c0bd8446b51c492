import type { FieldPath } from "./field-path.js";
import { type Members, type Mistake, maximumProblems } from "./problem.js";
import { type MappingKind, type Range, type RecordKind, type Shape, shapeOfField } from "./shape.js";
import { isMapping } from "./type-tag.js";

/** Whether a value is of the kind of this shape: any text for a text, any mapping for a mapping. */
export function isOfKind(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "anything":
      return true;
    case "null":
      return value === null;
    case "choice": {
      const { choices, alsoMatching } = shape;
      if ((choices as readonly unknown[]).includes(value)) return true;
      return alsoMatching !== undefined && typeof value === "string" && alsoMatching.test(value);
    }
    case "list":
      return Array.isArray(value);
    case "mapping":
    case "record":
      return isMapping(value);
    case "either":
      return shape.options.some((option) => isOfKind(option, value));
    case "text":
      return typeof value === "string";
    case "boolean":
    case "number":
      return typeof value === shape.kind;
  }
}

/** Whether a value is of the kind and within the limits of its shape; what is in a list or a mapping is not checked. */
export function isAllowed(shape: Shape, value: unknown): boolean {
  if (shape.kind === "either") return shape.options.some((option) => isAllowed(option, value));
  if (!isOfKind(shape, value)) return false;

  if (shape.kind === "list") return isWithin(shape, (value as readonly unknown[]).length);
  if (shape.kind === "number") {
    const isFine = shape.isWhole ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isFine && isWithin(shape, value as number);
  }
  if (shape.kind !== "text") return true;

  const { min, max, pattern, accepts } = shape;
  const text = value as string;
  // In characters, like JSON Schema: an emoji is one.
  if ((min !== undefined || max !== undefined) && !isWithin(shape, [...text].length)) return false;
  if (pattern !== undefined && !pattern.test(text)) return false;
  return accepts === undefined || accepts(text);
}

function isWithin(range: Range, size: number): boolean {
  if (range.min !== undefined && size < range.min) return false;
  return range.max === undefined || size <= range.max;
}

/** Finds what is wrong in a value. `isExtension`: whether a member that its mapping does not have is allowed, by its name. */
export function findMistakes(root: Shape, whole: unknown, isExtension = (_name: string) => false) {
  const check = new ShapeCheck(isExtension);
  check.checkValue(root, whole, []);
  return check;
}

class ShapeCheck {
  /** From the outside in: the mistake of a value comes before those of its parts. */
  readonly mistakes: Mistake[] = [];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: FieldPath[] = [];
  readonly #isExtension: (name: string) => boolean;

  constructor(isExtension: (name: string) => boolean) {
    this.#isExtension = isExtension;
  }

  checkValue(shape: Shape, value: unknown, path: FieldPath): void {
    if (this.mistakes.length >= maximumProblems) return;
    if (shape.kind === "either") {
      this.checkValue(optionFor(shape.options, value), value, path);
      return;
    }

    if (!isAllowed(shape, value)) this.#add({ kind: "value", path, shape, value });
    // The parts of a list that is too long are checked, too.
    if (!isOfKind(shape, value)) return;
    if (shape.kind === "mapping") this.#checkMapping(shape, value as Members, path);
    if (shape.kind === "record") this.#checkRecord(shape, value as Members, path);
    if (shape.kind !== "list") return;
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      // A list in JSON has null in place of `undefined`.
      this.checkValue(shape.item, item === undefined ? null : item, [...path, index]);
    }
  }

  #add(mistake: Mistake): void {
    if (this.mistakes.length < maximumProblems) this.mistakes.push(mistake);
  }

  #checkMapping(shape: MappingKind, members: Members, path: FieldPath): void {
    if (!shape.isOpen) {
      const unknown = this.#unknownNames(shape, members, path);
      for (const name of unknown) {
        this.#add({ kind: "unknown", path: [...path, name], shape, value: members[name], members });
      }

      const { needs } = shape;
      // An unknown field is probably the needed one, misspelled.
      if (needs !== undefined && unknown.length === 0 && hasNoneOf(needs, members)) {
        this.#add({ kind: "empty", path, shape, value: members, neededFields: needs.oneOf });
      }
    }

    for (const [name, field] of Object.entries(shape.fields)) {
      const inner = [...path, name];
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      if (member !== undefined) this.checkValue(shapeOfField(field), member, inner);
      else if (!("optional" in field)) this.#addMissing(field, inner);
    }
  }

  /** The members that the mapping does not have. Extensions are none of them, and are kept. */
  #unknownNames(shape: MappingKind, members: Members, path: FieldPath): string[] {
    const unknown: string[] = [];
    for (const name of Object.keys(members)) {
      if (Object.hasOwn(shape.fields, name)) continue;
      if (this.#isExtension(name)) this.extensionFields.push([...path, name]);
      else unknown.push(name);
    }
    return unknown;
  }

  #checkRecord(shape: RecordKind, members: Members, path: FieldPath): void {
    const nameShape = shape.name;
    for (const [name, value] of Object.entries(members)) {
      const inner = [...path, name];
      if (nameShape !== undefined && !isAllowed(nameShape, name)) {
        this.#add({ kind: "name", path: inner, shape: nameShape, value: name });
      }
      if (value === undefined) this.#addMissing(shape.member, inner);
      else this.checkValue(shape.member, value, inner);
    }
  }

  #addMissing(shape: Shape, path: FieldPath): void {
    if (shape.kind === "either") this.#addMissing(optionFor(shape.options, undefined), path);
    else this.#add({ kind: "missing", path, shape, value: undefined });
  }
}

/** The option that a value is checked with. */
function optionFor(options: readonly Shape[], value: unknown): Shape {
  const alike = options.filter((option) => isOfKind(option, value));
  const [firstAlike] = alike;
  // Without an option of the value's kind, the message names the first one.
  if (firstAlike === undefined) return options[0] as Shape;
  return mappingWithAFieldOf(value, alike) ?? firstAlike;
}

/** The first mapping that has a field with the name of one of the value's; `undefined` if none has. */
function mappingWithAFieldOf(value: unknown, shapes: readonly Shape[]): Shape | undefined {
  if (!isMapping(value)) return undefined;
  const names = Object.keys(value);
  for (const shape of shapes) {
    if (shape.kind !== "mapping") continue;
    const { fields } = shape;
    if (names.some((name) => Object.hasOwn(fields, name))) return shape;
  }
  return undefined;
}

/** Whether a mapping has none of the fields of which it needs one. */
function hasNoneOf(needs: NonNullable<MappingKind["needs"]>, members: Members): boolean {
  for (const name of needs.oneOf) {
    const member = members[name];
    const isMissing = member === undefined || (needs.isFalseMissing && member === false);
    if (!isMissing) return false;
  }
  return true;
}
