import type { NumberKind, Range, Shape, TextKind } from "./shape-kinds.js";
import { listed } from "./words.js";

/** What a shape allows, in words: `a string of 1 to 200 characters`. `value` is the refused value, if there is one. */
export function describeShape(shape: Shape, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return listed(
        shape.choices.map((choice) => JSON.stringify(choice)),
        "or",
      );
    case "number":
      return describeNumber(shape, value);
    case "list":
      return describeList(shape, value);
    case "text":
      return describeString(shape);
    case "boolean":
      return "a boolean";
    case "null":
      return "null";
    case "anything":
      return "any value";
    case "either":
      return listed(
        shape.options.map((option) => describeShape(option)),
        "or",
      );
    case "mapping":
    case "record":
      return "a mapping";
  }
}

function describeNumber({ isWhole, min, max }: NumberKind, value: unknown): string {
  const noun = isWhole ? "an integer" : "a number";
  let most = max;
  // Each integer has a limit. Only the message about an integer beyond it says so.
  if (isWhole && max === undefined && isBeyondIntegers(value)) most = Number.MAX_SAFE_INTEGER;
  if (most === undefined) return noun + ofAtLeast(min);
  const limit = most.toLocaleString("en");
  return min === undefined ? `${noun} of at most ${limit}` : `${noun} from ${min} to ${limit}`;
}

/** Whether a number, or a text with a number, is larger than the largest integer that is exact in JavaScript. */
function isBeyondIntegers(value: unknown): boolean {
  if (typeof value !== "number" && typeof value !== "string") return false;
  return Number(value) > Number.MAX_SAFE_INTEGER;
}

function describeList({ min, max }: Range, value: unknown): string {
  // Only a list that is too long needs to know the maximum.
  const isTooLong = Array.isArray(value) && max !== undefined && value.length > max;
  if (!isTooLong) return `a list${ofAtLeast(min)}`;
  return `a list of ${min ?? 0} to ${max}`;
}

function describeString({ noun, format, min, max }: TextKind): string {
  if (noun !== undefined) return noun;
  if (format === "uuid") return "a UUID";
  if (max === undefined) return "a string";
  return `a string of ${min ?? 0} to ${max} characters`;
}

function ofAtLeast(min: number | undefined): string {
  return min === undefined ? "" : ` of at least ${min}`;
}
