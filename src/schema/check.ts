import type { FieldPath } from "./field-path.js";
import { findMistakes, type IsExtension } from "./find-mistakes.js";
import { describeMistake } from "./messages.js";
import { jsonNotation, type Notation } from "./notation.js";
import type { ShapeProblem } from "./problem.js";
import type { Shape } from "./shape-kinds.js";

interface ShapeResult {
  /** What is wrong, in the words of the caller. */
  readonly problems: readonly ShapeProblem[];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: Iterable<FieldPath>;
}

/** Checks a value, and finds the members that it has besides its shape. */
export function checkShape(
  shape: Shape,
  value: unknown,
  notation: Notation = jsonNotation,
  isExtension?: IsExtension,
): ShapeResult {
  const { mistakes, extensionFields } = findMistakes(shape, value, isExtension);
  const problems = mistakes.map((mistake) => describeMistake(mistake, notation));
  return { problems, extensionFields };
}
