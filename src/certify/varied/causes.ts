import { lengtheningRows } from "../../api/variation/table.js";
import type { RowChoice, VariedPoint } from "../../sandbox/variants.js";
import { type Reason, shownOr } from "../checks/judgment.js";
import { type ClientRun, isEndedSooner, plainRunRequest } from "../client-runs/client-run.js";
import { hangsNowAndThen, repeatFailures } from "../client-runs/failures.js";
import type { Runs } from "../client-runs/runs.js";
import { pointId } from "../client-runs/seen-requests.js";

// Each run that failed is explained by the first of these that it shows. What takes few runs comes first:
// 1. rows that are known causes: it does not break without them;
// 2. its seed: it breaks although nothing varies;
// 3. other rows, which a search finds: one that breaks it alone, or two that only break it together;
// 4. nothing that can be told. After two such runs, no other one is searched.

/** Rows of the variation table, such as `etag`, that break a run alone, and without which the run passes: one, or two that only break it together. */
interface RowCause {
  readonly rows: readonly [string] | readonly [string, string];
  /** What varied when it failed alone: each point is a variant of a row on the responses of one status. */
  readonly points: readonly VariedPoint[];
  /** The run in which nothing else varied. */
  readonly shownBy: ClientRun;
}

/** Why varied runs fail. */
export interface Cause extends Partial<RowCause> {
  /** The runs that fail for it, in the order of their seeds. */
  readonly failed: readonly ClientRun[];
  readonly shownBy: ClientRun;
  /** Without rows: the runs of which no search has found the cause. Only these are sure. Left out if the seed is the cause. */
  readonly searched?: readonly ClientRun[];
}

/** Finds out why varied runs fail. `doubt`: why the other failures have no cause; `undefined` if each failure has one. */
export async function findCauses(
  runs: Runs,
  failures: readonly ClientRun[],
): Promise<{ readonly causes: readonly Cause[]; readonly doubt: Reason | undefined }> {
  const explained = new ExplainedFailures(runs);
  const doubt = await shownOr(explained.explain(failures), (reason) => reason);
  return { causes: explained.causes(doubt !== undefined), doubt };
}

/** After so many runs without a cause, no other run is searched. */
const maxSearchedInVain = 2;

/** What explains the failures that were looked at so far. */
class ExplainedFailures {
  readonly #runs: Runs;
  /** The runs that fail for each row, by its cause. */
  readonly #failedByRow = new Map<RowCause, Set<ClientRun>>();
  readonly #bySeed: ClientRun[] = [];
  readonly #unknown: ClientRun[] = [];
  /** Whether a run did not end in time, which nothing explains and no other run has shown again. */
  #isAnyByChance = false;

  constructor(runs: Runs) {
    this.#runs = runs;
  }

