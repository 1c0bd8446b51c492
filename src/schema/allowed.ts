import type { Range, Shape } from "./shape.js";
import { isMapping } from "./type-tag.js";

/** Whether a value has the kind of a shape: any text for a text, any mapping for a mapping. Only of a choice, it must be one. */
export function hasKind(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "anything":
      return true;
    case "null":
      return value === null;
    case "choice": {
      const { choices, alsoMatching } = shape;
      if ((choices as readonly unknown[]).includes(value)) return true;
      return alsoMatching !== undefined && typeof value === "string" && alsoMatching.test(value);
    }
    case "list":
      return Array.isArray(value);
    case "mapping":
    case "record":
      return isMapping(value);
    case "either":
      return shape.options.some((option) => hasKind(option, value));
    case "text":
      return typeof value === "string";
    case "boolean":
    case "number":
      return typeof value === shape.kind;
  }
}

/** Whether a value is of the kind and within the limits of its shape; what is in a list or a mapping is not checked. */
export function isAllowed(shape: Shape, value: unknown): boolean {
  if (shape.kind === "either") return shape.options.some((option) => isAllowed(option, value));
  if (!hasKind(shape, value)) return false;

  if (shape.kind === "list") return isWithin(shape, (value as readonly unknown[]).length);
  if (shape.kind === "number") {
    const isFine = shape.isWhole ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isFine && isWithin(shape, value as number);
  }
  if (shape.kind !== "text") return true;

  const { min, max, pattern, accepts } = shape;
  const text = value as string;
  // In characters, like JSON Schema: an emoji is one.
  if ((min !== undefined || max !== undefined) && !isWithin(shape, [...text].length)) return false;
  if (pattern !== undefined && !pattern.test(text)) return false;
  return accepts === undefined || accepts(text);
}

function isWithin(range: Range, size: number): boolean {
  if (range.min !== undefined && size < range.min) return false;
  return range.max === undefined || size <= range.max;
}
