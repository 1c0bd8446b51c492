import type { NumberKind, Shape } from "./shape.js";

/** What a shape allows, in words: `a string of 1 to 200 characters`. `value` is what it has got. */
export function describeShape(shape: Shape, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return shape.choices.map((choice) => JSON.stringify(choice)).join(" or ");
    case "number":
      return describeNumber(shape, value);
    case "list":
      return `a list${ofAtLeast(shape.min)}`;
    case "text":
      if (shape.noun !== undefined) return shape.noun;
      if (shape.format === "uuid") return "a UUID";
      if (shape.max === undefined) return "a string";
      return `a string of ${shape.min ?? 0} to ${shape.max} characters`;
    case "boolean":
      return "a boolean";
    default:
      return "a mapping";
  }
}

function describeNumber({ isWhole, min, max }: NumberKind, value: unknown): string {
  const noun = isWhole ? "an integer" : "a number";
  // JSON has larger integers, but not exactly. Any other value may have no number.
  const isNumeric = typeof value === "number" || typeof value === "string";
  const isInexact = isWhole && isNumeric && Number(value) > Number.MAX_SAFE_INTEGER;
  const most = max ?? (isInexact ? Number.MAX_SAFE_INTEGER : undefined);
  if (most === undefined) return noun + ofAtLeast(min);
  return `${noun} from ${min ?? "any"} to ${most.toLocaleString("en")}`;
}

function ofAtLeast(min: number | undefined): string {
  return min === undefined ? "" : ` of at least ${min}`;
}
