import { lengtheningRows } from "../api/variation/table.js";
import type { VariedPoint } from "../sandbox/run-trace.js";
import type { RowChoice } from "../sandbox/variants.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import type { Runs, WhichRun } from "./runs.js";
import { pointId } from "./varied-points.js";

// A row is a line of the variation table, such as `etag`; its variants are what a response can have there, and a point is a variant that
// the responses of one status had in a run. The search asks which of the rows that varied in a run break the client alone. It makes the
// run again while fewer rows vary: half of them, then half of the half that still fails, until one is left, which must then fail alone
// as well. A run that passes decides; one that fails may do so by chance, so that what rests on a failure is made two or three times.

/** A row that has failed alone, twice, and without which its run passes. */
export interface RowCause {
  readonly row: string;
  /** What varied when it failed alone. */
  readonly points: readonly VariedPoint[];
  /** The run in which only this row varied. */
  readonly shownBy: ClientRun;
  /** The varied runs that fail for it. */
  readonly failed: readonly ClientRun[];
}

/** The row of bodies that are long. It explains each row that lengthens a body: only the length may break the client. */
export const longBody = "body_length";
const longerBodyRows = [
  ...lengtheningRows.map(({ id }) => id),
  "organization.name_ending",
  "key.granted_scopes",
];

/** Whether the cause explains a failure with this row. */
export function isCoveredBy(cause: RowCause, row: string): boolean {
  return cause.row === row || (cause.row === longBody && longerBodyRows.includes(row));
}

/** The rows that varied in a run, each once. */
export function variedRows({ points }: ClientRun): string[] {
  const rows = new Set(points.map(({ row }) => row));
  return [...rows];
}

/** The search in one varied run that failed. */
export class CauseSearch {
  readonly #runs: Runs;
  /** The run that is searched. */
  readonly #run: ClientRun;
  /** All varied runs that failed. */
  readonly #failures: readonly ClientRun[];
  /** A second search in the same run has runs of its own. */
  readonly #series: WhichRun["series"];

  constructor(runs: Runs, run: ClientRun, failures: readonly ClientRun[], series: WhichRun["series"]) {
    this.#runs = runs;
    this.#run = run;
    this.#failures = failures;
    this.#series = series;
  }

  /** Finds rows that each break the run alone, until it passes without them and those of known causes; `undefined` if it never does. */
  async newCauses(known: readonly RowCause[]): Promise<readonly RowCause[] | undefined> {
    const causes: RowCause[] = [];
    while (!(await this.passesWithout([...known, ...causes]))) {
      const rows = this.#rowsBesides([...known, ...causes]);
      if (rows.length === 0) return undefined;

      const culprit = await this.#findCulprit(rows);
      const cause = await this.#confirmRow(culprit);
      if (cause === undefined) return undefined;
      causes.push(cause);
    }
    return causes;
  }

