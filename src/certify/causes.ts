import { lengtheningRows } from "../api/variation/table.js";
import { listed } from "../rules/schema/words.js";
import type { VariedPoint } from "../sandbox/run-trace.js";
import type { RowChoice } from "../sandbox/variants.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import type { Finding } from "./judgment.js";
import type { Runs, WhichRun } from "./runs.js";
import { idOfPoint, remedyOf, wordsOf } from "./varied-points.js";

/** Why varied runs fail: one row, the seed, or nothing that certify can tell. */
export interface Cause extends Pick<Finding, "sentence" | "whatToDo" | "row" | "points"> {
  /** The runs that fail for it, in the order of their seeds. */
  readonly failed: readonly ClientRun[];
  /** The run that shows it: only its row varied there, if it has one. */
  readonly shownBy: ClientRun;
}

/** A row that has failed alone, twice, and without which its run passes. */
interface RowCause {
  readonly row: string;
  /** What varied when it failed alone. */
  readonly points: readonly VariedPoint[];
  readonly shownBy: ClientRun;
  readonly failed: readonly ClientRun[];
}

/** What a search in one run shows: its causes that were not known before, that its seed breaks it without any row, or nothing. */
type SearchResult =
  | { readonly kind: "rows"; readonly causes: readonly RowCause[] }
  | { readonly kind: "seed" | "unknown" };

const longBody = "body_length";
/** A long body explains each row that lengthens one: only the length may break the client. */
const longerBy = [...lengtheningRows.map(({ id }) => id), "organization.name_ending", "key.granted_scopes"];

function isCoveredBy(cause: RowCause, row: string): boolean {
  return cause.row === row || (cause.row === longBody && longerBy.includes(row));
}

function rowsOf({ points }: ClientRun): string[] {
  const rows = new Set(points.map(({ row }) => row));
  return [...rows];
}

function inOrder(runs: readonly ClientRun[]): ClientRun[] {
  return runs.toSorted((one, other) => one.seed - other.seed);
}

/** Those with a long body first: it explains rows that lengthen one. */
function longFirst(runs: readonly ClientRun[]): ClientRun[] {
  const isLong = (run: ClientRun) => rowsOf(run).includes(longBody);
  return [...runs.filter(isLong), ...runs.filter((run) => !isLong(run))];
}

/** The most seeds that are searched in vain, and the most in which a failure without any row must come twice. */
const maxVain = 2;

/** Finds the rows of the variation table that each bring a failure back alone. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<Cause[]> {
  if ((await runs.repeat(failures)) !== "failed_again") return [];
  let causes: readonly RowCause[] = [];
  const seed: ClientRun[] = [];
  const unknown: ClientRun[] = [];
  for (const run of longFirst(failures)) {
    const found = await searchIn(runs, run, failures, { causes, seed, unknown });
    // If it is not the seed, but a command that no longer passes at all, this run contradicts the first one.
    if (found.kind === "seed" && seed.length === 0) await runs.make("plain", {}, { series: "after search" });
    if (runs.isStopped || runs.contradiction !== undefined) return causes.map(rowCause);

    if (found.kind === "rows") causes = withRun([...causes, ...found.causes], run);
    else if (found.kind === "seed") seed.push(run);
    else unknown.push(run);
  }

  const all = causes.map(rowCause);
  if (seed.length > 0) all.push(seedCause(inOrder(seed)));
  if (unknown.length > 0) all.push(unknownCause(unknown));
  return all;
}

/** What the searches in other runs have shown. */
interface Known {
  readonly causes: readonly RowCause[];
  readonly seed: readonly ClientRun[];
  readonly unknown: readonly ClientRun[];
}

/** Finds what breaks one run: the causes that are known, its seed without any row, other rows, or nothing that can be told. */
async function searchIn(
  runs: Runs,
  run: ClientRun,
  failures: readonly ClientRun[],
  known: Known,
): Promise<SearchResult> {
  const first = new Search(runs, run, failures, "first search");
  if (await first.passesWithout(known.causes)) return { kind: "rows", causes: [] };

  // Each row would seem to break it alone.
  const times = known.seed.length < maxVain ? 2 : 1;
  if (await first.fails([], times)) return { kind: "seed" };
  if (known.unknown.length === maxVain) return { kind: "unknown" };

  const causes = await first.newCauses(known.causes);
  if (causes !== undefined) return { kind: "rows", causes };
  // The second search reads no run of the first one: each of these may have passed by chance.
  const second = new Search(runs, run, failures, "second search");
  const ofSecond = await second.newCauses(known.causes);
  if (ofSecond !== undefined) return { kind: "rows", causes: ofSecond };

  // It may have failed by chance twice; one that does not end takes long, and does so by no chance.
  if (run.result === "failed" && runs.contradiction === undefined)
    for (const nth of [1, 2, 3]) await runs.makeLike(run, { nth, series: "after search" });
  return { kind: "unknown" };
}

