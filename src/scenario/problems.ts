import { SandboxError } from "../rules/errors.js";
import { mapTexts, redactPlainKeys } from "../rules/keys/redact.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { maximumProblems, type Problem } from "../schema/check.js";
import type { FieldPath } from "../schema/shape.js";

/** The codes of what is valid, and usually a mistake: warnings, and no errors. */
export const warningCodes = ["secret_unmarked", "scope_unheld"] as const;

/** The code of each problem of a scenario; a closed list, stable for callers. */
const problemCodes = [
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

/** The text of a scenario. */
export interface SourceText {
  readonly file: string | undefined;
  /** The text has no byte order mark, and each line ends with `\n` or `\r\n`. */
  readonly text: string;
}

export interface Place {
  readonly source: SourceText;
  readonly offset: number;
}

/** A problem of a field. Its place is that of its field in the texts, unless it has one of its own. */
export interface FieldProblem extends Problem<ScenarioProblemCode> {
  readonly place?: Place | undefined;
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

  /** Adds a problem whose field is inside of this one. */
  addAt(field: FieldPath, problem: FieldProblem): void {
    if (this.isFull) return;
    this.found.push({ ...problem, field: [...field, ...problem.field] });
  }
}

/** In place of a file, for a scenario without one. */
const unnamedScenario = "<scenario>";

/** The message of an error shows at most this many problems. */
const shownProblems = 20;

/** Thrown for a scenario that is not valid, with all its problems. Neither the message nor `problems` shows a full key. */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    // `SandboxError` takes the keys out of its details; a word in the text of a scenario may also be another secret.
    const isOurs = (member: string) => member === "code" || member === "file";
    const safe = mapTexts(problems, redactSecrets, isOurs);
    const texts = safe.slice(0, shownProblems).map(formatProblem);
    if (safe.length > shownProblems) texts.push(`… and ${safe.length - shownProblems} more`);
    super("scenario_invalid", texts.join("\n\n"), { problems: safe });
    this.name = "ScenarioError";
    this.problems = this.details.problems as readonly ScenarioProblem[]; // a copy of these, without keys
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

// A secret is known by its prefix, by its look, or by the name in front of it. No problem shows one (R46).

/**
 * A name with one of these words, also misspelled, and what follows it up to a double quote or the end of the line: `secret: hunter2`,
 * `"api_key":"hunter2"`, `secert: hunter2`.
 */
const namedSecret = /((?:s[ecré]{3,5}t|token|api[\s_-]?key)s?[\\"']*\s*:[\\\s"']*)[^"\n]+/gi;

/** A text without possible secrets: keys with a prefix, what follows the name of a secret, long runs that are no word and no number. */
export function redactSecrets(text: string): string {
  const withoutNamed = redactPlainKeys(text).replace(namedSecret, "$1…");
  return withoutNamed.replace(/[A-Za-z0-9]{16,}/g, (run) => {
    const isHarmless = harmlessRuns.some((pattern) => pattern.test(run));
    return isHarmless ? run : `${run.slice(0, 4)}…`;
  });
}

/** What a run of letters and digits can be that is no secret, each with an example. A key such as `4eC39HqLyjWDarjt` is none of them. */
const harmlessRuns: readonly RegExp[] = [
  // A number: `1772442000000`
  /^\d{1,20}$/,
  // A word in capitals: `INTERNATIONALIZATION`
  /^[A-Z]+$/,
  // Letters with capitals anywhere, if they are few: `readURLOfWebhooks`
  /^[A-Za-z]{1,19}$/,
  // Words of two letters or more, each with a capital but the first, and then a small number: `listConsentsByFarmerId`, `corebankingsystem2`
  /^[A-Za-z][a-z]+(?:[A-Z][a-z]+)*\d{0,3}$/,
];
