import { type FieldPath, pathText } from "./field-path.js";
import { findMistakes, type IsExtension } from "./find-mistakes.js";
import { describeMistake } from "./messages.js";
import { jsonNotation, type Notation } from "./notation.js";
import type { Mistake, ShapeProblem } from "./problem.js";
import type { Shape } from "./shape-kinds.js";
import { meantField } from "./unknown-field.js";

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
  const problems: ShapeProblem[] = [];
  for (const mistake of mistakes) {
    // The hint of the misspelled field names it already.
    if (mistake.kind === "missing" && isMisspelled(mistake.path, mistakes)) continue;
    problems.push(describeMistake(mistake, notation));
  }
  return { problems, extensionFields };
}

/** Whether an unknown field of the same mapping means a missing one. */
function isMisspelled(missing: FieldPath, mistakes: readonly Mistake[]): boolean {
  const field = pathText(missing);
  return mistakes.some((mistake) => {
    if (mistake.kind !== "unknown") return false;
    const meant = meantField(mistake);
    return meant !== undefined && pathText([...mistake.path.slice(0, -1), meant]) === field;
  });
}
