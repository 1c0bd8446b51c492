import { SandboxError } from "../rules/errors.js";
import { mapTexts } from "../rules/map-texts.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import type { Writable } from "../rules/writable.js";
import { maximumProblems } from "../schema/check.js";
import { type FieldPath, pathText } from "../schema/field-path.js";
import type { Problem, SourceTextAt } from "../schema/problem.js";
import { redactSecrets } from "./redact-secrets.js";

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

/** The text of a scenario. */
export interface SourceText {
  readonly file: string | undefined;
  /** The text has no byte order mark, and each line ends with `\n` or `\r\n`. */
  readonly text: string;
  /** Finds the values of secrets, in order. Missing for a text that is not valid YAML: the names in its lines show where secrets are. */
  readonly secrets?: () => readonly TextRange[];
}

export type TextRange = readonly [start: number, end: number];

/** A place in a text, which is described only if it is shown. */
export interface SourcePlace {
  readonly source: SourceText;
  readonly offset: number;
  /** Comes with the reader of the text, so that pages without the reader do not load it. */
  readonly describe: () => Place;
}

/** A place for people. */
export interface Place extends Pick<ScenarioProblem, "file" | "source" | "caret"> {
  readonly line: number;
  readonly column: number;
}

/** A problem of a field. Its place is that of its field in the texts, unless it has one of its own. */
export interface FieldProblem extends Problem<ScenarioProblemCode> {
  readonly place?: SourcePlace | undefined;
}

/** How a rule reports a problem. `hintOf` makes a hint that takes time; it is called only for a problem that is kept. */
export type AddProblem = (problem: FieldProblem, hintOf?: () => string) => void;

/** Adds problems to a list, until it has `maximumProblems`. */
export function addingTo(problems: FieldProblem[]): AddProblem {
  return (problem, hintOf) => {
    if (problems.length >= maximumProblems) return;
    problems.push(hintOf === undefined ? problem : { ...problem, hint: hintOf() });
  };
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
  readonly spelling: SourceTextAt;
}

/** Problems found after the check, such as warnings, at their places. */
export function problemsAt(
  problems: readonly FieldProblem[],
  placeOf: ScenarioPlaces["placeOf"],
  file: string,
): ScenarioProblem[] {
  return problems.map((problem) => problemAt(problem, placeOf(problem.field), file));
}

/** In place of a file, for a scenario without one. */
const unnamedScenario = "<scenario>";

/** The message of an error shows at most this many problems. */
const shownProblems = 20;

/** Thrown for a scenario that is not valid, with all its problems. Neither the message nor `problems` shows a full key. */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const safe = mapTexts(problems, redactSecrets, (name) => name === "code" || name === "file");
    super("scenario_invalid", messageOf(safe), { problems: safe });
    this.name = "ScenarioError";
    this.problems = safe;
  }

  // The builds for ES modules and for CommonJS each have this class: an error of either is an instance of both.
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a user's class that extends this one inherits the method
    if (this === ScenarioError) return value instanceof SandboxError && "problems" in value;
    // biome-ignore lint/complexity/noThisInStatic: the same
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

/** A problem for people: `file:line:column: message`, the line, a caret, the hint. */
export function formatProblem(problem: Omit<ScenarioProblem, "code">): string {
  const { file = unnamedScenario, line, column, source, caret, message, hint } = problem;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const field = line === undefined && problem.field !== "" ? `${problem.field}: ` : "";
  const lines = [`${place}: ${field}${message}`];
  const hasText = source !== undefined && source.trim() !== "";
  if (hasText && caret !== undefined) lines.push(`  ${source}`, `  ${caret}`);
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  return lines.map(withoutControls).join("\n");
}

/** A line for a terminal. Its tabs stay, so that the caret is under its character. */
function withoutControls(line: string): string {
  return line.split("\t").map(oneSafeLine).join("\t");
}

function messageOf(problems: readonly ScenarioProblem[]): string {
  const texts = problems.slice(0, shownProblems).map(formatProblem);
  const rest = problems.length - texts.length;
  if (rest > 0) texts.push(`… and ${rest} more`);
  return texts.join("\n\n");
}
