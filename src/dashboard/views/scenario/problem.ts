import type { Text } from "@codemirror/state";
import type { Shown } from "../../control/responses.js";

/** A problem of the text, as in `svc-sandbox validate`. */
export type Problem = Shown<"Validation">["problems"][number];

/** The place of a line and column, counted from 1. */
export function offsetOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
  return Math.max(from, Math.min(to, from + column - 1));
}
