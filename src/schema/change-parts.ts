import { optional } from "./shape.js";
import { shapeOfField } from "./shape-fields.js";
import type { MappingField, MappingKind, Shape } from "./shape-kinds.js";

type ChangeShape = (inner: Shape) => Shape;
type Rename = (name: string) => string;

/** A shape with its direct parts changed, and its fields renamed. */
export function withPartsChanged(shape: Shape, change: ChangeShape, rename: Rename): Shape {
  switch (shape.kind) {
    case "list":
      return { ...shape, item: change(shape.item) };
    case "record":
      return { ...shape, member: change(shape.member) };
    case "either":
      return { ...shape, options: shape.options.map(change) };
    case "mapping":
      return { ...shape, ...changedFields(shape, change, rename) };
    default:
      return shape;
  }
}

function changedFields(
  { fields, needs }: MappingKind,
  change: ChangeShape,
  rename: Rename,
): Pick<MappingKind, "fields" | "needs"> {
  const changed: Record<string, MappingField> = {};
  for (const [name, field] of Object.entries(fields)) {
    const inner = change(shapeOfField(field));
    changed[rename(name)] = "optional" in field ? optional(inner) : inner;
  }
  if (needs === undefined) return { fields: changed };
  return { fields: changed, needs: { ...needs, oneOf: needs.oneOf.map(rename) } };
}
