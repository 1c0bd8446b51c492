import type { Assumptions } from "../domain/assumptions.js";
import { isMapping, parsedJson } from "../domain/json.js";
import { assumptionsSchema } from "../scenario/format/assumptions.js";
import { shapeProblems } from "../schema/check.js";
import { pathText } from "../schema/shape.js";

/** The assumptions that `check --format json` has learned from a real environment; else a text that says what is wrong. */
export function learnedAssumptions(text: string): Partial<Assumptions> | string {
  const report = parsedJson(text.replace(/^\uFEFF/, ""));
  if (report === undefined) return "it is not JSON";
  const { learned, not_learned: open } = isMapping(report) ? report : {};
  if (typeof learned !== "object" || learned === null || typeof open !== "object") {
    return "it is not the report of a check";
  }
  const [problem] = shapeProblems(assumptionsSchema, learned);
  if (problem !== undefined) return `at ${pathText(["learned", ...problem.path])}, ${problem.message}`;
  if (Object.keys(learned).length > 0) return learned as Partial<Assumptions>;
  return "that check has learned nothing: give it keys, so that it gets more answers";
}
