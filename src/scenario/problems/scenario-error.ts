import { isSandboxError, SandboxError } from "../../domain/errors.js";
import type { Diagnostic as Mistake } from "../../schema/messages.js";
import { type Place, redactLine, redactSecrets } from "./source.js";

/** The size of the largest scenario text that is read, in UTF-8 bytes: 1 MiB. */
export const maximumScenarioBytes = 1024 * 1024;
/** The deepest nesting of a scenario. The format itself needs seven levels. */
export const maximumDepth = 32;

/** The cause of each problem of a scenario, by its code; a closed list, stable for callers. */
export const problemCauses = {
  // The text
  too_large: "The scenario has more than 1 MiB, or too many parts or aliases.",
  not_text: "The file is not a text in UTF-8.",
  empty: "The file has no content.",
  yaml_syntax: "The text is not valid YAML: a tab, an open quote or bracket, or a colon in a plain text.",
  several_documents: "The file has more than one YAML document (`---`).",
  too_deep: "The values are nested too deep, or an alias contains itself.",
  bad_alias: "An alias (`*name`) refers to nothing above it.",
  yaml_tag: "The text has a YAML tag (`!!…`).",
  merge_key: "The text has a merge key (`<<`). Use an alias for a whole value, or `extends`.",
  forbidden_field: "A name is one that JavaScript reserves, such as `__proto__`.",
  duplicate_field: "A field is given twice.",
  not_plain_data: "A value passed to the library is not plain data: a getter, a function, a class.",
  // The shape
  not_a_mapping: "The scenario is not a mapping. It begins with `version: 1`.",
  unsupported_version: "`version` is not the number 1.",
  unknown_field: "There is no such field here; often it is misspelt, or belongs one level up or down.",
  missing_field: "A required field is missing.",
  wrong_type: "A value is of the wrong type: a text instead of a number, one value instead of a list.",
  bad_choice: "A value is none of those allowed.",
  bad_format: "A value is not written in the form that the field needs.",
  bad_ref: "A ref is not in kebab-case (`my-key`), or has no letter.",
  bad_time:
    "A time has no zone, does not exist or is outside of the years 0000 to 9999, or a duration has no unit.",
  out_of_range: "A number, a text or a list is too small or too large.",
  empty_list: "A list that needs an entry is empty.",
  // Extending another scenario
  extends_not_found: "`extends` names no bundled scenario and no file that can be found.",
  extends_failed: "The scenario that `extends` names cannot be read.",
  extends_loop: "Scenarios extend each other, or the chain of them is too long.",
  // What fields say of each other
  no_organizations: "The scenario has no organization and no population.",
  duplicate_organization_id: "Two organizations have the same id.",
  duplicate_key_ref: "Two keys have the same ref.",
  taken_by_population: "A ref is one that `population` makes.",
  unknown_key_ref: "A field names a key that the scenario does not have.",
  unknown_organization_ref: "A field names an organization that the scenario does not have.",
  too_many_keys: "The scenario has more than 100,000 keys, those of its population included.",
  too_many_active_keys: "An organization has more than five active keys in one environment (R32).",
  unknown_scope: "A scope is not in the list of `assumptions.scopes`.",
  duplicate_scope: "A scope is listed twice.",
  usage_contradiction: "A usage contradicts itself: more requests this minute than today (R24).",
  state_contradiction: "The state of a key contradicts its times, such as an active key that has expired.",
  secret_malformed: "A pinned secret has not the form of a key.",
  secret_mismatch: "A pinned secret has the prefix of another environment, or of legacy keys.",
  duplicate_secret: "Two keys have the same pinned secret.",
  replacement_missing: "A retiring or rotated key does not name its replacement (R37).",
  replacement_not_expected: "A key that was not replaced has `replaced_by` or `overlap_ends`.",
  replacement_elsewhere: "A replacement is of another organization or environment (R37).",
  replacement_shared: "Two keys have the same replacement (R37).",
  replacement_cycle: "Keys replace each other in a circle (R37).",
  replacement_legacy: "A replacement has a legacy prefix (R17).",
  replacement_differs:
    "A replacement has another name, other scopes or other limits than the old key (R26, R37).",
  overlap_out_of_range: "An overlap is longer than 7 days (R39).",
  fault_contradiction: "A fault says two things that exclude each other.",
  preview_off: "A field needs the preview. Write `preview: true`.",
  unknown_farmer: "There is no farmer of that number; `population.farmers` says how many there are.",
  consent_contradiction: "The times, permissions or decisions of a consent request exclude each other.",
  reserved_key_ref:
    "A key has the ref `none`, `malformed` or `unknown`, which have a meaning of their own in stories.",
  step_contradiction: "A step has members that do not go together.",
  timeline_order: "A step of the timeline is earlier than the one before it, or than the start of the clock.",
  // What running it shows
  step_fails: "A step of the timeline or the story does not come out as it says.",
  // A warning of `validate`
  secret_unmarked:
    "A warning: a pinned secret does not have `sbx` after its prefix and may be taken for a real key.",
} satisfies Record<string, string>;

/** Every way in which a scenario can be wrong; a closed list, stable for callers. */
export type ScenarioProblemCode = keyof typeof problemCauses;

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
export interface Diagnostic extends Mistake<ScenarioProblemCode> {
  /** The place, when the path alone does not give it. */
  readonly place?: Place | undefined;
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
    ...(hint !== undefined && { hint: redactSecrets(hint) }),
    ...(source !== undefined && { source: redactLine(source) }),
  };
}
