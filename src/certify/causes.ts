import { lengtheningRows } from "../api/variation/table.js";
import { pluralize } from "../report/plain-text.js";
import { listed } from "../rules/schema/words.js";
import type { VariedPoint } from "../sandbox/run-trace.js";
import type { RowChoice } from "../sandbox/variants.js";
import type { Client } from "./client.js";
import type { Finding } from "./judgment.js";
import { type ClientRun, hasFailed } from "./run.js";
import { idOfPoint, remedyOf, wordsOf } from "./varied-points.js";

/** Why varied runs fail: one row, or nothing that certify can tell. */
export interface Cause extends Pick<Finding, "sentence" | "whatToDo" | "row" | "points"> {
  /** The runs that fail for it, the first first. */
  readonly failed: readonly ClientRun[];
  /** The run that shows it: only its row varied there, if it has one. */
  readonly shownBy: ClientRun;
}

/** Finds the rows of the variation table that each bring a failure back alone. `passed`: what varied in runs that passed. */
export async function findCauses(
  client: Client,
  failing: readonly ClientRun[],
  passed: readonly VariedPoint[],
): Promise<Cause[]> {
  if (!(await client.failAgain(failing))) return [];
  return new Search(client, failing, passed).causes();
}

/** The most runs of a search, about as many as most take, and the most seeds that it searches in vain. */
const [maxRuns, usualRuns, maxVain] = [120, 8, 2];

const longBody = "body_length";

/** A row, and with a long body each row that lengthens one: only the length may break the client. */
function coveredBy(row: string): readonly string[] {
  return row === longBody ? [row, ...longerBy] : [row];
}
const longerBy = [...lengtheningRows.map(({ id }) => id), "organization.name_ending", "key.granted_scopes"];

const rowsOf = ({ points }: ClientRun) => [...new Set(points.map(({ row }) => row))];
const pointsOf = ({ points }: ClientRun, row: string) => points.filter((point) => point.row === row);
const isLong = (run: ClientRun) => Number(rowsOf(run).includes(longBody));

/** A row that has failed alone, twice. */
interface RowCause {
  readonly row: string;
  /** Its variants that failed alone. */
  readonly points: readonly VariedPoint[];
  /** Whether other statuses were not tried alone. */
  readonly isMore: boolean;
  readonly shownBy: ClientRun;
  /** The run that it was found in, and all that fail for it. */
  readonly run: ClientRun;
  readonly failed: readonly ClientRun[];
  /** How many runs have passed without it: 2 confirm it. */
  readonly passes: number;
}

/** A run that failed when only one row of another run varied, and what varied there, if it is all. */
interface Failure {
  readonly of: ClientRun;
  readonly run: ClientRun;
  readonly point: VariedPoint | undefined;
}

class Search {
  readonly #client: Client;
  readonly #failing: readonly ClientRun[];
  /** What varied in runs that passed: it breaks nothing alone. */
  readonly #passed = new Set<string>();
  /** Rows that varied there, in any way. */
  readonly #passedRows = new Set<string>();
  #left = maxRuns;
  #causes: readonly RowCause[] = [];

  constructor(client: Client, failing: readonly ClientRun[], passed: readonly VariedPoint[]) {
    this.#client = client;
    this.#failing = failing;
    this.#clear(passed);
  }

