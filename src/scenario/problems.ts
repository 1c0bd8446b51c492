import { SandboxError } from "../rules/errors.js";
import { mapTexts } from "../rules/map-texts.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import type { Writable } from "../rules/writable.js";
import { type FieldPath, pathText } from "../schema/field-path.js";
import { maximumProblems, type Problem } from "../schema/problem.js";
import { redactSecrets } from "./redact-secrets.js";
import type { SourcePlace, WrittenScenario } from "./written-scenario.js";

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

/** A place for people, as a problem shows it. */
export type Place = Pick<ScenarioProblem, "file" | "line" | "column" | "source" | "caret">;

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

  add(code: ScenarioProblemCode, field: FieldPath, message: string, hint?: string, pointAt?: "name"): void {
    if (this.isFull) return;
    this.found.push({ code, field, message, hint, ...(pointAt && { pointAt }) });
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

/** In place of a file, for a scenario without one. */
const unnamedScenario = "<scenario>";

/** The message of an error shows at most this many problems. */
const shownProblems = 20;

/** Thrown for a scenario that is not valid, with all its problems. Neither the message nor `problems` shows a full key. */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const hasNoTextOfScenario = (member: string) => member === "code" || member === "file";
    const safe = mapTexts(problems, redactSecrets, hasNoTextOfScenario);
    const texts = safe.slice(0, shownProblems).map(formatProblem);
    if (safe.length > shownProblems) texts.push(`… and ${safe.length - shownProblems} more`);
    super("scenario_invalid", texts.join("\n\n"), { problems: safe });
    this.name = "ScenarioError";
    this.problems = safe;
  }

  // The builds for ES modules and for CommonJS each have this class: an error of either is an instance of both. `SandboxError` knows
  // the errors of both builds by a mark, and of these only a `ScenarioError` has `problems`.
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

  // Its tabs stay, so that the caret is under its character.
  const safeLines = lines.map((text) => text.split("\t").map(oneSafeLine).join("\t"));
  return safeLines.join("\n");
}

/** The problems as they are shown: those without a place, then those of the scenario's own text, then those of each extended one. */
export function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: WrittenScenario,
): ScenarioProblem[] {
  const placed = firstOfEachField(problems, scenario);

  // After the texts of the scenario, those that have problems and could not be merged with it.
  const texts = new Set(scenario.texts);
  for (const { place } of placed) {
    if (place !== undefined) texts.add(place.source);
  }
  const sources = [...texts];
  placed.sort(({ place: one }, { place: other }) => {
    if (one === undefined) return other === undefined ? 0 : -1;
    if (other === undefined) return 1;
    if (one.source === other.source) return one.offset - other.offset;
    return sources.indexOf(one.source) - sources.indexOf(other.source);
  });

  const firstProblems = placed.slice(0, maximumProblems);
  return firstProblems.map((problem) => problemAt(problem, problem.place?.describe(), scenario.file));
}

/** The problems with their places; of several problems of one field at one place, only the first. */
function firstOfEachField(problems: readonly FieldProblem[], { locate }: WrittenScenario): FieldProblem[] {
  const placed: FieldProblem[] = [];
  const seenIds = new Set<string>();
  for (const problem of problems) {
    const { field, pointAt = "value" } = problem;
    const location = locate(field, pointAt);
    const place = problem.place ?? location.place;

    // A field in the text is known by its name and its place: aliases give it several paths. Here, `status` is also the field
    // `faults[1].then.status`:
    //
    //   faults:
    //     - then: &down { status: 900 }
    //     - then: *down
    //
    // Fields that are not in the text can share the place of the mapping around them: each is known by its path.
    const known = location.isInText ? field.slice(-1) : field;
    const id = JSON.stringify([known, place?.offset, place?.source.file]);
    if (seenIds.has(id)) continue;
    seenIds.add(id);
    placed.push({ ...problem, place });
  }
  return placed;
}
