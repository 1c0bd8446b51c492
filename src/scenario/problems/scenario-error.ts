import { isSandboxError, SandboxError } from "../../domain/errors.js";
import { redactKeys } from "../../domain/redact.js";
import { type Place, redactLine, redactSecrets } from "../read/source.js";

/** The names of mappings and the positions in lists on the way to a field. */
export type Path = readonly (string | number)[];

/** Every way in which a scenario can be wrong; a closed list, stable for callers. */
export type ScenarioProblemCode =
  // The text
  | "too_large"
  | "not_text"
  | "empty"
  | "yaml_syntax"
  | "several_documents"
  | "too_deep"
  | "bad_alias"
  | "yaml_tag"
  | "merge_key"
  | "forbidden_field"
  | "duplicate_field"
  | "not_plain_data"
  // The shape
  | "not_a_mapping"
  | "unsupported_version"
  | "unknown_field"
  | "missing_field"
  | "wrong_type"
  | "bad_choice"
  | "bad_format"
  | "bad_ref"
  | "bad_time"
  | "out_of_range"
  | "empty_list"
  // Extending another scenario
  | "extends_not_found"
  | "extends_failed"
  | "extends_loop"
  // What fields say of each other
  | "no_organizations"
  | "duplicate_organization_id"
  | "duplicate_key_ref"
  | "taken_by_population"
  | "unknown_key_ref"
  | "unknown_organization_ref"
  | "too_many_active_keys"
  | "unknown_scope"
  | "duplicate_scope"
  | "usage_contradiction"
  | "state_contradiction"
  | "secret_malformed"
  | "secret_mismatch"
  | "duplicate_secret"
  | "replacement_missing"
  | "replacement_not_expected"
  | "replacement_elsewhere"
  | "replacement_shared"
  | "replacement_cycle"
  | "replacement_legacy"
  | "replacement_differs"
  | "overlap_out_of_range"
  | "fault_contradiction"
  | "preview_off"
  | "unknown_farmer"
  | "consent_contradiction"
  | "reserved_key_ref"
  | "step_contradiction"
  | "timeline_order"
  // What running it shows
  | "step_fails"
  // A warning of `validate`
  | "secret_unmarked";

/** One thing that is wrong with a scenario. Never holds a full key. */
export interface ScenarioProblem {
  readonly code: ScenarioProblemCode;
  /** The field, as in `organizations.harvest-bank.keys.active.state`; empty for the scenario as a whole. */
  readonly path: string;
  /** The mistake, as one clause. */
  readonly message: string;
  /** The way to mend it. */
  readonly hint?: string;
  readonly file?: string;
  /** Counted from 1; left out, like `column` and `source`, when the scenario was not read from a text. */
  readonly line?: number;
  /** Counted from 1, in UTF-16 units, as editors count. */
  readonly column?: number;
  /** The text of the line; of a long one the part around the column. */
  readonly source?: string;
  /** The line to print under `source`: empty space and `^` at the column. */
  readonly caret?: string;
}

/** A problem before its place in the text is looked up. */
export interface Diagnostic {
  readonly code: ScenarioProblemCode;
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Whether to point at the name of the field instead of its value. */
  readonly pointAt?: "key" | "value";
  /** The field that was probably meant. */
  readonly suggestion?: Path | undefined;
  /** The place, when the path alone does not give it. */
  readonly place?: Place | undefined;
}

/**
 * A path as people write it.
 *
 * @example
 * pathText(["organizations", "bank", "keys", "main", "scopes", 1]); // "organizations.bank.keys.main.scopes[1]"
 */
export function pathText(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("");
}

/** The name of a scenario that has no file. */
const unnamedScenario = "<scenario>";

/** The number of problems that the message shows; `problems` holds them all. */
const shownProblems = 20;

/**
 * Thrown for a scenario that cannot be used, with everything that is wrong with it.
 *
 * The message is for people: for each problem its place, the line with a caret, and a hint. Nothing in it or in
 * `problems` shows a full key.
 */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const safe = problems.map(withoutKeys);
    super("scenario_invalid", messageOf(safe), { problems: safe });
    this.name = "ScenarioError";
    this.problems = safe;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return isSandboxError(value) && "problems" in value;
  }
}

/**
 * One problem as people read it: `file:line:column: message`, the line, a caret, the hint.
 *
 * @example
 * world.yaml:7:15: unknown field "perMinute" in organizations.bank.keys.main.limits
 *   limits: { perMinute: 60 }
 *             ^
 * hint: did you mean "per_minute"?
 */
export function formatProblem(problem: Omit<ScenarioProblem, "code">): string {
  const { file = unnamedScenario, line, column, source, caret, message, hint } = problem;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const field = line === undefined && problem.path !== "" ? `${problem.path}: ` : "";
  const lines = [`${place}: ${field}${message}`];
  const nothingToSee = source === undefined || source.trim() === "";
  if (!nothingToSee && caret !== undefined) lines.push(`  ${source}`, `  ${caret}`);
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  return lines.join("\n");
}

function messageOf(problems: readonly ScenarioProblem[]): string {
  const shown = problems.slice(0, shownProblems).map(formatProblem);
  const rest = problems.length - shown.length;
  if (rest > 0) shown.push(`… and ${rest} more`);
  return shown.join("\n\n");
}

function withoutKeys(problem: ScenarioProblem): ScenarioProblem {
  const { path, message, hint, source } = problem;
  return {
    ...problem,
    path: redactSecrets(path),
    message: redactSecrets(message),
    ...(hint === undefined ? {} : { hint: redactSecrets(hint) }),
    ...(source === undefined ? {} : { source: redactLine(source) }),
  };
}

/** The refusal of a value that is not from a scenario, with what is wrong with each field in `details.fields`. */
export function validationError(failure: string, diagnostics: readonly Diagnostic[]): SandboxError {
  const problems = diagnostics.map(({ path, message, hint }) => [
    redactKeys(path.join(".")) || "body",
    redactKeys(hint === undefined ? message : `${message}: ${hint}`),
  ]);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new SandboxError("validation_failed", `${failure}: ${problems[0]?.[1]}${more}.`, {
    fields: Object.fromEntries(problems),
  });
}
