import { isSandboxError, SandboxError } from "../spec/errors.js";
import { escapeControls, redactKeys, redactValue, textWidth } from "../spec/redact.js";
import type { ShapeProblem as Mistake } from "../spec/schema/messages.js";

/** The cause of each problem of a scenario, by its code; a closed list, stable for callers. */
export const problemCauses = {
  // The text
  too_large: "More than 1 MiB, or too many parts or aliases.",
  not_text: "The file is not UTF-8 text.",
  empty: "The file has no content.",
  yaml_syntax: "Not valid YAML: a tab, an open quote or bracket, a tag, or a colon in a plain text.",
  several_documents: "The file has more than one YAML document (`---`).",
  too_deep: "Values are nested too deep, or an alias contains itself.",
  bad_alias: "An alias (`*name`) refers to nothing above it.",
  forbidden_field: "A name is reserved by JavaScript, such as `__proto__`.",
  duplicate_field: "A field appears twice.",
  not_plain_data: "The library got a getter, a function or a class.",
  // The shape
  not_a_mapping: "Start the scenario with `version: 1`.",
  unsupported_version: "`version` is not the number 1.",
  unknown_field: "The field does not exist here, but perhaps one level up or down.",
  missing_field: "A required field is missing.",
  wrong_type: "A value has the wrong type, such as text instead of a number.",
  bad_choice: "A value is not one of the allowed values.",
  bad_format: "A value does not have the field's format.",
  bad_ref: "A ref is not in kebab-case (`my-key`), or has no letter.",
  bad_time: "A time has no zone or does not exist, or a duration has no unit.",
  out_of_range: "A number, text or list is too small or too large.",
  empty_list: "A list that needs an entry is empty.",
  // Extending another scenario
  extends_not_found: "`extends` is neither a bundled scenario nor an existing file.",
  extends_failed: "The file in `extends` cannot be read, or is not a scenario.",
  extends_loop: "Scenarios extend each other.",
  // Fields that contradict each other
  no_organizations: "The scenario has no organization and no population.",
  duplicate_organization_id: "Two organizations have the same id, pinned or generated from the seed.",
  duplicate_key_ref: "Two keys have the same ref.",
  taken_by_population: "`population` already creates this ref.",
  unknown_key_ref: "The scenario does not have this key.",
  unknown_organization_ref: "The scenario does not have this organization.",
  too_many_keys: "More than 100,000 keys, including the population.",
  too_many_active_keys: "An organization has more than five active keys in one environment (R32).",
  unknown_scope: "A scope is not in the list of `assumptions.scopes`.",
  duplicate_scope: "A scope is listed twice.",
  usage_contradiction: "More requests this minute than today (R24).",
  state_contradiction: "A key's state contradicts its times.",
  secret_malformed: "A pinned secret does not have a key's format.",
  secret_mismatch: "A pinned secret has the prefix of another environment, or of legacy keys.",
  duplicate_secret: "A pinned secret is also another key's, pinned or generated from the seed.",
  replacement_missing: "A retiring or rotated key does not name its replacement (R37).",
  replacement_not_expected: "A key that was not replaced has `replaced_by` or `overlap_ends`.",
  replacement_elsewhere: "A replacement is of another organization or environment (R37).",
  replacement_shared: "Two keys have the same replacement (R37).",
  replacement_cycle: "A key replaces itself, or keys replace each other in a circle (R37).",
  replacement_legacy: "A replacement has a legacy prefix (R17).",
  replacement_differs: "A replacement's name, scopes or limits differ from the old key's (R26, R37).",
  overlap_out_of_range: "An overlap is longer than 7 days (R39).",
  fault_contradiction: "A fault has two settings that exclude each other.",
  reserved_key_ref: "A key has the ref `none`, `malformed` or `unknown`, which stories need.",
  step_contradiction: "A step has fields that exclude each other.",
  timeline_order: "A timeline step is before the previous step or the clock's start.",
  // The document of `openapi`
  openapi_not_found: "`openapi` is not a file that can be read.",
  openapi_version: "The document is not OpenAPI 3.0, 3.1 or 3.2.",
  openapi_invalid: "The structure of the document is not valid OpenAPI.",
  openapi_reference: "A `$ref` of the document leads outside of it, to nothing, or back to itself.",
  openapi_conflict: "An operation has a path that the sandbox needs itself.",
  openapi_name: "A name of the document has a character that would change the texts that show it.",
  unknown_operation: "`operations` names an operation that the document does not have.",
  openapi_missing: "A field needs a document (`openapi`), or records of one (`records`).",
  record_invalid:
    "`records` names an operation that the document lacks, or a value that its schemas do not allow.",
  unknown_example: "`examples` names an operation or an example that the document does not have.",
  // Found by running it
  step_fails: "A step has another result than expected.",
  // A warning of `validate`
  secret_unmarked: "A warning: a pinned secret without `sbx` after its prefix looks like a real key.",
} satisfies Record<string, string>;