  /** Explains each of these failures, one after another. Returns why a failure is left; throws `Inconclusive` if none counts any more. */
  async explain(failures: readonly ClientRun[]): Promise<Reason | undefined> {
    // A suite that fails at random passes one of the repetitions.
    await repeatFailures(this.#runs, failures);
    // The runs with a long body come first: it explains the rows that lengthen a body, which others would be searched for.
    const isLong = (run: ClientRun) => variedRows(run).includes(bodyLengthRow);
    for (const run of failures.filter(isLong)) await this.#explainRun(run);
    for (const run of failures.filter((one) => !isLong(one))) await this.#explainRun(run);
    return this.#isAnyByChance ? hangsNowAndThen : undefined;
  }

  /** The causes by rows; without a doubt, also the others: the seed, or nothing that can be told, may be why the rest fails, too. */
  causes(hasDoubt: boolean): Cause[] {
    const causes: Cause[] = [];
    for (const [cause, failed] of this.#failedByRow) {
      causes.push({ ...cause, failed: sortedBySeed([...failed]) });
    }
    if (hasDoubt) return causes;

    const [bySeed, unknown] = [sortedBySeed(this.#bySeed), sortedBySeed(this.#unknown)];
    const searched = sortedBySeed(this.#unknown.slice(0, maxSearchedInVain));
    if (bySeed[0] !== undefined) causes.push({ shownBy: bySeed[0], failed: bySeed });
    if (searched[0] !== undefined) causes.push({ shownBy: searched[0], failed: unknown, searched });
    return causes;
  }

  /** Explains one run, by the steps of the head. */
  async #explainRun(run: ClientRun): Promise<void> {
    const search = new RowSearch(this.#runs, run);
    const knownCauses = [...this.#failedByRow.keys()];
    if (!(await search.breaksWithout(knownCauses))) return this.#addRows(run, []);

    // If nothing varies and the run breaks all the same, each row would seem to break it alone. Of a later run, one trial is enough.
    const isSeedKnown = this.#bySeed.length > 0;
    const withoutRows = await search.breaksWith([], isSeedKnown ? 1 : 2);
    if (withoutRows !== undefined) {
      // A command that no longer passes at all also fails then: its plain run fails, too, and contradicts the first one.
      if (!isSeedKnown) await this.#runs.makeAnother(plainRunRequest);
      this.#runs.throwIfNoFailureCounts();
      this.#bySeed.push(run);
      return;
    }

    // A run that does not end in time is not searched again, which takes long. One that was not repeated may be chance.
    const isSearched = this.#unknown.length < maxSearchedInVain;
    let newCauses = isSearched ? await search.findRows(knownCauses, "halves") : undefined;
    if (isSearched && newCauses === undefined && run.result === "failed") {
      newCauses = await new RowSearch(this.#runs, run).findRows(knownCauses, "growing_starts");
    }
    if (newCauses !== undefined) this.#addRows(run, newCauses);
    else if (this.#runs.isRepeated(run)) this.#unknown.push(run);
    else this.#isAnyByChance = true;
  }

  #addRows(run: ClientRun, newCauses: readonly RowCause[]): void {
    for (const cause of newCauses) this.#failedByRow.set(cause, new Set([run]));
    // Known causes may explain the run as well.
    const causes = [...this.#failedByRow.keys()];
    for (const cause of causesShownBy(causes, run)) this.#failedByRow.get(cause)?.add(run);
  }
}

function sortedBySeed(runs: readonly ClientRun[]): ClientRun[] {
  return runs.toSorted((one, other) => one.seed - other.seed);
}

// Which of the rows that varied in a run break the client alone?
// 1. The run is made again without the rows of known causes. If it passes, these explain it, and the search ends.
// 2. If it fails, one of the other rows breaks it, or several do. It is made again with half of them, then with half of the half that
//    fails, until one row is left.
// 3. This row must also break the run alone (`confirmRow`). Then it is a known cause, and the search continues with the first step.
//
// If that finds nothing, a trial may have passed by chance, or two rows break the client only together. Of four rows, of which B and C do:
//    A B passes, A B C fails    C is the last row that is needed
//    C alone passes             it needs another one
//    A C passes, A B C fails    B is the other one; B and C are then confirmed together

/** The row of long bodies. It explains each row that lengthens a body: only the length may break the client. */
const bodyLengthRow = "body_length";
/** The rows of the table that may lengthen a body, and two rows of values: the name of an organization and the scopes of a key may be longer, too. */
const longerBodyRows = [
  ...lengtheningRows.map(({ id }) => id),
  "organization.name_ending",
  "key.granted_scopes",
];

/** The row of times to wait: a client that waits as long as a response asks may not end in time. */
export const retryAfterRow = "retry_after";

/** Whether a run without the row cannot show the cause. Of two rows, that is the first one: without it, they are not together. */
function isCoveredBy({ rows: [first] }: RowCause, row: string): boolean {
  return first === row || (first === bodyLengthRow && longerBodyRows.includes(row));
}

function variedRows({ points }: ClientRun): string[] {
  const rows = new Set<string>();
  for (const { row } of points) rows.add(row);
  return [...rows];
}

/** The causes of which the run has a point. If it has none, those of which it has the row, with another variant or on another status. */
function causesShownBy(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const ids = run.points.map(pointId);
  const rows = variedRows(run);
  // Two rows break a run only if it has both.
  const possible = causes.filter(
    (cause) => cause.rows.length === 1 || cause.rows.every((row) => rows.includes(row)),
  );
  const withPoint = possible.filter(({ points }) => points.some((point) => ids.includes(pointId(point))));
  if (withPoint.length > 0) return withPoint;

  return possible.filter((cause) => rows.some((row) => isCoveredBy(cause, row)));
}

/**
 * A varied run that failed, made again while only some of its rows vary: these are its trials. One that fails may do so by chance, so what
 * names a cause asks for two or three. After a contradiction, no failure counts, and the search ends: its methods throw `Inconclusive`.
 */
class RowSearch {
  readonly run: ClientRun;
  readonly #runs: Runs;
  /** The trials so far, by what varied in them. */
  readonly #trials = new Map<string, ClientRun[]>();

  constructor(runs: Runs, run: ClientRun) {
    this.#runs = runs;
    this.run = run;
  }

  /** The first trial in which only this varies, if the run breaks then: so many trials fail, also of those made before. `undefined` if one passes. */
  async breaksWith(
    choices: readonly RowChoice[],
    neededFailures: 1 | 2 | 3 = 1,
  ): Promise<ClientRun | undefined> {
    const id = JSON.stringify(choices);
    const trials = this.#trials.get(id) ?? [];
    this.#trials.set(id, trials);

    const isAfterHang = isEndedSooner(this.run);
    while (trials.length < neededFailures && trials.every(({ result }) => result !== "passed")) {
      this.#runs.throwIfNoFailureCounts();
      const conditions = { ...this.run.conditions, rows: choices };
      trials.push(await this.#runs.makeAnother({ ...this.run, conditions, isAlone: false, isAfterHang }));
    }
    this.#runs.throwIfNoFailureCounts();
    const hasPassed = trials.some(({ result }) => result === "passed");
    return hasPassed ? undefined : trials[0];
  }

  /** Whether the run breaks without the rows of these causes: if not, they explain it. Two trials must fail. */
  async breaksWithout(causes: readonly RowCause[]): Promise<boolean> {
    const rows = this.#rowsBesides(causes);
    // The run itself may have failed without their rows.
    if (rows.length === variedRows(this.run).length) return true;
    return (await this.breaksWith(onAllStatuses(rows), 2)) !== undefined;
  }

  /**
   * The rows that break the run besides those of known causes; `undefined` if none is found that they do not explain. `by`: how one of many rows
   * is found. Only by growing starts, two rows are found, too.
   */
  async findRows(
    knownCauses: readonly RowCause[],
    by: "halves" | "growing_starts",
  ): Promise<RowCause[] | undefined> {
    const newCauses: RowCause[] = [];
    for (;;) {
      const causes = [...knownCauses, ...newCauses];
      if (!(await this.breaksWithout(causes))) return newCauses;
      const rows = this.#rowsBesides(causes);
      if (rows.length === 0) return undefined;
      let cause: RowCause | undefined;
      if (by === "halves") {
        cause = await this.#confirmRow(await this.#findCulprit(rows));
      } else {
        const last = await this.#lastNeeded(rows, []);
        cause = (await this.#confirmRow(last)) ?? (await this.#confirmPair(last, rows));
      }
      if (cause === undefined) return undefined;
      newCauses.push(cause);
    }
  }

  #rowsBesides(causes: readonly RowCause[]): string[] {
    return variedRows(this.run).filter((row) => !causes.some((cause) => isCoveredBy(cause, row)));
  }

  /** Finds the row that breaks the run, of these, which break it together. One trial is enough: a row that is found by chance is not confirmed. */
  async #findCulprit(rows: readonly string[]): Promise<string> {
    const likely: string[] = [];
    // A long body would explain several of the other rows.
    if (rows.includes(bodyLengthRow)) likely.push(bodyLengthRow);
    // A client that waits as long as a response asks takes long in each trial that fails.
    if (this.run.result === "timed_out" && rows.includes(retryAfterRow)) likely.push(retryAfterRow);
    for (const row of likely) {
      if ((await this.breaksWith([{ row }])) !== undefined) return row;
    }

    // The rows are halved until one remains. If the first half does not break the run, the second one does.
    let remaining = rows;
    while (remaining.length > 1) {
      const middle = Math.ceil(remaining.length / 2);
      const firstHalf = remaining.slice(0, middle);
      const trial = await this.breaksWith(onAllStatuses(firstHalf));
      remaining = trial === undefined ? remaining.slice(middle) : firstHalf;
    }
    return remaining[0] as string; // halves of one row or more have one
  }

  /** The last row of the shortest start of these rows that breaks the run, next to those that always vary. The whole list is known to break it. */
  async #lastNeeded(rows: readonly string[], always: readonly string[]): Promise<string> {
    let [longestPassed, shortestBroken] = [0, rows.length];
    while (shortestBroken - longestPassed > 1) {
      const middle = Math.floor((longestPassed + shortestBroken) / 2);
      const trial = await this.breaksWith(onAllStatuses([...rows.slice(0, middle), ...always]));
      if (trial === undefined) longestPassed = middle;
      else shortestBroken = middle;
    }
    return rows[shortestBroken - 1] as string; // a start that breaks it has a row
  }

  /** Confirms that a row breaks the run with another one, and neither does alone: in three trials of both. `undefined` if that is not so. */
  async #confirmPair(row: string, rows: readonly string[]): Promise<RowCause | undefined> {
    const others = rows.slice(0, rows.indexOf(row));
    if (others.length === 0) return undefined;
    const other = await this.#lastNeeded(others, [row]);
    const shownBy = await this.breaksWith(onAllStatuses([other, row]), 3);
    if (shownBy === undefined) return undefined;
    const isAlone = (await this.breaksWith([{ row: other }])) ?? (await this.breaksWith([{ row }]));
    return isAlone === undefined ? { rows: [other, row], points: shownBy.points, shownBy } : undefined;
  }

  /**
   * Confirms that a row breaks the run alone, in three steps; `undefined` if some trial passes in which it varies on all its statuses:
   * 1. It varies on all its statuses, in one trial, which shows its points.
   * 2. It varies on each status alone, in two trials. The first status on which both fail is the cause, which says more than all of them.
   * 3. It varies on all its statuses again, in two trials. If it has several, in three: each status alone has passed a trial.
   */
  async #confirmRow(row: string): Promise<RowCause | undefined> {
    const alone = await this.breaksWith([{ row }]);
    if (alone === undefined) return undefined;

    // A run stops at its first failure, so either of these may have points that the other one lacks.
    const pointsById = new Map<string, VariedPoint>();
    for (const point of [...this.run.points, ...alone.points]) {
      if (point.row === row) pointsById.set(pointId(point), point);
    }
    const points = [...pointsById.values()];
    if (points.length > 1) {
      // A row has one variant in a run, so it has a point for each status.
      for (const point of points) {
        const onStatus = await this.breaksWith([{ row, status: point.status }], 2);
        if (onStatus !== undefined) return { rows: [row], points: [point], shownBy: onStatus };
      }
    }

    const shownBy = await this.breaksWith([{ row }], points.length === 1 ? 2 : 3);
    return shownBy && { rows: [row], points, shownBy };
  }
}

function onAllStatuses(rows: readonly string[]): RowChoice[] {
  return rows.map((row) => ({ row }));
}
