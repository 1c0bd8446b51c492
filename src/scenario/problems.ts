import type { Writable } from "../rules/writable.js";
import { type FieldPath, pathText } from "../schema/field-path.js";
import type { Problem } from "../schema/problem.js";
import { maximumProblems } from "../schema/problem.js";
import type { Place, SourcePlace } from "./source-text.js";

/** The codes of what is valid, and usually a mistake: warnings, and no errors. */
export const warningCodes = ["secret_unmarked", "scope_unheld", "zeros_dropped"] as const;

/** The code of each problem of a scenario; a closed list, stable for callers. */
export const problemCodes = [
  // The text
  "too_large",
  "not_text",
  "empty",
  "yaml_syntax",
  "several_documents",
  "too_deep",
  "bad_alias",
  "forbidden_field",
  "duplicate_field",
  "not_plain_data",
  // The shape
  "not_a_mapping",
  "unsupported_version",
  "unknown_field",
  "missing_field",
  "wrong_type",
  "bad_choice",
  "bad_format",
  "bad_ref",
  "bad_time",
  "out_of_range",
  "empty_list",
  // Extending another scenario
  "extends_not_found",
  "extends_failed",
  "extends_loop",
  // Fields that contradict each other
  "no_organizations",
  "duplicate_organization_id",
  "duplicate_key_ref",
  "taken_by_population",
  "unknown_key_ref",
  "unknown_organization_ref",
  "too_many_keys",
  "too_many_active_keys",
  "unknown_scope",
  "duplicate_scope",
  "usage_contradiction",
  "state_contradiction",
  "secret_malformed",
  "secret_mismatch",
  "duplicate_secret",
  "replacement_missing",
  "replacement_not_expected",
  "replacement_elsewhere",
  "replacement_shared",
  "replacement_cycle",
  "replacement_legacy",
  "replacement_differs",
  "overlap_out_of_range",
  "endpoint_contradiction",
  "fault_contradiction",
  "reserved_key_ref",
  "step_contradiction",
  "timeline_order",
  // Found by running it
  "step_fails",
  // Valid, and usually a mistake
  ...warningCodes,
] as const;

export type ScenarioProblemCode = (typeof problemCodes)[number];

/** One problem of a scenario. Never contains a full key. */
export interface ScenarioProblem {
  readonly code: ScenarioProblemCode;
  /** The field, as in `organizations.harvest-bank.keys.active.state`; empty for the scenario as a whole. */
  readonly field: string;
  readonly message: string;
  readonly hint?: string;
  readonly file?: string;
  /** Counted from 1. Missing, like `column`, if the scenario was not read from a text. */
  readonly line?: number;
  /** Counted from 1, in UTF-16 units, as editors count. */
  readonly column?: number;
  /** The text of the line; of a long one the part around the column. Missing if the line is very long, or may have a part of a secret. */
  readonly source?: string;
  /** The line to print under `source`: empty space and `^` at the column. */
  readonly caret?: string;
}

/** A problem of a field. Its place is that of its field in the texts, unless it has one of its own. */
export interface FieldProblem extends Problem<ScenarioProblemCode> {
  readonly place?: SourcePlace | undefined;
}

/** Problems in the order in which they are found, rule by rule. A text may be full of them: only the first `maximumProblems` are kept. */
export class ProblemList {
  readonly found: FieldProblem[] = [];

  /** Whether no more problems are kept. */
  get isFull(): boolean {
    return this.found.length >= maximumProblems;
  }

  add(problem: FieldProblem): void {
    if (!this.isFull) this.found.push(problem);
  }
}

/** A problem as it is shown: at its place, or only in its file. */
export function problemAt(problem: FieldProblem, place?: Place, file?: string): ScenarioProblem {
  const { code, field, message, hint } = problem;
  const shownProblem: Writable<ScenarioProblem> = { code, field: pathText(field), message };
  if (hint !== undefined) shownProblem.hint = hint;
  if (file !== undefined) shownProblem.file = file;
  return { ...shownProblem, ...place };
}

/** What the text of a scenario has at each field: it keeps the whole text in memory. */
export interface ScenarioPlaces {
  /** `undefined` for a field that no text has. */
  readonly placeOf: (field: FieldPath) => Place | undefined;
  /** How the text writes the number or flag of a field: `007`, `0x1F`. `undefined` if no text has it. */
  readonly spelling: (field: FieldPath) => string | undefined;
}

/** Problems found after the check, such as warnings, at their places. */
export function problemsAt(
  problems: readonly FieldProblem[],
  placeOf: ScenarioPlaces["placeOf"],
  file: string,
): ScenarioProblem[] {
  return problems.map((problem) => problemAt(problem, placeOf(problem.field), file));
}