/** The code of each problem of a scenario. A closed list, stable for callers. */
export type ScenarioProblemCode = keyof typeof problemCauses;

/** One problem of a scenario. Never contains a full key. */
export interface ScenarioProblem {
  readonly code: ScenarioProblemCode;
  /** The field, as in `organizations.harvest-bank.keys.active.state`; empty for the scenario as a whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
  readonly file?: string;
  /** Counted from 1. Missing, like `column`, if the scenario was not read from a text. */
  readonly line?: number;
  /** Counted from 1, in UTF-16 units, as editors count. */
  readonly column?: number;
  /** The text of the line; of a long one the part around the column. Missing if the text is not valid YAML. */
  readonly source?: string;
  /** The line to print under `source`: empty space and `^` at the column. */
  readonly caret?: string;
}

export interface ScenarioMistake extends Mistake<ScenarioProblemCode> {
  readonly place?: SourcePlace | undefined;
}

const unnamedScenario = "<scenario>";

const shownProblems = 20;

/** Thrown for a scenario that is not valid, with all its problems. Neither the message nor `problems` shows a full key. */
export class ScenarioError extends SandboxError {
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const safe = redactValue(problems, redactSecrets, (name) => name === "code" || name === "file");
    super("scenario_invalid", messageOf(safe), { problems: safe });
    this.name = "ScenarioError";
    this.problems = safe;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return isSandboxError(value) && "problems" in value;
  }
}

/** A problem for people: `file:line:column: message`, the line, a caret, the hint. */
export function formatProblem(problem: Omit<ScenarioProblem, "code">): string {
  const { file = unnamedScenario, line, column, source, caret, message, hint } = problem;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const field = line === undefined && problem.path !== "" ? `${problem.path}: ` : "";
  const lines = [`${place}: ${field}${message}`];
  const nothingToSee = source === undefined || source.trim() === "";
  if (!nothingToSee && caret !== undefined) lines.push(`  ${source}`, `  ${caret}`);
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  return lines.map(escapeControls).join("\n");
}

function messageOf(problems: readonly ScenarioProblem[]): string {
  const shown = problems.slice(0, shownProblems).map(formatProblem);
  const rest = problems.length - shown.length;
  if (rest > 0) shown.push(`… and ${rest} more`);
  return shown.join("\n\n");
}

export interface SourceText {
  readonly file: string | undefined;
  /** Without a byte order mark, each line end a `\n` or `\r\n`. */
  readonly text: string;
  /** Finds the values of secrets as `[start, end]`, in order; `undefined` if the text is not valid YAML: no line is shown then. */
  secrets: (() => readonly TextRange[]) | undefined;
}

export type TextRange = readonly [start: number, end: number];

export interface SourcePlace {
  readonly source: SourceText;
  readonly offset: number;
  /** Describes the place. Comes with the reader of the text, so that pages without the reader do not load it. */
  readonly describe: () => PlaceDescription;
}

/** A place for people. */
export interface PlaceDescription extends Pick<ScenarioProblem, "source" | "caret"> {
  readonly line: number;
  readonly column: number;
}

/** A text without possible keys, with a prefix or not: long runs of letters and digits that are not words. */
export function redactSecrets(text: string): string {
  // An operation id is words, each with a capital.
  const words = /^[A-Z]?[a-z]+$|^[A-Z]+$|^[a-z]{2,}(?:[A-Z][a-z]{2,})+$/;
  const isWord = (run: string) => !/\d/.test(run) && (run.length < 20 || words.test(run));
  return redactKeys(text).replace(/[A-Za-z0-9]{16,}/g, (run) => (isWord(run) ? run : `${run.slice(0, 4)}…`));
}

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const width = 72;

/** The part of a line around a column, and a caret that is right also after tabs and wide characters. */
export function excerptOf(line: string, column: number) {
  const at = Math.min(Math.max(column - 1, 0), line.length);
  // Scenarios may have lines of a megabyte.
  const before = charactersOf(line.slice(Math.max(0, at - 1_000), at)).reverse();
  const after = charactersOf(line.slice(at, at + 1_000));
  const left = fitting(before, Math.max(width / 2, width - fitting(after, width).columns));
  const right = fitting(after, width - left.columns);
  const [start, end] = [at - left.length, at + right.length];
  const shown = (start > 0 ? "…" : "") + line.slice(start, at);
  return { text: shown + line.slice(at, end) + (end < line.length ? "…" : ""), caret: `${blank(shown)}^` };
}

/** What a reader calls characters: a family is one. */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

/** The first characters that fit in so many columns. */
function fitting(characters: readonly string[], limit: number): { columns: number; length: number } {
  const fit = { columns: 0, length: 0 };
  for (const character of characters) {
    // A tab has at least one.
    const columns = Math.max(1, textWidth(character));
    if (fit.columns + columns > limit) break;
    fit.columns += columns;
    fit.length += character.length;
  }
  return fit;
}

function blank(text: string): string {
  return text.replace(/[^\t]+/g, (part) => " ".repeat(textWidth(part)));
}
