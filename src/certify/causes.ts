import { lengtheningRows } from "../api/variation/table.js";
import { listed } from "../rules/schema/words.js";
import { idOfPoint, type VariedPoint } from "../sandbox/conditions.js";
import { type ClientRun, remedyOf, wordsOf } from "./run.js";

/** A varied run that failed. */
export interface FailedRun {
  readonly seed: number;
  readonly run: ClientRun;
}

/** Runs the client again with this seed, where only these points vary. Default: all. */
export type Repeat = (
  seed: number,
  points: readonly VariedPoint[] | undefined,
  isAlone?: boolean,
) => Promise<Pick<ClientRun, "outcome"> | undefined>;

/** Why varied runs fail: one row, or nothing that certify can tell. */
export interface Cause {
  /** `undefined`: no row breaks the client alone. */
  readonly row?: string;
  /** The variants of the row that failed. */
  readonly points: readonly VariedPoint[];
  readonly sentence: string;
  readonly whatToDo: string;
  /** The runs that fail for it, the first first. */
  readonly failed: readonly FailedRun[];
}

/** `flaky`: the same run passed once and failed once. `disturbed`: it failed next to another run, and passes alone. */
export interface Causes {
  readonly causes: readonly Cause[];
  readonly flaky: readonly FailedRun[];
  readonly disturbed?: FailedRun;
}

/** The most runs that the search for the causes of one seed takes. */
const maxRuns = 30;

interface RowCause {
  readonly row: string;
  readonly points: Map<string, VariedPoint>;
  readonly failed: FailedRun[];
}

/** Finds the rows of the variation table that each bring a failure back alone. */
export async function findCauses(
  failing: readonly FailedRun[],
  passed: readonly VariedPoint[],
  repeat: Repeat,
): Promise<Causes> {
  const rowCauses: RowCause[] = [];
  const open: Cause[] = [];
  const flaky: FailedRun[] = [];
  for (const failedRun of failing) {
    const search = new Search(failedRun.seed, repeat);
    const explained = new Set(rowCauses.flatMap(({ row }) => coveredBy(row)));
    const others = failedRun.run.points.filter(({ row }) => !explained.has(row));
    const isKnown = rowCauses.length > 0 && others.length < failedRun.run.points.length;
    if (isKnown && !(await search.fails(others))) {
      addRun(rowCauses, failedRun, new Set(passed.map(idOfPoint)));
      continue;
    }
    if (!(await search.fails(undefined, failedRun.run.isShared))) {
      if (failedRun.run.isShared) return { causes: [], flaky: [], disturbed: failedRun };
      flaky.push(failedRun);
      continue;
    }
    if (await search.fails([])) {
      open.push(seedCause(failedRun));
      continue;
    }
    const rows = await search.rowsOf(others, passed);
    if (rows.length === 0) open.push(unknownCause(failedRun));
    for (const row of rows) {
      const points = await search.pointsOf(row, others);
      rowCauses.push({
        row,
        points: new Map(points.map((point) => [idOfPoint(point), point])),
        failed: [failedRun],
      });
    }
  }
  return { causes: [...withoutCovered(rowCauses).map(rowCause), ...open], flaky };
}

/** A client that breaks on long bodies breaks on each row that makes one longer: only the length is its cause. */
function withoutCovered(rowCauses: readonly RowCause[]): readonly RowCause[] {
  const long = rowCauses.find(({ row }) => row === longBody);
  if (long === undefined) return rowCauses;
  const others = rowCauses.filter((cause) => cause !== long && coveredBy(longBody).includes(cause.row));
  const failed = [...long.failed, ...others.flatMap((cause) => cause.failed)];
  return [{ ...long, failed }, ...rowCauses.filter((cause) => cause !== long && !others.includes(cause))];
}

/** A row, and with a long body each row that lengthens one: only the length may break the client. */
function coveredBy(row: string): string[] {
  return row === longBody
    ? [row, ...lengtheningRows.map(({ id }) => id), "organization.name_ending", "key.granted_scopes"]
    : [row];
}

const longBody = "body_length";

/** A search in the points of one seed, with a limited number of runs. */
class Search {
  readonly #seed: number;
  readonly #repeat: Repeat;
  #left = maxRuns;

  constructor(seed: number, repeat: Repeat) {
    this.#seed = seed;
    this.#repeat = repeat;
  }

