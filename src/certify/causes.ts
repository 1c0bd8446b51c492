import { lengtheningRows } from "../api/variation/table.js";
import { pluralize } from "../report/plain-text.js";
import { listed } from "../rules/schema/words.js";
import type { RowChoice } from "../runs/conditions.js";
import type { VariedPoint } from "../sandbox/journal/counts.js";
import { type ClientRun, findDependency, idOfPoint, remedyOf, requestsIn, wordsOf } from "./run.js";

/** A varied run that failed. */
export interface FailedRun {
  readonly seed: number;
  readonly run: ClientRun;
}

/** Runs the client again with this seed, where only these rows vary. Default: all. */
type Repeat = (
  seed: number,
  rows?: readonly RowChoice[],
  isAlone?: boolean,
) => Promise<ClientRun | undefined>;

/** Why varied runs fail: one row, or nothing that certify can tell. */
interface Cause {
  /** `undefined`: no row brings the failure back alone. */
  readonly row?: string;
  /** The variants of the row that failed. */
  readonly points: readonly VariedPoint[];
  readonly sentence: string;
  readonly whatToDo: string;
  /** The runs that fail for it, the first first. */
  readonly failed: readonly FailedRun[];
}

export interface Causes {
  readonly causes: readonly Cause[];
  /** A run that failed next to another run, and passed alone. */
  readonly disturbed?: FailedRun;
}

interface RowCause {
  readonly row: string;
  readonly points: VariedPoint[];
  readonly failed: FailedRun[];
}

/** Finds the rows of the variation table that each bring a failure back alone. */
export async function findCauses(
  failing: readonly FailedRun[],
  passed: readonly VariedPoint[],
  repeat: Repeat,
): Promise<Causes> {
  const search = new Search(failing, passed, repeat);
  for (let next = search.next(); next !== undefined; next = search.next()) {
    if (await search.isDisturbed(next)) return { causes: [], disturbed: next };
    if (await search.findRows(next)) await search.explainOthers();
  }
  return { causes: search.causes() };
}

/** The most runs of a search, and the most seeds that it searches in vain. */
const [maxRuns, maxVain] = [60, 2];

const longBody = "body_length";

/** A row, and with a long body each row that lengthens one: only the length may break the client. */
function coveredBy(row: string): readonly string[] {
  return row === longBody ? [row, ...longerBy] : [row];
}
const longerBy = [...lengtheningRows.map(({ id }) => id), "organization.name_ending", "key.granted_scopes"];

const rowsOf = ({ run }: FailedRun) => [...new Set(run.points.map(({ row }) => row))];

class Search {
  readonly #passed: ReadonlySet<string>;
  readonly #repeat: Repeat;
  readonly #failing: readonly FailedRun[];
  #open: readonly FailedRun[];
  readonly #results = new Map<string, Promise<boolean>>();
  /** The rows that a seed has passed with: none of them breaks it alone. */
  readonly #cleared = new Map<number, Set<string>>();
  #left = maxRuns;
  #rowCauses: readonly RowCause[] = [];
  readonly #bySeed: FailedRun[] = [];
  readonly #unknown: FailedRun[] = [];
  readonly #flaky: { readonly failedRun: FailedRun; readonly again: ClientRun }[] = [];

  constructor(failing: readonly FailedRun[], passed: readonly VariedPoint[], repeat: Repeat) {
    this.#failing = failing;
    this.#open = failing;
    this.#passed = new Set(passed.map(idOfPoint));
    this.#repeat = repeat;
  }

  /** The next failing run without a cause. */
  next(): FailedRun | undefined {
    if (this.#unknown.length >= maxVain) {
      this.#unknown.push(...this.#open);
      this.#open = [];
    }
    const [next, ...others] = this.#open;
    this.#open = others;
    return next;
  }

