import { lengtheningRows } from "../api/variation/table.js";
import { listed } from "../rules/schema/words.js";
import type { VariedPoint } from "../sandbox/run-trace.js";
import type { RowChoice } from "../sandbox/variants.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import type { Finding } from "./judgment.js";
import type { Runs } from "./runs.js";
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
const coveredBy = (row: string) => (row === longBody ? [row, ...longerBy] : [row]);

const rowsOf = ({ points }: ClientRun) => [...new Set(points.map(({ row }) => row))];
const isLong = (run: ClientRun) => Number(rowsOf(run).includes(longBody));
const inOrder = (runs: readonly ClientRun[]) => runs.toSorted((one, other) => one.seed - other.seed);

/** The most seeds that are searched in vain. */
const maxVain = 2;

/** Finds the rows of the variation table that each bring a failure back alone. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<Cause[]> {
  if ((await runs.repeat(failures)) !== "failed_again") return [];
  let causes: readonly RowCause[] = [];
  const unexplained = { seed: [] as ClientRun[], unknown: [] as ClientRun[] };
  for (const run of failures.toSorted((one, other) => isLong(other) - isLong(one))) {
    const isSearched =
      unexplained.unknown.length < maxVain ||
      (await new Search(runs, run, failures, "first").passesWithout(causes));
    const result = isSearched ? await searchTwice(runs, run, failures, causes) : inVain;
    if (runs.isStopped || runs.contradiction !== undefined) return causes.map(rowCause);
    if (result.kind === "rows") causes = withRun([...causes, ...result.causes], run);
    else unexplained[result.kind].push(run);
  }
  const { seed, unknown: others } = unexplained;
  return [
    ...causes.map(rowCause),
    ...(seed.length > 0 ? [seedCause(inOrder(seed))] : []),
    ...(others.length > 0 ? [unknownCause(others)] : []),
  ];
}

const inVain: SearchResult = { kind: "unknown" };

/** The second search reads no run of the first one: each of these may have passed by chance. */
async function searchTwice(
  runs: Runs,
  run: ClientRun,
  failures: readonly ClientRun[],
  known: readonly RowCause[],
): Promise<SearchResult> {
  const first = new Search(runs, run, failures, "first");
  const causes = await first.newCauses(known);
  if (causes !== undefined) return { kind: "rows", causes };
  if (await first.fails([], 2)) return { kind: "seed" };
  const ofSecond = await new Search(runs, run, failures, "second").newCauses(known);
  if (ofSecond !== undefined) return { kind: "rows", causes: ofSecond };
  // It may have failed by chance twice; one that does not end takes long, and does so by no chance.
  if (run.result === "failed" && runs.contradiction === undefined)
    for (const nth of [1, 2, 3]) await runs.makeLike(run, { repetition: `last ${nth}` });
  return inVain;
}

/** Adds a run to the causes whose variants it has, or else to those whose rows it has. */
function withRun(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const variants = run.points.map(({ row, variant }) => `${row} ${variant}`);
  const hasVariant = ({ points }: RowCause) =>
    points.some(({ row, variant }) => variants.includes(`${row} ${variant}`));
  const hasRow = ({ row }: RowCause) => coveredBy(row).some((covered) => rowsOf(run).includes(covered));
  const isOfRun = causes.some(hasVariant) ? hasVariant : hasRow;
  return causes.map((cause) =>
    isOfRun(cause) ? { ...cause, failed: [...new Set([...cause.failed, run])] } : cause,
  );
}

/** A search in one varied run that failed. A run that passes decides; one that fails may do so by chance. */
class Search {
  readonly #runs: Runs;
  readonly #run: ClientRun;
  readonly #failures: readonly ClientRun[];
  readonly #name: "first" | "second";

  constructor(runs: Runs, run: ClientRun, failures: readonly ClientRun[], name: "first" | "second") {
    this.#runs = runs;
    this.#run = run;
    this.#failures = failures;
    this.#name = name;
  }

  /** Finds rows that each break the run alone, until it passes without them and the known ones; `undefined` if it never does. */
  async newCauses(known: readonly RowCause[]): Promise<readonly RowCause[] | undefined> {
    const causes: RowCause[] = [];
    while (!(await this.passesWithout([...known, ...causes]))) {
      const rows = this.#rowsBesides([...known, ...causes]);
      const cause = rows.length === 0 ? undefined : await this.#causeIn(await this.#culpritOf(rows));
      if (cause === undefined) return undefined;
      causes.push(cause);
    }
    return causes;
  }

