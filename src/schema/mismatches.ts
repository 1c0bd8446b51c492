import { type FieldPath, pathText } from "./field-path.js";
import { findMistakes } from "./find-mistakes.js";
import type { Shape } from "./shape-kinds.js";
import { describeShape } from "./shape-words.js";

/** More characters of a member's name are not shown. */
const longestShownName = 60;

/** A part of a value that does not have its shape. */
interface Mismatch {
  readonly kind: "wrong_part" | "unknown_member";
  /** As `limits.per_day`, empty for the whole value. */
  readonly path: string;
  readonly expected: string;
  readonly value: unknown;
}

/** Finds the parts of a value that do not match its shape, but none inside a mismatched part. */
export function findMismatches(
  shape: Shape,
  whole: unknown,
  redact: (text: string) => string = String,
): Mismatch[] {
  const mismatches: Mismatch[] = [];
  /** The last part that has a wrong value: a mistake inside it comes later, and says nothing more. */
  let wrongPart: FieldPath | undefined;
  for (const mistake of findMistakes(shape, whole).mistakes) {
    const { kind, path, value } = mistake;
    if (wrongPart !== undefined && isInside(path, wrongPart)) continue;
    if (kind === "value") wrongPart = path;

    // The name of a member from outside may contain anything.
    const safeSteps = path.map((step) => (typeof step === "string" ? shortName(redact(step)) : step));
    const safeText = pathText(safeSteps);
    if (kind === "unknown") {
      mismatches.push({ kind: "unknown_member", path: safeText, expected: "no such member", value });
    } else {
      const expected = describeShape(mistake.shape);
      mismatches.push({ kind: "wrong_part", path: safeText, expected, value });
    }
  }
  return mismatches;
}

function isInside(path: FieldPath, outer: FieldPath): boolean {
  return outer.length < path.length && outer.every((step, index) => step === path[index]);
}

function shortName(name: string): string {
  return name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
}
