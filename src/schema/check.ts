import { type FieldPath, pathText } from "./field-path.js";
import { findMistakes, type SourceFacts } from "./find-mistakes.js";
import { describeMistake } from "./messages.js";
import { jsonNotation, type Notation } from "./notation.js";
import type { Problem } from "./problem.js";
import type { Shape, ShapeCode } from "./shape-kinds.js";

interface ShapeResult {
  /** What is wrong, in the words of the caller. */
  readonly problems: readonly Problem<ShapeCode>[];
  /** The members that are allowed besides those of their mapping. */
  readonly extensionFields: Iterable<FieldPath>;
}

/** Checks a value, and finds the members that it has besides its shape. */
export function checkShape(
  shape: Shape,
  value: unknown,
  notation: Notation = jsonNotation,
  source: SourceFacts = {},
): ShapeResult {
  const { mistakes, extensionFields } = findMistakes(shape, value, source);
  const { sourceTextAt } = source;
  const found: Problem<ShapeCode>[] = [];
  /** The fields that misspelled ones mean. */
  const meantFields = new Set<string>();
  for (const mistake of mistakes) {
    const problem = describeMistake(mistake, { root: shape, whole: value, notation, sourceTextAt });
    found.push(problem);
    if (problem.meant !== undefined) meantFields.add(pathText(problem.meant));
  }

  // The message about a misspelled field says already what is missing.
  const problems: Problem<ShapeCode>[] = [];
  for (const problem of found) {
    const isSaidAlready = problem.code === "missing_field" && meantFields.has(pathText(problem.field));
    if (!isSaidAlready) problems.push(problem);
  }
  return { problems, extensionFields };
}
