import type { FieldProblem } from "../problems.js";
import type { SourceText } from "../source-text.js";
import { placeAt } from "./places.js";

/** A problem of the text, without its place. It is of no field. */
export type TextProblem = Pick<FieldProblem, "code" | "message" | "hint">;

export function problemAtOffset(source: SourceText, offset: number, problem: TextProblem): FieldProblem {
  return { ...problem, field: [], place: placeAt(source, offset) };
}

// Problems that are found in several ways.

export const mergeKeyProblem: TextProblem = {
  code: "yaml_syntax",
  message: "merge keys are not supported",
  hint: "extend a scenario, or write the fields",
};

export const repeatLessHint = "extend a scenario, or repeat less";