  /** Whether the run has rows of these causes, and passes while only its other rows vary. */
  async passesWithout(causes: readonly RowCause[]): Promise<boolean> {
    const rows = this.#rowsBesides(causes);
    if (rows.length === variedRows(this.#run).length) return false;
    return !(await this.failsWith(allStatuses(rows), 2));
  }

  /** Whether the run fails so many times while only this varies. */
  async failsWith(choices: readonly RowChoice[], times = 1): Promise<boolean> {
    for (let nth = 1; nth <= times; nth++) {
      const run = await this.#make(choices, nth);
      if (!hasFailed(run)) return false;
    }
    return true;
  }

  /** The rows that varied in the run and that no cause explains. */
  #rowsBesides(causes: readonly RowCause[]): string[] {
    return variedRows(this.#run).filter((row) => !causes.some((cause) => isCoveredBy(cause, row)));
  }

  /** Finds the row that breaks the run, of these, which break it together. */
  async #findCulprit(rows: readonly string[]): Promise<string> {
    // It would explain several of the others.
    if (rows.includes(longBody) && (await this.failsWith([{ row: longBody }]))) return longBody;

    // Fewer rows take fewer runs, if the culprit is among them.
    const suspects = this.#suspiciousRows(rows);
    const areFewer = suspects.length > 0 && suspects.length < rows.length;
    if (areFewer && (await this.failsWith(allStatuses(suspects)))) return this.#halve(suspects);
    return this.#halve(rows);
  }

  /** The rows that had, in each run that failed, a variant that no run had which passed. */
  #suspiciousRows(rows: readonly string[]): string[] {
    const harmless = new Set<string>();
    for (const run of this.#runs.all) {
      if (run.result !== "passed") continue;
      for (const point of run.points) harmless.add(pointId(point));
    }

    const suspiciousIn = (run: ClientRun) => {
      const points = run.points.filter((point) => !harmless.has(pointId(point)));
      return points.map(({ row }) => row);
    };
    const byFailure = this.#failures.map(suspiciousIn);
    return rows.filter((row) => byFailure.every((rowsOfFailure) => rowsOfFailure.includes(row)));
  }

  /** Halves the rows until one is left. If the first half does not break the run, the second one does. */
  async #halve(rows: readonly string[]): Promise<string> {
    let left = rows;
    while (left.length > 1) {
      const middle = Math.ceil(left.length / 2);
      const firstHalf = left.slice(0, middle);
      const isInFirst = await this.failsWith(allStatuses(firstHalf));
      left = isInFirst ? firstHalf : left.slice(middle);
    }
    return left[0] as string; // there is one
  }

  /** Confirms that a row breaks the run alone: on the responses of one status, or else on all of them. `undefined` if it does not. */
  async #confirmRow(row: string): Promise<RowCause | undefined> {
    const pointsOfRun = this.#run.points.filter((point) => point.row === row);
    if (pointsOfRun.length > 1) {
      const cause = await this.#confirmOnOneStatus(pointsOfRun);
      if (cause !== undefined) return cause;
    }

    const alone = await this.#make([{ row }]);
    if (!hasFailed(alone)) return undefined;

    // A run that stops at its first failure may have varied the row on fewer statuses than the row alone.
    const pointsAlone = alone.points.filter((point) => point.row === row);
    const points = uniquePoints([...pointsOfRun, ...pointsAlone]);
    if (points.length === 1) return this.#confirm({ row }, points, 2);
    const onOneStatus = await this.#confirmOnOneStatus(points);
    return onOneStatus ?? this.#confirm({ row }, points, 3);
  }

  /** Confirms the first of these points that breaks the run alone, if one does. */
  async #confirmOnOneStatus(points: readonly VariedPoint[]): Promise<RowCause | undefined> {
    for (const point of points) {
      const cause = await this.#confirm({ row: point.row, status: point.status }, [point], 2);
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  /** Returns the cause if the run fails so many times while only this varies. */
  async #confirm(
    choice: RowChoice,
    points: readonly VariedPoint[],
    times: number,
  ): Promise<RowCause | undefined> {
    const shownBy = await this.#make([choice]);
    if (!hasFailed(shownBy) || !(await this.failsWith([choice], times))) return undefined;
    return { row: choice.row, points, shownBy, failed: [this.#run] };
  }

  /** Makes the run while only this varies; not any more after a contradiction, since no failure shows anything then. */
  async #make(choices: readonly RowChoice[], nth = 1): Promise<ClientRun | undefined> {
    if (this.#runs.contradiction !== undefined) return undefined;
    return this.#runs.makeLike(this.#run, { rows: choices, nth, series: this.#series });
  }
}

function allStatuses(rows: readonly string[]): RowChoice[] {
  return rows.map((row) => ({ row }));
}

function uniquePoints(points: readonly VariedPoint[]): VariedPoint[] {
  const byId = new Map(points.map((point) => [pointId(point), point]));
  return [...byId.values()];
}
