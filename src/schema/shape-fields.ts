import type { FieldPath } from "./field-path.js";
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

/** The names of the fields that people write: snapshots have more. */
export function settableNames(shape: Shape): string[] {
  const names: string[] = [];
  for (const [name, field] of Object.entries(fieldsOf(shape) ?? {})) {
    if (!shapeOfField(field).isSnapshotOnly) names.push(name);
  }
  return names;
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