  #clear(points: readonly VariedPoint[]): void {
    for (const point of points) {
      this.#passed.add(idOfPoint(point));
      this.#passedRows.add(point.row);
    }
  }

  async causes(): Promise<Cause[]> {
    const [bySeed, vain]: [ClientRun[], ClientRun[]] = [[], []];
    // A long body explains the rows that lengthen one.
    let open = this.#failing.toSorted((one, other) => isLong(other) - isLong(one));
    for (let run = open[0]; run !== undefined && vain.length < maxVain; run = open[0]) {
      this.#client.expectMore(usualRuns);
      const before = this.#causes;
      if (!(await this.#explain(run, open))) {
        this.#causes = before;
        ((await this.#isBySeed(run)) ? bySeed : vain).push(run);
      }
      open = await this.#unexplained(open.slice(1));
    }
    const unknown = await this.#unexplained([...vain, ...open, ...(await this.#unconfirmed())]);
    if (unknown.length > 0) await this.#repeat(unknown);
    // Of a client with many causes, a search that is out of runs shows nothing about the seeds that are left, as one that was stopped.
    const isOut = this.#client.isStopped || (this.#left === 0 && this.#causes.length > 0);
    return [
      ...this.#causes.map(rowCause),
      ...(bySeed.length > 0 ? [seedCause(inOrder(bySeed))] : []),
      ...(unknown.length > 0 && !isOut ? [unknownCause(inOrder(unknown))] : []),
    ];
  }

  /** Whether a run fails without any row, twice. */
  async #isBySeed(run: ClientRun): Promise<boolean> {
    return (await this.#fails(run, [])) && (await this.#fails(run, [], 2));
  }

  /** Finds the rows that each break a run, so that it passes without them: what varied in no run that passed first, and in each that is open. */
  async #explain(run: ClientRun, open: readonly ClientRun[]): Promise<boolean> {
    const isNewIn = (other: ClientRun, row: string) =>
      pointsOf(other, row).some((point) => !this.#passed.has(idOfPoint(point)));
    const isInEach = (row: string) => open.every((other) => isNewIn(other, row));
    const isSuspect = (row: string) => isInEach(row) && !this.#passedRows.has(row);
    for (const isWanted of [isSuspect, isInEach, (row: string) => isNewIn(run, row), () => true]) {
      let rows = this.#restOf(run).filter(isWanted);
      while (rows.length > 0 && (await this.#fails(run, rows))) {
        const cause = await this.#prove(run, await this.#culprit(run, rows));
        if (cause === undefined) break;
        this.#add(cause);
        if (await this.#passes(run)) return true;
        if (await this.#isBySeed(run)) return false;
        rows = this.#restOf(run).filter(isWanted);
      }
    }
    return false;
  }

  /** Halves rows that break a run until one is left. If the first half does not, the second one does. */
  async #culprit(run: ClientRun, rows: readonly string[]): Promise<string> {
    if (rows.length === 1) return rows[0] as string;
    const middle = Math.ceil(rows.length / 2);
    const first = rows.slice(0, middle);
    return this.#culprit(run, (await this.#fails(run, first)) ? first : rows.slice(middle));
  }

  /** Makes runs where only this row varies, until two have failed: on one status after the other, or with another seed. */
  async #prove(run: ClientRun, row: string): Promise<RowCause | undefined> {
    // A run that stops at its first failure may have varied the row on fewer statuses than the row alone.
    const whole = pointsOf(run, row).length === 1 ? await this.#again(run, [{ row }]) : run;
    if (!hasFailed(whole)) return undefined;
    const points = uniquePoints([...pointsOf(run, row), ...pointsOf(whole, row)]);
    const isSingle = points.length === 1;
    const failures = await (isSingle ? this.#onOneStatus(run, row) : this.#onEachStatus(run, row, points));
    for (const time of [1, 2])
      if (failures.length < 2 && !(isSingle && time === 1))
        failures.push(...(await this.#alone(run, { row }, undefined, time)));
    const [first, second] = failures;
    if (first === undefined || second === undefined) return undefined;
    const broken = failures.flatMap(({ point }) => point ?? []);
    return {
      row,
      points: broken.length > 0 ? broken : points,
      isMore: broken.length === 2 && !isSingle && broken[1] !== points.at(-1),
      shownBy: first.run,
      run,
      failed: inOrder([run, ...failures.map(({ of }) => of)]),
      passes: 0,
    };
  }

  /** Makes a run where only this choice varies; empty if it passes. */
  async #alone(of: ClientRun, choice: RowChoice, point?: VariedPoint, time = 1): Promise<Failure[]> {
    const run = await this.#again(of, [choice], time);
    return hasFailed(run) ? [{ of, run, point }] : [];
  }

  async #onEachStatus(run: ClientRun, row: string, points: readonly VariedPoint[]): Promise<Failure[]> {
    const failures: Failure[] = [];
    for (const point of points)
      if (failures.length < 2)
        failures.push(...(await this.#alone(run, { row, status: point.status }, point)));
    return failures;
  }

  /** Another seed may show that another variant fails as well. */
  async #onOneStatus(run: ClientRun, row: string): Promise<Failure[]> {
    const failures = await this.#alone(run, { row }, pointsOf(run, row)[0]);
    const isOther = ({ seed }: ClientRun) => seed !== run.seed;
    const other = this.#failing.find((run) => isOther(run) && pointsOf(run, row).length === 1);
    if (other === undefined) return failures;
    const [failure] = await this.#alone(other, { row });
    const [point, ...more] = failure === undefined ? [] : pointsOf(failure.run, row);
    return failure === undefined || more.length > 0 ? failures : [...failures, { ...failure, point }];
  }

  /** Adds a cause. A long body takes the place of rows that lengthen one. */
  #add(cause: RowCause): void {
    const all = [...this.#causes, cause];
    const isCovered = ({ row }: RowCause) =>
      all.some((other) => other.row !== row && coveredBy(other.row).includes(row));
    this.#causes = all.filter((other) => !isCovered(other));
  }

  /** The rows of a run without those that were found. */
  #restOf(run: ClientRun): string[] {
    const explained = this.#causes.flatMap(({ row }) => coveredBy(row));
    return rowsOf(run).filter((row) => !explained.includes(row));
  }

  /** The runs that do not pass without the rows that were found: the others have no other cause. */
  async #unexplained(runs: readonly ClientRun[]): Promise<ClientRun[]> {
    const unexplained = async (run: ClientRun) =>
      this.#restOf(run).length < rowsOf(run).length && (await this.#passes(run)) ? [] : [run];
    return (await Promise.all([...new Set(runs)].map(unexplained))).flat();
  }

  /** Removes the rows without which fewer than two runs have passed, and returns the runs that nothing explains then. */
  async #unconfirmed(): Promise<ClientRun[]> {
    for (const { run, passes } of this.#causes) if (passes < 2) await this.#passes(run, passes + 1);
    const dropped = this.#causes.filter(({ passes }) => passes < 2);
    this.#causes = this.#causes.filter(({ passes }) => passes >= 2);
    const named = this.#causes.flatMap(({ failed }) => failed);
    return dropped.flatMap(({ failed }) => failed).filter((run) => !named.includes(run));
  }

  /** Next to a seed that has no cause, the others may be chance: all are tried more often, and end alike, or show nothing. */
  async #repeat(unknown: readonly ClientRun[]): Promise<void> {
    for (const run of unknown.slice(0, maxVain)) await this.#client.again(run, { time: 3, isAlone: true });
    for (const { run, shownBy } of this.#causes) {
      await this.#again(shownBy, shownBy.conditions.rows ?? [], 4);
      await this.#passes(run, 4);
    }
  }

  /** Whether a run passes without the rows that were found; it is then one of theirs. */
  async #passes(run: ClientRun, time = 1): Promise<boolean> {
    const again = await this.#again(
      run,
      this.#restOf(run).map((row) => ({ row })),
      time,
    );
    if (again?.result !== "passed") return false;
    const isIn = ({ row }: RowCause) => rowsOf(run).some((other) => coveredBy(row).includes(other));
    const hasVariant = ({ points }: RowCause) =>
      points.some((point) => run.points.map(idOfPoint).includes(idOfPoint(point)));
    // Of several rows, those whose variants have failed alone.
    const isShown = this.#causes.filter(isIn).some(hasVariant);
    this.#causes = this.#causes.map((cause) => {
      if (!isIn(cause)) return cause;
      const failed = !isShown || hasVariant(cause) ? inOrder([...cause.failed, run]) : cause.failed;
      return { ...cause, failed, passes: cause.passes + 1 };
    });
    return true;
  }

  async #fails(run: ClientRun, rows: readonly string[], time = 1): Promise<boolean> {
    return hasFailed(
      await this.#again(
        run,
        rows.map((row) => ({ row })),
        time,
      ),
    );
  }

  /** Makes a run where only these rows vary, until the search is out of runs or nothing can be shown. */
  async #again(run: ClientRun, rows: readonly RowChoice[], time = 1): Promise<ClientRun | undefined> {
    if (this.#left === 0 || this.#client.contradiction !== undefined) return undefined;
    this.#left -= 1;
    const again = await this.#client.again(run, { rows, time });
    if (again?.result === "passed") this.#clear(again.points);
    return again;
  }
}

