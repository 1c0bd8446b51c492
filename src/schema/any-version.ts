import { described, orNull, type Shape, text } from "./shape.js";
import { mapParts } from "./shape-fields.js";
import { snakeCaseName } from "./spelling.js";

/**
 * The shape of a value in the JSON of this or another version. What differs between versions may be any text: names of
 * which there may be more, and times. Unlike with `inJson`, null is a kind of its own.
 */
export function tolerantJsonShape(shape: Shape): Shape {
  if (shape.isNullable) {
    const { isNullable: _, description, ...notNull } = shape;
    return withDescription(orNull(tolerantJsonShape(notNull as Shape)), description); // of the same kind
  }
  if (mayBeAnyText(shape)) return withDescription(text(), shape.description);
  return mapParts(shape, tolerantJsonShape, snakeCaseName);
}

function withDescription(shape: Shape, description: string | undefined): Shape {
  return description === undefined ? shape : described(shape, description);
}

function mayBeAnyText(shape: Shape): boolean {
  if (shape.kind === "choice") return shape.isGrowing === true;
  return shape.kind === "text" && shape.format !== undefined;
}