  async fails(points: readonly VariedPoint[] | undefined, isAlone = false): Promise<boolean> {
    if (this.#left === 0) return false;
    this.#left -= 1;
    const run = await this.#repeat(this.#seed, points, isAlone);
    return run !== undefined && run.outcome !== "passed";
  }

  async pointsOf(row: string, points: readonly VariedPoint[]): Promise<readonly VariedPoint[]> {
    return this.#partsOf(await this.#partsOf(pointsIn(points, [row]), "status"), "variant");
  }

  /** The rows that fail alone; what varied in a run that passed is tried last. */
  async rowsOf(points: readonly VariedPoint[], passed: readonly VariedPoint[]): Promise<string[]> {
    const hasPassed = new Set(passed.map(idOfPoint));
    const suspects = points.filter((point) => !hasPassed.has(idOfPoint(point)));
    const rows: string[] = [];
    let rest = suspects.length > 0 && (await this.fails(suspects)) ? suspects : points;
    while (rest.length > 0) {
      const row = await this.#nextRow(rest);
      if (row === undefined || !(await this.fails(pointsIn(rest, [row]))) || (await this.fails([])))
        return rows;
      rows.push(row);
      const covered = coveredBy(row);
      rest = rest.filter((point) => !covered.includes(point.row));
      if (rest.length === 0 || !(await this.fails(rest))) return rows;
    }
    return rows;
  }

  /** A long body first, as other rows lengthen one. */
  async #nextRow(points: readonly VariedPoint[]): Promise<string | undefined> {
    const rows = [...new Set(points.map(({ row }) => row))];
    const isLong =
      rows.length > 1 && rows.includes(longBody) && (await this.fails(pointsIn(points, [longBody])));
    return isLong ? longBody : this.#rowIn(rows, points);
  }

  /** Halves the rows until one of them fails alone; `undefined` if none does. */
  async #rowIn(rows: readonly string[], points: readonly VariedPoint[]): Promise<string | undefined> {
    if (rows.length === 1) return rows[0];
    for (const half of [rows.slice(0, rows.length / 2), rows.slice(rows.length / 2)]) {
      if (await this.fails(pointsIn(points, half))) return this.#rowIn(half, points);
    }
    return undefined;
  }

  /** The parts of a row that fail, by their status or their variant. */
  async #partsOf(points: readonly VariedPoint[], by: "status" | "variant"): Promise<readonly VariedPoint[]> {
    const values = [...new Set(points.map((point) => point[by]))];
    if (values.length === 1) return points;
    const parts: VariedPoint[] = [];
    for (const value of values) {
      const part = points.filter((point) => point[by] === value);
      if (await this.fails(part)) parts.push(...part);
    }
    return parts.length === 0 ? points : parts;
  }
}

const pointsIn = (points: readonly VariedPoint[], rows: readonly string[]) =>
  points.filter(({ row }) => rows.includes(row));

/** Adds a failing run to the causes that it has, and the one variant that it can fail by, if it is only one. */
function addRun(rowCauses: readonly RowCause[], failedRun: FailedRun, passed: ReadonlySet<string>): void {
  for (const { row, points, failed } of rowCauses) {
    const ofRow = pointsIn(failedRun.run.points, [row]);
    if (ofRow.length === 0) continue;
    failed.push(failedRun);
    const statuses = [...points.values()].map(({ status }) => status);
    const suspects = ofRow.filter(
      (point) => statuses.includes(point.status) && !passed.has(idOfPoint(point)),
    );
    const [point] = suspects;
    if (point !== undefined && suspects.length === 1) points.set(idOfPoint(point), point);
  }
}

function rowCause({ row, points, failed }: RowCause): Cause {
  const failingPoints = [...points.values()];
  const variants = [...new Set(failingPoints.map(({ variant }) => variant))];
  const statuses = [...new Set(failingPoints.map(({ status }) => `a ${status}`))].sort();
  const words = variants.flatMap((variant) => wordsOf(row, variant) ?? []);
  const isLate = failed[0]?.run.outcome === "timed_out";
  const sentence = `${isLate ? "Does not end in time" : "Breaks"} when ${listed(statuses, "or")} ${listed(words, "or")}`;
  const late = isLate
    ? " Limit how long your client waits. If it may wait that long, set a longer --timeout."
    : "";
  return { row, points: failingPoints, sentence, whatToDo: remedyOf(row) + late, failed };
}

function seedCause(failedRun: FailedRun): Cause {
  return {
    points: [],
    sentence: `Fails with seed ${failedRun.seed} even when nothing is varied`,
    whatToDo:
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
    failed: [failedRun],
  };
}

function unknownCause(failedRun: FailedRun): Cause {
  const { last, outcome, code } = failedRun.run;
  const words = (last?.points ?? []).flatMap(({ row, variant }) => wordsOf(row, variant) ?? []);
  const how = outcome === "timed_out" ? "does not end in time" : `fails with exit code ${code}`;
  const response = last && `The last response (${last.pathId}, ${last.id}) ${listed(words, "and")}.`;
  return {
    points: [],
    sentence: `With seed ${failedRun.seed}, the command ${how}: cannot tell why: no row of varied responses breaks it alone`,
    whatToDo: response ?? "The command got no response.",
    failed: [failedRun],
  };
}