const inOrder = (runs: readonly ClientRun[]) =>
  [...new Set(runs)].sort((one, other) => one.seed - other.seed);

const uniquePoints = (points: readonly VariedPoint[]) => [
  ...new Map(points.map((point) => [idOfPoint(point), point])).values(),
];

function rowCause({ row, points, isMore, shownBy, failed }: RowCause): Cause {
  const named = uniquePoints(points);
  const variants = [...new Set(named.map(({ variant }) => variant))];
  const statuses = [...new Set(named.map(({ status }) => `a ${status}`))].sort();
  const words = variants.flatMap((variant) => wordsOf(row, variant) ?? []);
  const isLate = shownBy.result === "timed_out";
  const responses = isMore ? `a response, such as ${listed(statuses, "or")},` : listed(statuses, "or");
  const sentence = `${isLate ? "Does not end in time" : "Breaks"} when ${responses} ${listed(words, "or")}`;
  const late = isLate
    ? " Limit how long your client waits. If it may wait that long, set a longer --timeout."
    : "";
  return { row, points: named, sentence, whatToDo: remedyOf(row) + late, failed, shownBy };
}

const seedsIn = (failed: readonly ClientRun[]) =>
  `${failed.length === 1 ? "seed" : "seeds"} ${listed(
    failed.map(({ seed }) => String(seed)),
    "and",
  )}`;

function seedCause(failed: readonly ClientRun[]): Cause {
  return {
    shownBy: failed[0] as ClientRun,
    sentence: `Fails with ${seedsIn(failed)} even when nothing is varied`,
    whatToDo:
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
    failed,
  };
}

/** The most variations that a sentence lists. */
const maxWords = 3;

function unknownCause(failed: readonly ClientRun[]): Cause {
  const shownBy = failed[0] as ClientRun;
  const { last, result, code } = shownBy;
  const words = (last?.points ?? []).flatMap(({ row, variant }) => wordsOf(row, variant) ?? []);
  const more = words.length > maxWords ? [pluralize(words.length - maxWords, "other variation")] : [];
  const how = result === "timed_out" ? "does not end in time" : `fails with exit code ${code}`;
  const response =
    last &&
    `Look at what the command prints, and at the last response (${last.outcome}, ${last.id}): it ${listed([...words.slice(0, maxWords), ...more], "and")}.`;
  return {
    shownBy,
    sentence: `The command ${how} with ${seedsIn(failed)}: no single row of varied responses brings it back`,
    whatToDo: response ?? "The command got no response.",
    failed,
  };
}