  async isDisturbed({ seed, run }: FailedRun): Promise<boolean> {
    return run.isShared === true && (await this.#repeat(seed, undefined, true))?.result === "passed";
  }

  /** Finds the rows that each break one seed; `false` if there is none. */
  async findRows(failedRun: FailedRun): Promise<boolean> {
    const explained = this.#rowCauses.flatMap(({ row }) => coveredBy(row));
    let rest = rowsOf(failedRun).filter((row) => !explained.includes(row));
    let isFound = false;
    // The other seeds often depend on the same.
    const isSuspect = rest.length === 0 || this.#bySeed.length > 0;
    let isBySeed = isSuspect && (await this.#isBySeed(failedRun.seed));
    while (rest.length > 0 && !isBySeed) {
      const cleared = this.#cleared.get(failedRun.seed);
      const suspects = rest.filter((row) => !cleared?.has(row));
      const halved = await this.#halve(failedRun.seed, suspects.length === 0 ? rest : suspects);
      const long = await this.#withLongBody(halved);
      const row = long === undefined ? halved : longBody;
      const others = rest.filter((other) => !coveredBy(row).includes(other));
      const [isAlone, hasOthers] = await Promise.all([
        long !== undefined || this.#fails(failedRun.seed, [row]),
        others.length > 0 && this.#fails(failedRun.seed, others),
      ]);
      isBySeed = !isFound && (await this.#isBySeed(failedRun.seed));
      if (isBySeed || !isAlone) break;
      isFound = true;
      await this.#addRow(row, long ?? failedRun, failedRun);
      rest = hasOthers ? others : [];
    }
    if (isFound) return true;
    if (isBySeed) this.#bySeed.push(failedRun);
    else await this.#addUnknown(failedRun);
    return false;
  }

  /** Runs each other seed without the rows that were found: one that passes then has no other cause. */
  async explainOthers(): Promise<void> {
    const explained = this.#rowCauses.flatMap(({ row }) => coveredBy(row));
    if (explained.length === 0) return;
    const explain = async (failedRun: FailedRun) => {
      const rows = rowsOf(failedRun).filter((row) => !explained.includes(row));
      const isFree = rows.length === rowsOf(failedRun).length;
      if (isFree || (await this.#fails(failedRun.seed, rows))) return failedRun;
      this.#addRun(failedRun);
      return [];
    };
    const others = [...this.#open, ...this.#unknown.splice(0)];
    const left = await Promise.all(others.map(explain));
    const isOpen = (one: FailedRun) => this.#open.includes(one);
    this.#unknown.push(...left.flat().filter((one) => !isOpen(one)));
    this.#open = left.flat().filter(isOpen);
  }

  causes(): Cause[] {
    const bySeed = this.#bySeed.length > 0 ? [seedCause(this.#bySeed)] : [];
    const unknown = this.#unknown.length > 0 ? [unknownCause(this.#unknown)] : [];
    const flaky = this.#flaky.map(({ failedRun, again }) => flakyCause(failedRun, again));
    return [...this.#rowCauses.map(rowCause), ...bySeed, ...unknown, ...flaky];
  }

  /** Halves the rows until one is left. If the first half passes, the second one is trusted to fail. */
  async #halve(seed: number, rows: readonly string[]): Promise<string> {
    if (rows.length === 1) return rows[0] as string;
    const { points = [] } = this.#failing.find((one) => one.seed === seed)?.run ?? {};
    const isNew = (row: string) =>
      points.some((point) => point.row === row && !this.#passed.has(idOfPoint(point)));
    // What varied in no run that passed is more likely.
    const suspects = rows.filter(isNew);
    const others = rows.filter((row) => !suspects.includes(row));
    const middle = Math.ceil(rows.length / 2);
    const isSplit = suspects.length === 0 || others.length === 0;
    const [first, second] = isSplit ? [rows.slice(0, middle), rows.slice(middle)] : [suspects, others];
    return this.#halve(seed, (await this.#fails(seed, first)) ? first : second);
  }

  /** A run that fails by its long body only, if this row makes bodies longer. */
  async #withLongBody(row: string): Promise<FailedRun | undefined> {
    if (!longerBy.includes(row)) return undefined;
    const long = this.#failing.find((one) => rowsOf(one).includes(longBody));
    return long && (await this.#fails(long.seed, [longBody])) ? long : undefined;
  }

  /** Adds a row, with the statuses of one run where it breaks the client alone. */
  async #addRow(row: string, { seed, run }: FailedRun, failedRun: FailedRun): Promise<void> {
    const points = run.points.filter((point) => point.row === row);
    const broken = await this.#brokenAmong(seed, points);
    const failed = [...new Set([failedRun, ...this.#failing.filter((one) => one.seed === seed)])];
    const covered = this.#rowCauses.filter((cause) => coveredBy(row).includes(cause.row));
    this.#rowCauses = [
      ...this.#rowCauses.filter((cause) => !covered.includes(cause)),
      {
        row,
        points: broken,
        failed: [...new Set([...failed, ...covered.flatMap((cause) => cause.failed)])],
      },
    ];
  }

  /** The points of a row that break the client alone. The last one is trusted to if no other does. */
  async #brokenAmong(seed: number, points: VariedPoint[]): Promise<VariedPoint[]> {
    const isBroken = ({ row, status }: VariedPoint) => this.#fails(seed, [{ row, status }]);
    const isWhole = points.length <= maxStatuses;
    const last = isWhole ? points.slice(-1) : [];
    const others = isWhole ? points.slice(0, -1) : points.slice(0, maxStatuses);
    const areBroken = await Promise.all(others.map(isBroken));
    const broken = others.filter((_, at) => areBroken[at]);
    if (broken.length === 0) return isWhole ? last : points;
    const isLastBroken = await Promise.all(last.map(isBroken));
    return [...broken, ...last.filter((_, at) => isLastBroken[at])];
  }

  /** Adds a failing run to the causes that it has, with the variant that no other run has passed with. */
  #addRun(failedRun: FailedRun): void {
    for (const { row, points, failed } of this.#rowCauses) {
      const ofRow = failedRun.run.points.filter((point) => coveredBy(row).includes(point.row));
      if (ofRow.length === 0) continue;
      if (!failed.includes(failedRun)) failed.push(failedRun);
      const statuses = points.map(({ status }) => status);
      const isAdded = (point: VariedPoint) =>
        point.row === row && statuses.includes(point.status) && !this.#passed.has(idOfPoint(point));
      points.push(...ofRow.filter(isAdded));
    }
  }

  /** A seed without a row: it fails again, or depends on something else. */
  async #addUnknown(failedRun: FailedRun): Promise<void> {
    const again = failedRun.run.isShared ? undefined : await this.#repeat(failedRun.seed, undefined, true);
    if (again?.result === "passed") this.#flaky.push({ failedRun, again });
    else this.#unknown.push(failedRun);
  }

  /** Whether a seed fails without any row: not if it has passed with some. */
  async #isBySeed(seed: number): Promise<boolean> {
    return !this.#cleared.has(seed) && this.#fails(seed, []);
  }

  /** Each run is made once. */
  #fails(seed: number, rows: readonly (string | RowChoice)[]): Promise<boolean> {
    const choices = rows.map((row) => (typeof row === "string" ? { row } : row));
    const id = JSON.stringify([seed, choices]);
    const fails = this.#results.get(id) ?? this.#failsNow(seed, choices);
    this.#results.set(id, fails);
    return fails;
  }

  async #failsNow(seed: number, rows: readonly RowChoice[]): Promise<boolean> {
    if (this.#left === 0) return false;
    this.#left -= 1;
    const run = await this.#repeat(seed, rows);
    if (run?.result === "passed") {
      const cleared = rows.flatMap(({ row, status }) => (status === undefined ? row : []));
      this.#cleared.set(seed, new Set([...(this.#cleared.get(seed) ?? []), ...cleared]));
    }
    return run !== undefined && run.result !== "passed";
  }
}

const maxStatuses = 4;

function rowCause({ row, points, failed }: RowCause): Cause {
  const failingPoints = [...new Map(points.map((point) => [idOfPoint(point), point])).values()];
  const variants = [...new Set(failingPoints.map(({ variant }) => variant))];
  const statuses = [...new Set(failingPoints.map(({ status }) => `a ${status}`))].sort();
  const words = variants.flatMap((variant) => wordsOf(row, variant) ?? []);
  const isLate = failed[0]?.run.result === "timed_out";
  const sentence = `${isLate ? "Does not end in time" : "Breaks"} when ${listed(statuses, "or")} ${listed(words, "or")}`;
  const late = isLate
    ? " Limit how long your client waits. If it may wait that long, set a longer --timeout."
    : "";
  return { row, points: failingPoints, sentence, whatToDo: remedyOf(row) + late, failed };
}

const seedsIn = (failed: readonly FailedRun[]) =>
  `${failed.length === 1 ? "seed" : "seeds"} ${listed(
    failed.map(({ seed }) => String(seed)),
    "and",
  )}`;

function seedCause(failed: readonly FailedRun[]): Cause {
  return {
    points: [],
    sentence: `Fails with ${seedsIn(failed)} even when nothing is varied`,
    whatToDo:
      "Do not rely on names, ids or keys that depend on the seed: read keys from `SVC_KEY_…`, and set the others in the scenario.",
    failed,
  };
}

/** The most variations that a sentence lists. */
const maxWords = 3;

function unknownCause(failed: readonly FailedRun[]): Cause {
  const { last, result, code } = (failed[0] as FailedRun).run;
  const words = (last?.points ?? []).flatMap(({ row, variant }) => wordsOf(row, variant) ?? []);
  const more = words.length > maxWords ? [pluralize(words.length - maxWords, "other variation")] : [];
  const how = result === "timed_out" ? "does not end in time" : `fails with exit code ${code}`;
  const response =
    last &&
    `Look at what the command prints, and at the last response (${last.outcome}, ${last.id}): it ${listed([...words.slice(0, maxWords), ...more], "and")}.`;
  return {
    points: [],
    sentence: `The command ${how} with ${seedsIn(failed)}: no single row of varied responses brings it back`,
    whatToDo: response ?? "The command got no response.",
    failed,
  };
}

function flakyCause(failedRun: FailedRun, again: ClientRun): Cause {
  const [first, second] = [requestsIn(failedRun.run), requestsIn(again)];
  const what = first === second ? "although the sandbox behaved the same" : "with different requests";
  const numbers = first === second ? "" : `: ${first} when it failed, and ${second} when it passed`;
  return {
    points: [],
    sentence: `Failed once and passed once with seed ${failedRun.seed}, ${what}${numbers}`,
    whatToDo: first === second ? findDependency : "Send the same requests in each run.",
    failed: [failedRun],
  };
}
