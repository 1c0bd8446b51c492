import { type FieldPath, pathText } from "./field-path.js";
import { findMistakes } from "./find-mistakes.js";
import { describeMistake, describeShape, emptyOwner, meantField } from "./messages.js";
import { jsonNotation, type Notation } from "./notation.js";
import type { Mistake, Problem } from "./problem.js";
import type { Shape, ShapeCode } from "./shape.js";

/** Checks a value: its problems in the words of the caller, and the members that it has besides its shape and that are allowed. */
export function checkShape(
  shape: Shape,
  value: unknown,
  notation: Notation = jsonNotation,
  isExtension?: (name: string) => boolean,
) {
  const { mistakes, extensionFields } = findMistakes(shape, value, isExtension);
  const explained = explainedFields(mistakes, notation);
  const problems: Problem<ShapeCode>[] = [];
  for (const mistake of mistakes) {
    // The hint of an unknown field names it already.
    const isWithoutValue = mistake.value === undefined || mistake.value === null;
    if (isWithoutValue && mistake.kind !== "unknown" && explained.has(pathText(mistake.path))) continue;
    problems.push(describeMistake(mistake, notation));
  }
  return { problems, extensionFields };
}

/** The fields that unknown ones mean: those that they misspell, and in YAML those without a value that they belong to. */
function explainedFields(mistakes: readonly Mistake[], { language }: Notation): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const mistake of mistakes) {
    if (mistake.kind !== "unknown") continue;
    const { path, shape, members } = mistake;
    let explained = meantField(path, shape, members);
    if (language === "yaml") explained = emptyOwner(mistake) ?? explained;
    if (explained !== undefined) fields.add(pathText([...path.slice(0, -1), explained]));
  }
  return fields;
}

/** A part of a value from outside that does not have its shape. */
interface Mismatch {
  readonly kind: "wrong_part" | "unknown_member";
  /** As `limits.per_day`, empty for the whole value. */
  readonly path: string;
  readonly expected: string;
  readonly value: unknown;
}

/** More characters of a member's name are not shown. */
const longestShownName = 60;

/** Finds the parts of a value that do not match its shape, but none inside a mismatched part. */
export function findMismatches(
  shape: Shape,
  whole: unknown,
  redact: (text: string) => string = String,
): Mismatch[] {
  // The name of a member from outside may contain anything.
  const safeStep = (step: string | number) => {
    if (typeof step === "number") return step;
    const name = redact(step);
    return name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
  };

  const mismatches: Mismatch[] = [];
  /** The last part that has a wrong value: a mistake inside it comes later, and says nothing more. */
  let wrongPart: FieldPath | undefined;
  for (const mistake of findMistakes(shape, whole).mistakes) {
    const { kind, path, value } = mistake;
    const outer = wrongPart;
    const isInside = outer !== undefined && outer.length < path.length;
    if (isInside && outer.every((step, index) => step === path[index])) continue;
    if (kind === "value") wrongPart = path;

    const shownField = pathText(path.map(safeStep));
    if (kind === "unknown") {
      mismatches.push({ kind: "unknown_member", path: shownField, expected: "no such member", value });
    } else {
      const expected = describeShape(mistake.shape);
      mismatches.push({ kind: "wrong_part", path: shownField, expected, value });
    }
  }
  return mismatches;
}
