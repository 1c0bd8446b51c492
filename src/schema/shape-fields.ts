import type { FieldPath } from "./field-path.js";
import { optional } from "./shape.js";
import type { Fields, MappingField, Shape } from "./shape-kinds.js";

export function shapeOfField(field: MappingField): Shape {
  return "optional" in field ? field.optional : field;
}

/** The fields of a mapping, or of all mappings among several kinds: of two with one name, the last. `undefined` if the shape has none. */
export function fieldsOf(shape: Shape): Fields | undefined {
  if (shape.kind === "mapping") return shape.fields;
  if (shape.kind !== "either") return undefined;

  let all: Fields | undefined;
  for (const option of shape.options) {
    const fields = fieldsOf(option);
    if (fields !== undefined) all = { ...all, ...fields };
  }
  return all;
}

/** The name and the shape of a field. */
interface NamedShape {
  readonly name: string;
  readonly shape: Shape;
}

/** The fields that `fieldsOf` finds, as a list; empty for a shape without fields. */
function namedFieldsOf(shape: Shape): NamedShape[] {
  const fields = Object.entries(fieldsOf(shape) ?? {});
  return fields.map(([name, field]) => ({ name, shape: shapeOfField(field) }));
}

/** The fields that people write: snapshots have more. */
export function settableFieldsOf(shape: Shape): NamedShape[] {
  return namedFieldsOf(shape).filter((field) => !field.shape.isSnapshotOnly);
}

/** Whether a shape has a field of this name that people write. */
export function hasField(shape: Shape | undefined, name: string | number): boolean {
  if (shape === undefined) return false;
  return settableFieldsOf(shape).some((field) => field.name === name);
}

/** The fields that a mapping must have. */
export function neededFieldsOf(shape: Shape): NamedShape[] {
  const fields = fieldsOf(shape) ?? {};
  return namedFieldsOf(shape).filter(({ name }) => !("optional" in (fields[name] as MappingField))); // one of its names
}

/** The shape of the field at a path; `undefined` if the format has none. */
export function shapeAt(root: Shape, path: FieldPath): Shape | undefined {
  let shape: Shape | undefined = root;
  for (const step of path) {
    if (shape === undefined) return undefined;
    shape = shapeInside(shape, step);
  }
  return shape;
}

function shapeInside(shape: Shape, step: string | number): Shape | undefined {
  const fields = fieldsOf(shape);
  if (fields !== undefined) {
    const field = Object.hasOwn(fields, step) ? fields[step] : undefined;
    return field && shapeOfField(field);
  }
  if (shape.kind === "list") return shape.item;
  if (shape.kind === "record") return shape.member;
  return undefined;
}

/** A shape with its direct parts changed and its fields renamed; the same object if all of them stay. */
export function withPartsChanged(
  shape: Shape,
  change: (inner: Shape) => Shape,
  rename: (name: string) => string,
): Shape {
  if (shape.kind === "list") {
    const item = change(shape.item);
    return item === shape.item ? shape : { ...shape, item };
  }
  if (shape.kind === "record") {
    const member = change(shape.member);
    return member === shape.member ? shape : { ...shape, member };
  }
  if (shape.kind === "either") {
    const options = shape.options.map(change);
    const isSame = options.every((option, index) => option === shape.options[index]);
    return isSame ? shape : { ...shape, options };
  }
  if (shape.kind !== "mapping") return shape;

  let isSame = true;
  const fields: Record<string, MappingField> = {};
  for (const [name, field] of Object.entries(shape.fields)) {
    const newName = rename(name);
    const inner = change(shapeOfField(field));
    if (newName !== name || inner !== shapeOfField(field)) isSame = false;
    fields[newName] = "optional" in field ? optional(inner) : inner;
  }
  if (isSame) return shape;
  if (shape.needs === undefined) return { ...shape, fields };
  return { ...shape, fields, needs: { ...shape.needs, oneOf: shape.needs.oneOf.map(rename) } };
}
