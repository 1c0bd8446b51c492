import { withPartsChanged } from "./change-parts.js";
import { described, text } from "./shape.js";
import type { Shape } from "./shape-kinds.js";
import { snakeCaseName } from "./spelling.js";

/**
 * The shape of a value in the JSON of this or another version. What differs between versions may be any text: choices that
 * may get more choices, times and UUIDs.
 */
export function tolerantJsonShape(shape: Shape): Shape {
  if (!mayBeAnyText(shape)) return withPartsChanged(shape, tolerantJsonShape, snakeCaseName);
  return shape.description === undefined ? text() : described(text(), shape.description);
}

function mayBeAnyText(shape: Shape): boolean {
  if (shape.kind === "choice") return shape.isGrowing === true;
  return shape.kind === "text" && shape.format !== undefined;
}
