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
export async function findCauses(runs: Runs, failing: readonly ClientRun[]): Promise<Cause[]> {
  if ((await runs.repeat(failing)) === "not_made") return [];
  let causes: readonly RowCause[] = [];
  const open: Record<"seed" | "unknown", ClientRun[]> = { seed: [], unknown: [] };
  for (const run of failing.toSorted((one, other) => isLong(other) - isLong(one))) {
    const search = new Search(runs, run, failing);
    const isSearched = open.unknown.length < maxVain || (await search.isExplainedBy(causes));
    const found = isSearched ? await search.explain(causes) : "unknown";
    if (runs.isStopped || runs.contradiction !== undefined) return causes.map(rowCause);
    if (typeof found === "string") open[found].push(run);
    else causes = found;
  }
  return [
    ...causes.map(rowCause),
    ...(open.seed.length > 0 ? [seedCause(inOrder(open.seed))] : []),
    ...(open.unknown.length > 0 ? [unknownCause(open.unknown)] : []),
  ];
}

/** The search in one varied run that failed. A run that passes decides; one that fails may do so by chance. */
class Search {
  readonly #runs: Runs;
  readonly #run: ClientRun;
  readonly #failing: readonly ClientRun[];
  /** How often it has begun: the second time, no run of the first one counts. */
  #turn = 1;

  constructor(runs: Runs, run: ClientRun, failing: readonly ClientRun[]) {
    this.#runs = runs;
    this.#run = run;
    this.#failing = failing;
  }

  /** Returns the causes, with those of this run; without a row, whether only its seed breaks it, or nothing in two searches. */
  async explain(known: readonly RowCause[]): Promise<readonly RowCause[] | "seed" | "unknown"> {
    const first = await this.#causes(known);
    if (first !== undefined) return first;
    if ((await this.#fails([])) && (await this.#fails([], 2))) return "seed";
    this.#turn = 2;
    const second = await this.#causes(known);
    // It may have failed by chance twice; one that does not end takes long, and does so by no chance.
    const times = second === undefined && this.#run.result === "failed" ? [3, 4, 5] : [];
    for (const time of times) await this.#runs.makeLike(this.#run, { repetition: time });
    return second ?? "unknown";
  }

  /** Whether it passes without the rows of these causes. */
  async isExplainedBy(causes: readonly RowCause[]): Promise<boolean> {
    const rest = this.#restOf(causes);
    if (rest.length === rowsOf(this.#run).length) return false;
    return !((await this.#failsWith(rest)) && (await this.#failsWith(rest, 2)));
  }

  #restOf(causes: readonly RowCause[]): string[] {
    const explained = causes.flatMap(({ row }) => coveredBy(row));
    return rowsOf(this.#run).filter((row) => !explained.includes(row));
  }

  /** Adds rows that each break the run alone, until it passes without all of them; `undefined` if there are none. */
  async #causes(known: readonly RowCause[]): Promise<readonly RowCause[] | undefined> {
    let causes = known;
    while (!(await this.isExplainedBy(causes))) {
      const rest = this.#restOf(causes);
      const cause = rest.length > 0 ? await this.#prove(await this.#culprit(rest)) : undefined;
      if (cause === undefined) return undefined;
      causes = [...causes, cause];
    }
    return causes.map((cause) => this.#withRun(cause, causes));
  }

  /** The run belongs to the causes whose variants it has, or else to those whose rows it has. */
  #withRun(cause: RowCause, causes: readonly RowCause[]): RowCause {
    const own = this.#run.points.map(({ row, variant }) => `${row} ${variant}`);
    const hasVariant = ({ points }: RowCause) =>
      points.some(({ row, variant }) => own.includes(`${row} ${variant}`));
    const hasRow = ({ row }: RowCause) => coveredBy(row).some((one) => rowsOf(this.#run).includes(one));
    const isOf = causes.some(hasVariant) ? hasVariant : hasRow;
    return isOf(cause) ? { ...cause, failed: [...new Set([...cause.failed, this.#run])] } : cause;
  }

  /** Halves rows that break the run until one is left: those first of which something new varied in each run that failed. */
  async #culprit(rows: readonly string[]): Promise<string> {
    if (rows.includes(longBody) && (await this.#failsWith([longBody]))) return longBody;
    const passed = this.#runs.all.filter(({ result }) => result === "passed");
    const harmless = new Set(passed.flatMap(({ points }) => points.map(idOfPoint)));
    const isNewIn = ({ points }: ClientRun, row: string) =>
      points.some((point) => point.row === row && !harmless.has(idOfPoint(point)));
    const suspects = rows.filter((row) => this.#failing.every((run) => isNewIn(run, row)));
    const areFewer = suspects.length > 0 && suspects.length < rows.length;
    return this.#halved(areFewer && (await this.#failsWith(suspects)) ? suspects : rows);
  }

  /** If the first half does not break the run, the second one does. */
  async #halved(rows: readonly string[]): Promise<string> {
    if (rows.length === 1) return rows[0] as string;
    const middle = Math.ceil(rows.length / 2);
    const first = rows.slice(0, middle);
    return this.#halved((await this.#failsWith(first)) ? first : rows.slice(middle));
  }

  /** A row must fail twice alone on the responses of one status, or else three times on all of them. */
  async #prove(row: string): Promise<RowCause | undefined> {
    const own = this.#pointsOf(row);
    const found = own.length > 1 ? await this.#onOneStatus(own) : undefined;
    if (found !== undefined) return found;
    const whole = await this.#again([{ row }]);
    if (!hasFailed(whole)) return undefined;
    // A run that stops at its first failure may have varied the row on fewer statuses than the row alone.
    const all = uniquePoints([...own, ...whole.points.filter((point) => point.row === row)]);
    return all.length > 1
      ? ((await this.#onOneStatus(all)) ?? this.#proven({ row }, all, 3))
      : this.#proven({ row }, all, 2);
  }

  async #onOneStatus(points: readonly VariedPoint[]): Promise<RowCause | undefined> {
    for (const point of points) {
      const { row, status } = point;
      const cause = await this.#proven({ row, status }, [point], 2);
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  async #proven(
    choice: RowChoice,
    points: readonly VariedPoint[],
    times: number,
  ): Promise<RowCause | undefined> {
    const shownBy = await this.#again([choice]);
    if (!hasFailed(shownBy)) return undefined;
    for (let time = 2; time <= times; time++) if (!(await this.#fails([choice], time))) return undefined;
    return { row: choice.row, points, shownBy, failed: [this.#run] };
  }

  #pointsOf(row: string): VariedPoint[] {
    return this.#run.points.filter((point) => point.row === row);
  }

  #failsWith(rows: readonly string[], time = 1): Promise<boolean> {
    return this.#fails(
      rows.map((row) => ({ row })),
      time,
    );
  }

  async #fails(rows: readonly RowChoice[], time = 1): Promise<boolean> {
    return hasFailed(await this.#again(rows, time));
  }

  /** Makes a run where only these rows vary, until nothing can be shown. */
  async #again(rows: readonly RowChoice[], time = 1): Promise<ClientRun | undefined> {
    if (this.#runs.contradiction !== undefined) return undefined;
    return this.#runs.makeLike(this.#run, { rows, repetition: this.#turn - 1 + time });
  }
}

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