  /** Whether it passes without the rows of these causes, which it has. */
  async passesWithout(causes: readonly RowCause[]): Promise<boolean> {
    const rows = this.#rowsBesides(causes);
    return rows.length < rowsOf(this.#run).length && !(await this.fails(choicesOf(rows), 2));
  }

  /** Whether it fails so many times while only this varies. */
  async fails(choices: readonly RowChoice[], times = 1): Promise<boolean> {
    for (let nth = 1; nth <= times; nth++) if (!hasFailed(await this.#make(choices, nth))) return false;
    return true;
  }

  #rowsBesides(causes: readonly RowCause[]): string[] {
    const explained = causes.flatMap(({ row }) => coveredBy(row));
    return rowsOf(this.#run).filter((row) => !explained.includes(row));
  }

  /** Halves rows that break the run until one is left: those first of which something new varied in each run that failed. */
  async #culpritOf(rows: readonly string[]): Promise<string> {
    if (rows.includes(longBody) && (await this.fails([{ row: longBody }]))) return longBody;
    const passed = this.#runs.all.filter(({ result }) => result === "passed");
    const harmless = new Set(passed.flatMap(({ points }) => points.map(idOfPoint)));
    const isNewIn = ({ points }: ClientRun, row: string) =>
      points.some((point) => point.row === row && !harmless.has(idOfPoint(point)));
    const suspects = rows.filter((row) => this.#failures.every((run) => isNewIn(run, row)));
    const areFewer = suspects.length > 0 && suspects.length < rows.length;
    return this.#halved(areFewer && (await this.fails(choicesOf(suspects))) ? suspects : rows);
  }

  /** If the first half does not break the run, the second one does. */
  async #halved(rows: readonly string[]): Promise<string> {
    if (rows.length === 1) return rows[0] as string;
    const middle = Math.ceil(rows.length / 2);
    const first = rows.slice(0, middle);
    return this.#halved((await this.fails(choicesOf(first))) ? first : rows.slice(middle));
  }

  /** A row is a cause if it fails alone: twice on the responses of one status, or else three times on all of them. */
  async #causeIn(row: string): Promise<RowCause | undefined> {
    const ofRun = this.#run.points.filter((point) => point.row === row);
    const onOne = ofRun.length > 1 ? await this.#confirmOnOneStatus(ofRun) : undefined;
    if (onOne !== undefined) return onOne;
    const alone = await this.#make([{ row }]);
    if (!hasFailed(alone)) return undefined;
    // A run that stops at its first failure may have varied the row on fewer statuses than the row alone.
    const points = uniquePoints([...ofRun, ...alone.points.filter((point) => point.row === row)]);
    if (points.length === 1) return this.#confirm({ row }, points, 2);
    return (await this.#confirmOnOneStatus(points)) ?? this.#confirm({ row }, points, 3);
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
    return this.#runs.makeLike(this.#run, { rows, repetition: `${this.#name} ${nth}` });
  }
}

const choicesOf = (rows: readonly string[]): RowChoice[] => rows.map((row) => ({ row }));

const uniquePoints = (points: readonly VariedPoint[]) => [
  ...new Map(points.map((point) => [idOfPoint(point), point])).values(),
];

function rowCause({ row, points, shownBy, failed }: RowCause): Cause {
  const isLate = shownBy.result === "timed_out";
  const statuses = [...new Set(points.map(({ status }) => `a ${status}`))].sort();
  const responses = `${statuses.length > 1 ? "each of " : ""}${listed(statuses, "and")}`;
  const words = [...new Set(points.map(({ variant }) => variant))].flatMap((one) => wordsOf(row, one) ?? []);
  const late = isLate
    ? " Limit how long your client waits. If it may wait that long, set a longer --timeout."
    : "";
  return {
    row,
    points,
    sentence: `${isLate ? "Does not end in time" : "Breaks"} when ${responses} ${listed(words, "or")}`,
    whatToDo: remedyOf(row) + late,
    failed: inOrder(failed),
    shownBy,
  };
}

const seedsIn = (failed: readonly ClientRun[]) =>
  `${failed.length === 1 ? "seed" : "seeds"} ${listed(
    failed.map(({ seed }) => String(seed)),
    "and",
  )}`;

const seedCause = (failed: readonly ClientRun[]): Cause => ({
  shownBy: failed[0] as ClientRun,
  sentence: `Fails with ${seedsIn(failed)} even when nothing is varied`,
  whatToDo:
    "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
  failed,
});

/** Its sentence is about the seeds that were searched. */
function unknownCause(failed: readonly ClientRun[]): Cause {
  const searched = inOrder(failed.slice(0, maxVain));
  const shownBy = searched[0] as ClientRun;
  const { last, result, code } = shownBy;
  const how = result === "timed_out" ? "does not end in time" : `fails with exit code ${code}`;
  return {
    shownBy,
    sentence: `The command ${how} with ${seedsIn(searched)}: no single row of varied responses brings it back`,
    whatToDo: last
      ? `Look at what the command prints, and at the last response (${last.outcome}, ${last.id}).`
      : "The command got no response.",
    failed: inOrder(failed),
  };
}
