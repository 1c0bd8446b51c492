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
  const misspelled = misspelledFields(mistakes);
  const problems: ShapeProblem[] = [];
  for (const mistake of mistakes) {
    // The hint of the misspelled field names it already.
    if (mistake.kind === "missing" && misspelled.has(pathText(mistake.path))) continue;
    problems.push(describeMistake(mistake, notation));
  }
  return { problems, extensionFields };
}

/** The fields that unknown ones mean. */
function misspelledFields(mistakes: readonly Mistake[]): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const mistake of mistakes) {
    if (mistake.kind !== "unknown") continue;
    const meant = meantField(mistake);
    if (meant !== undefined) fields.add(pathText([...mistake.path.slice(0, -1), meant]));
  }
  return fields;
}
