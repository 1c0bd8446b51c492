import type { NumberKind, Range, Shape, TextKind } from "./shape-kinds.js";
import { listed } from "./words.js";

/** What a shape allows, in words, with choices as in JSON: `a string of 1 to 200 characters`, `"bank" or "insurer"`. */
export function describeShape(shape: Shape): string {
  switch (shape.kind) {
    case "choice":
      return listed(
        shape.choices.map((choice) => JSON.stringify(choice)),
        "or",
      );
    case "number":
      return describeNumber(shape);
    case "list":
      return `a list${rangeWords(shape)}`;
    case "text":
      return describeText(shape);
    case "boolean":
      return "a boolean";
    case "null":
      return "null";
    case "anything":
      return "any value";
    case "either":
      return listed(shape.options.map(describeShape), "or");
    case "mapping":
    case "record":
      return "a mapping";
  }
}

function describeNumber(shape: NumberKind): string {
  const { min, max } = shape;
  const noun = shape.isWhole ? "an integer" : "a number";
  if (min === undefined || max === undefined) return noun + rangeWords(shape);
  return `${noun} from ${min} to ${max.toLocaleString("en")}`;
}

function describeText({ noun, format, min, max }: TextKind): string {
  if (noun !== undefined) return noun;
  if (format === "uuid") return "a UUID";
  if (max === undefined) return "a string";
  return `a string of ${min ?? 0} to ${max} characters`;
}

/** ` of 1 to 3`, ` of at least 1`, ` of at most 3`; empty without a limit. */
function rangeWords({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max.toLocaleString("en")}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max.toLocaleString("en")}`;
}
