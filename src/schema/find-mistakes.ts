import { isAllowed, isOfKind } from "./allowed.js";
import type { FieldPath } from "./field-path.js";
import { type Members, type Mistake, maximumProblems, type SourceTextAt } from "./problem.js";
import { shapeOfField } from "./shape-fields.js";
import type { MappingKind, NeededFields, RecordKind, Shape } from "./shape-kinds.js";
import { isMapping } from "./type-tag.js";

/** What its reader knows of a value, besides the value. */
export interface SourceFacts {
  /** Whether a member that its mapping does not have is allowed, by its name. Default: none is. */
  readonly isExtension?: (name: string) => boolean;
  /** Default: the text is not known. */
  readonly sourceTextAt?: SourceTextAt;
}

interface FoundMistakes {
  /** The mistake of a value comes before those inside; only `empty` and `unknown` come behind those of the fields. */
  readonly mistakes: readonly Mistake[];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: Iterable<FieldPath>;
}

/** Finds what is wrong in a value, from the outside in. */
export function findMistakes(root: Shape, whole: unknown, source: SourceFacts = {}): FoundMistakes {
  const check = new ShapeCheck(source);
  check.checkValue(root, whole, []);
  const { mistakes, extensionFields } = check;
  return { mistakes, extensionFields };
}

class ShapeCheck {
  readonly mistakes: Mistake[] = [];
  readonly extensionFields: FieldPath[] = [];
  readonly #source: SourceFacts;

  constructor(source: SourceFacts) {
    this.#source = source;
  }

  checkValue(shape: Shape, value: unknown, path: FieldPath): void {
    if (this.mistakes.length >= maximumProblems || shape.kind === "anything") return;
    if (shape.kind === "either") {
      this.checkValue(optionFor(shape.options, value), value, path);
      return;
    }

    if (!isAllowed(shape, value)) this.#add({ kind: "value", path, shape, value });
    else if (this.#startsWithZeros(value, path)) this.#add({ kind: "zeros", path, shape, value });

    // The parts of a list that is too long are checked, too.
    if (isOfKind(shape, value)) this.#checkParts(shape, value, path);
  }

  // The text of `007` has zeros in front, its value 7 has none. In other formats, such a number is octal, or a code.
  #startsWithZeros(value: unknown, path: FieldPath): boolean {
    return typeof value === "number" && /^[+-]?0\d/.test(this.#source.sourceTextAt?.(path) ?? "");
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
    this.#checkFields(shape, members, path);
    if (shape.isOpen) return;

    const unknown = this.#unknownNames(shape, members, path);
    // An unknown field is probably the needed one, misspelled.
    const { needs } = shape;
    if (unknown.length === 0 && needs !== undefined && hasNoneOf(needs, members)) {
      this.#add({ kind: "empty", path, shape, value: members, neededFields: needs.oneOf });
    }
    for (const name of unknown) {
      this.#add({ kind: "unknown", path: [...path, name], shape, value: members[name], members });
    }
  }

  #checkFields(shape: MappingKind, members: Members, path: FieldPath): void {
    for (const [name, field] of Object.entries(shape.fields)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      const isMissing = member === undefined;
      if (isMissing && "optional" in field) continue;
      if (isMissing) this.#addMissing(shapeOfField(field), [...path, name]);
      else this.checkValue(shapeOfField(field), member, [...path, name]);
    }
  }

  /** The names of the members that the mapping does not have; keeps the fields that are allowed as extensions. */
  #unknownNames(shape: MappingKind, members: Members, path: FieldPath): string[] {
    const unknown: string[] = [];
    for (const name of Object.keys(members)) {
      if (Object.hasOwn(shape.fields, name)) continue;
      if (this.#source.isExtension?.(name)) this.extensionFields.push([...path, name]);
      else unknown.push(name);
    }
    return unknown;
  }

  #checkRecord(shape: RecordKind, members: Members, path: FieldPath): void {
    const nameShape = shape.name;
    for (const [name, value] of Object.entries(members)) {
      const inner = [...path, name];
      if (nameShape !== undefined && !isAllowed(nameShape, name)) {
        this.#add({ kind: "name", path: inner, shape: nameShape, value: name, members });
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

/** Whether a mapping has none of the fields of which it needs one. */
function hasNoneOf(needs: NeededFields, members: Members): boolean {
  for (const name of needs.oneOf) {
    const member = members[name];
    const isMissing = member === undefined || (needs.isFalseMissing && member === false);
    if (!isMissing) return false;
  }
  return true;
}
