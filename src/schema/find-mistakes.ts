import { isAllowed, isOfKind } from "./allowed.js";
import type { FieldPath } from "./field-path.js";
import { type Members, type Mistake, maximumProblems } from "./problem.js";
import { shapeOfField } from "./shape-fields.js";
import type { MappingKind, NeededFields, RecordKind, Shape } from "./shape-kinds.js";
import { isMapping } from "./type-tag.js";

/** Whether a member that its mapping does not have is allowed, by its name. */
export type IsExtension = (name: string) => boolean;

const noExtension: IsExtension = () => false;

interface FoundMistakes {
  /** From the outside in: the mistake of a value comes before those of its parts. */
  readonly mistakes: readonly Mistake[];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: Iterable<FieldPath>;
}

/** Finds what is wrong in a value. */
export function findMistakes(root: Shape, whole: unknown, isExtension = noExtension): FoundMistakes {
  const check = new ShapeCheck(isExtension);
  check.checkValue(root, whole, []);
  const { mistakes, extensionFields } = check;
  return { mistakes, extensionFields };
}

class ShapeCheck {
  readonly mistakes: Mistake[] = [];
  readonly extensionFields: FieldPath[] = [];
  readonly #isExtension: IsExtension;

  constructor(isExtension: IsExtension) {
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
    if (isOfKind(shape, value)) this.#checkParts(shape, value, path);
  }

  #add(mistake: Mistake): void {
    if (this.mistakes.length < maximumProblems) this.mistakes.push(mistake);
  }

  #checkParts(shape: Shape, value: unknown, path: FieldPath): void {
    if (shape.kind === "mapping") this.#checkMapping(shape, value as Members, path);
    if (shape.kind === "record") this.#checkRecord(shape, value as Members, path);
    if (shape.kind !== "list" || !Array.isArray(value)) return;
    for (const [index, item] of value.entries()) {
      // A list in JSON has null in place of `undefined`.
      this.checkValue(shape.item, item === undefined ? null : item, [...path, index]);
    }
  }

  #checkMapping(shape: MappingKind, members: Members, path: FieldPath): void {
    if (!shape.isOpen) {
      const unknown = this.#unknownNames(shape, members, path);
      for (const name of unknown) {
        this.#add({ kind: "unknown", path: [...path, name], shape, value: members[name], members });
      }
      // An unknown field is probably the needed one, misspelled.
      if (unknown.length === 0) this.#checkNeeds(shape, members, path);
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

  #checkNeeds(shape: MappingKind, members: Members, path: FieldPath): void {
    const { needs } = shape;
    if (needs === undefined || !hasNoneOf(needs, members)) return;
    this.#add({ kind: "empty", path, shape, value: members, neededFields: needs.oneOf });
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
function hasNoneOf(needs: NeededFields, members: Members): boolean {
  for (const name of needs.oneOf) {
    const member = members[name];
    const isMissing = member === undefined || (needs.isFalseMissing && member === false);
    if (!isMissing) return false;
  }
  return true;
}