/** Adds a run to the causes whose variants it has, or else to those whose rows it has. */
function withRun(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const variants = run.points.map(({ row, variant }) => `${row} ${variant}`);
  const hasVariant = ({ points }: RowCause) =>
    points.some(({ row, variant }) => variants.includes(`${row} ${variant}`));
  const hasRow = (cause: RowCause) => rowsOf(run).some((row) => isCoveredBy(cause, row));
  const isOfRun = causes.some(hasVariant) ? hasVariant : hasRow;

  const added: RowCause[] = [];
  for (const cause of causes) {
    const isNew = isOfRun(cause) && !cause.failed.includes(run);
    added.push(isNew ? { ...cause, failed: [...cause.failed, run] } : cause);
  }
  return added;
}

/** A search in one varied run that failed. A run that passes decides; one that fails may do so by chance. */
class Search {
  readonly #runs: Runs;
  readonly #run: ClientRun;
  readonly #failures: readonly ClientRun[];
  readonly #series: WhichRun["series"];

  constructor(runs: Runs, run: ClientRun, failures: readonly ClientRun[], series: WhichRun["series"]) {
    this.#runs = runs;
    this.#run = run;
    this.#failures = failures;
    this.#series = series;
  }

  /** Finds rows that each break the run alone, until it passes without them and the known ones; `undefined` if it never does. */
  async newCauses(known: readonly RowCause[]): Promise<readonly RowCause[] | undefined> {
    const causes: RowCause[] = [];
    while (!(await this.passesWithout([...known, ...causes]))) {
      const rows = this.#rowsBesides([...known, ...causes]);
      if (rows.length === 0) return undefined;
      const culprit = await this.#culpritOf(rows);
      const cause = await this.#causeIn(culprit);
      if (cause === undefined) return undefined;
      causes.push(cause);
    }
    return causes;
  }

  /** Whether it passes without the rows of these causes, which it has. */
  async passesWithout(causes: readonly RowCause[]): Promise<boolean> {
    const rows = this.#rowsBesides(causes);
    if (rows.length === rowsOf(this.#run).length) return false;
    return !(await this.fails(choicesOf(rows), 2));
  }

  /** Whether it fails so many times while only this varies. */
  async fails(choices: readonly RowChoice[], times = 1): Promise<boolean> {
    for (let nth = 1; nth <= times; nth++) {
      const run = await this.#make(choices, nth);
      if (!hasFailed(run)) return false;
    }
    return true;
  }

  #rowsBesides(causes: readonly RowCause[]): string[] {
    return rowsOf(this.#run).filter((row) => !causes.some((cause) => isCoveredBy(cause, row)));
  }

  /** The row of these, which together break the run, that breaks it: a long body, or one that is left after halving them. */
  async #culpritOf(rows: readonly string[]): Promise<string> {
    if (rows.includes(longBody) && (await this.fails([{ row: longBody }]))) return longBody;

    const suspects = this.#newInEachFailure(rows);
    const areFewer = suspects.length > 0 && suspects.length < rows.length;
    if (areFewer && (await this.fails(choicesOf(suspects)))) return this.#halved(suspects);
    return this.#halved(rows);
  }

  /** The rows of which a variant that no run passed with varied in each run that failed. */
  #newInEachFailure(rows: readonly string[]): string[] {
    const harmless = new Set<string>();
    for (const run of this.#runs.all) {
      if (run.result !== "passed") continue;
      for (const point of run.points) harmless.add(idOfPoint(point));
    }
    const newRowsOf = (run: ClientRun) => {
      const points = run.points.filter((point) => !harmless.has(idOfPoint(point)));
      return points.map(({ row }) => row);
    };
    const newRows = this.#failures.map(newRowsOf);
    return rows.filter((row) => newRows.every((ofRun) => ofRun.includes(row)));
  }

