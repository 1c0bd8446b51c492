import type { NumberKind, Shape } from "./shape.js";

// What a shape requires, in words.

/** What this shape requires, in the words of the format. `value` is what it has got. */
export function nounOf(shape: Shape, value?: unknown): string {
  if (shape.kind === "text" && shape.noun !== undefined) return shape.noun;
  return expectedWords(shape, value);
}

/** Describes what this shape requires: `a string of 1 to 200 characters`. `value` is what it has got. */
export function expectedWords(shape: Shape, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return shape.choices.map((choice) => JSON.stringify(choice)).join(" or ");
    case "number":
      return expectedNumber(shape, value);
    case "list":
      return `a list${ofAtLeast(shape.min)}`;
    case "text":
      if (shape.format === "uuid") return "a UUID";
      if (shape.max === undefined) return "a string";
      return `a string of ${shape.min ?? 0} to ${shape.max} characters`;
    case "boolean":
      return "a boolean";
    default:
      return "a mapping";
  }
}

function expectedNumber(shape: NumberKind, value: unknown): string {
  const { isWhole, min } = shape;
  let { max } = shape;
  // JSON has larger integers, but not exactly. Any other value may have no number.
  const isNumeric = typeof value === "number" || typeof value === "string";
  const isTooLarge = isWhole && isNumeric && Number(value) > Number.MAX_SAFE_INTEGER;
  if (max === undefined && isTooLarge) max = Number.MAX_SAFE_INTEGER;

  const noun = isWhole ? "an integer" : "a number";
  if (max === undefined) return noun + ofAtLeast(min);
  return `${noun} from ${min ?? "any"} to ${max.toLocaleString("en")}`;
}

function ofAtLeast(min: number | undefined): string {
  return min === undefined ? "" : ` of at least ${min}`;
}