  /** If the first half does not break the run, the second one does. */
  async #halved(rows: readonly string[]): Promise<string> {
    let left = rows;
    while (left.length > 1) {
      const middle = Math.ceil(left.length / 2);
      const first = left.slice(0, middle);
      const isInFirst = await this.fails(choicesOf(first));
      left = isInFirst ? first : left.slice(middle);
    }
    return left[0] as string; // there is one
  }

  /** A row is a cause if it fails alone: twice on the responses of one status, or else three times on all of them. */
  async #causeIn(row: string): Promise<RowCause | undefined> {
    const ofRun = this.#run.points.filter((point) => point.row === row);
    if (ofRun.length > 1) {
      const cause = await this.#confirmOnOneStatus(ofRun);
      if (cause !== undefined) return cause;
    }
    const alone = await this.#make([{ row }]);
    if (!hasFailed(alone)) return undefined;

    // A run that stops at its first failure may have varied the row on fewer statuses than the row alone.
    const ofAlone = alone.points.filter((point) => point.row === row);
    const points = uniquePoints([...ofRun, ...ofAlone]);
    if (points.length === 1) return this.#confirm({ row }, points, 2);
    const onOneStatus = await this.#confirmOnOneStatus(points);
    return onOneStatus ?? this.#confirm({ row }, points, 3);
  }

  async #confirmOnOneStatus(points: readonly VariedPoint[]): Promise<RowCause | undefined> {
    for (const point of points) {
      const cause = await this.#confirm({ row: point.row, status: point.status }, [point], 2);
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  async #confirm(
    choice: RowChoice,
    points: readonly VariedPoint[],
    times: number,
  ): Promise<RowCause | undefined> {
    const shownBy = await this.#make([choice]);
    if (!hasFailed(shownBy) || !(await this.fails([choice], times))) return undefined;
    return { row: choice.row, points, shownBy, failed: [this.#run] };
  }

  /** Makes the run while only this varies, until two runs under one condition end differently. */
  async #make(rows: readonly RowChoice[], nth = 1): Promise<ClientRun | undefined> {
    if (this.#runs.contradiction !== undefined) return undefined;
    return this.#runs.makeLike(this.#run, { rows, nth, series: this.#series });
  }
}

const choicesOf = (rows: readonly string[]): RowChoice[] => rows.map((row) => ({ row }));

function uniquePoints(points: readonly VariedPoint[]): VariedPoint[] {
  const byId = new Map(points.map((point) => [idOfPoint(point), point]));
  return [...byId.values()];
}

function rowCause({ row, points, shownBy, failed }: RowCause): Cause {
  return { row, points, ...wordsOfCause(row, points, shownBy), failed: inOrder(failed), shownBy };
}

/** The sentence and the fix of a row that breaks the client alone. */
function wordsOfCause(
  row: string,
  points: readonly VariedPoint[],
  shownBy: ClientRun,
): Pick<Finding, "sentence" | "whatToDo"> {
  const isLate = shownBy.result === "timed_out";
  // It reads the header, and does what it asks for.
  if (isLate && row === "retry_after") return waitsTooLong(shownBy);

  const statuses = new Set<string>();
  const variants = new Set<string>();
  for (const { status, variant } of points) {
    statuses.add(`a ${status}`);
    const words = wordsOf(row, variant);
    if (words !== undefined) variants.add(words);
  }
  let responses = listed([...statuses].sort(), "and");
  if (statuses.size > 1) responses = `each of ${responses}`;
  const what = `when ${responses} ${listed([...variants], "or")}`;

  const remedy = remedyOf(row);
  if (!isLate) return { sentence: `Breaks ${what}`, whatToDo: remedy };
  return { sentence: `Does not end in time ${what}`, whatToDo: `${remedy} ${limitWait}` };
}

const limitWait = "Limit how long your client waits. If it may wait that long, set a longer --timeout.";

function waitsTooLong({ last, timeouts }: ClientRun): Pick<Finding, "sentence" | "whatToDo"> {
  const waits = `Waits longer than ${Math.round(timeouts.total / 1000)} s`;
  if (last?.outcome !== "429.per_day")
    return { sentence: `${waits}, as \`Retry-After\` of a 429 asks`, whatToDo: limitWait };
  return {
    sentence: `${waits}, as \`Retry-After\` of a daily limit asks`,
    whatToDo:
      "Limit how long your client waits, and tell its caller of the limit: a day is too long. Or test it with a key that is limited by the minute.",
  };
}

function seedsIn(failed: readonly ClientRun[]): string {
  const seeds = failed.map(({ seed }) => String(seed));
  return `${seeds.length === 1 ? "seed" : "seeds"} ${listed(seeds, "and")}`;
}

function seedCause(failed: readonly ClientRun[]): Cause {
  return {
    shownBy: failed[0] as ClientRun,
    sentence: `Fails with ${seedsIn(failed)} even when nothing is varied`,
    whatToDo:
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
    failed,
  };
}

/** Its sentence is about the seeds that were searched. */
function unknownCause(failed: readonly ClientRun[]): Cause {
  const searched = inOrder(failed.slice(0, maxVain));
  const shownBy = searched[0] as ClientRun;
  const { last, result, code } = shownBy;
  const how = result === "timed_out" ? "does not end in time" : `fails with exit code ${code}`;
  const sentence = `The command ${how} with ${seedsIn(searched)}: no single row of varied responses brings it back`;

  let whatToDo = "The command got no response.";
  if (last)
    whatToDo = `Look at what the command prints, and at the last response (${last.outcome}, ${last.id}).`;
  return { shownBy, sentence, whatToDo, failed: inOrder(failed) };
}
