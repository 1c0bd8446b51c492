import { lengtheningRows } from "../api/variation/table.js";
import { pluralize } from "../report/plain-text.js";
import { listed } from "../rules/schema/words.js";
import type { RowChoice } from "../runs/conditions.js";
import type { VariedPoint } from "../sandbox/run-trace.js";
import type { Finding } from "./certificate.js";
import type { Runs } from "./context.js";
import { type ClientRun, hasFailed, idOfPoint, remedyOf, wordsOf } from "./run.js";

/** Why varied runs fail: one row, or nothing that certify can tell. */
export interface Cause extends Pick<Finding, "sentence" | "whatToDo" | "row" | "points"> {
  /** The runs that fail for it, the first first. */
  readonly failed: readonly ClientRun[];
  /** The run that shows it: only its row varied there, if it has one. */
  readonly shownBy: ClientRun;
}

/** Finds the rows of the variation table that each bring a failure back alone. `passed`: what varied in runs that passed. */
export async function findCauses(
  failing: readonly ClientRun[],
  passed: readonly VariedPoint[],
  runs: Runs,
): Promise<Cause[]> {
  await runs.failAgain(failing);
  return new Search(failing, passed, runs).causes();
}

/** The most runs of a search, about as many as most take, and the most seeds that it searches in vain. */
const [maxRuns, usualRuns, maxVain] = [100, 8, 2];

const longBody = "body_length";

/** A row, and with a long body each row that lengthens one: only the length may break the client. */
function coveredBy(row: string): readonly string[] {
  return row === longBody ? [row, ...longerBy] : [row];
}
const longerBy = [...lengtheningRows.map(({ id }) => id), "organization.name_ending", "key.granted_scopes"];

const rowsOf = ({ points }: ClientRun) => [...new Set(points.map(({ row }) => row))];
const idsOf = ({ points }: ClientRun) => points.map(idOfPoint);
const pointsOf = ({ points }: ClientRun, row: string) => points.filter((point) => point.row === row);

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

class Search {
  readonly #client: Runs;
  readonly #failing: readonly ClientRun[];
  /** What varied in runs that passed: it breaks nothing alone. */
  readonly #passed: Set<string>;
  readonly #runs = new Map<string, Promise<ClientRun | undefined>[]>();
  readonly #rowsThatPassed: Set<string>;
  /** The rows that a seed has passed with: none of them breaks it alone. */
  readonly #cleared = new Map<number, Set<string>>();
  #left = maxRuns;
  #open: readonly ClientRun[];
  #rowCauses: readonly RowCause[] = [];
  readonly #bySeed: ClientRun[] = [];
  readonly #unknown: ClientRun[] = [];

  constructor(failing: readonly ClientRun[], passed: readonly VariedPoint[], runs: Runs) {
    this.#failing = failing;
    this.#open = failing;
    this.#passed = new Set(passed.map(idOfPoint));
    this.#rowsThatPassed = new Set(passed.map(({ row }) => row));
    this.#client = runs;
  }

  async causes(): Promise<Cause[]> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#client.expectMore(usualRuns);
      if (await this.#findRows(next)) await this.#explainOthers();
    }
    await this.#confirm();
    if (this.#unknown.length > 0) await this.#repeatCauses();
    const bySeed = this.#bySeed.length > 0 ? [seedCause(this.#bySeed)] : [];
    // Of a client with many causes, a search that is out of runs shows nothing about the seeds that are left.
    const isOut = this.#left === 0 && this.#rowCauses.length > 0;
    const unknown = this.#unknown.length > 0 && !isOut ? [unknownCause(this.#unknown)] : [];
    return [...this.#rowCauses.map(rowCause), ...bySeed, ...unknown];
  }

  /** The next failing run without a cause. */
  #next(): ClientRun | undefined {
    if (this.#client.contradiction !== undefined) return undefined;
    if (this.#unknown.length >= maxVain) {
      this.#unknown.push(...this.#open);
      this.#open = [];
    }
    const [next, ...others] = this.#open;
    this.#open = others;
    return next;
  }

  /** Finds the rows that each break a run; `false` if there is none. */
  async #findRows(run: ClientRun): Promise<boolean> {
    const before = this.#rowCauses;
    let rest = this.#unexplainedRows(run);
    // The other seeds often depend on the same.
    const isSuspect = rest.length === 0 || this.#bySeed.length > 0;
    let isBySeed = isSuspect && (await this.#isBySeed(run));
    while (!isBySeed && rest.length > 0) {
      const cause = await this.#findRow(run, rest);
      if (cause === undefined) break;
      this.#add(cause);
      rest = rest.filter((row) => !coveredBy(cause.row).includes(row));
      if (await this.#passes(run, rest)) return true;
      isBySeed = await this.#isBySeed(run);
    }
    isBySeed ||= this.#rowCauses === before && (await this.#isBySeed(run));
    if (!isBySeed && this.#rowCauses !== before) return true;
    this.#rowCauses = before;
    if (isBySeed) this.#bySeed.push(run);
    else await this.#addUnknown(run);
    return false;
  }

  #unexplainedRows(run: ClientRun): string[] {
    const explained = this.#rowCauses.flatMap(({ row }) => coveredBy(row));
    return rowsOf(run).filter((row) => !explained.includes(row));
  }

  /** Finds one row that breaks a run alone, the likely ones first: what varied in no run that passed, and in each that is open. */
  async #findRow(run: ClientRun, rest: readonly string[]): Promise<RowCause | undefined> {
    const isNew = (row: string) => (other: ClientRun) =>
      pointsOf(other, row).some((point) => !this.#passed.has(idOfPoint(point)));
    const all = [run, ...this.#open];
    const inEach = rest.filter((row) => all.every(isNew(row)));
    const neverPassed = inEach.filter((row) => !this.#rowsThatPassed.has(row));
    const inThis = rest.filter((row) => isNew(row)(run));
    const left = rest.filter((row) => !this.#cleared.get(run.seed)?.has(row));
    for (const rows of [neverPassed, inEach, inThis, left]) {
      if (rows.length === 0 || (rows !== neverPassed && !(await this.#fails(run, rows)))) continue;
      const cause = await this.#breaksBy(run, await this.#halve(run, rows));
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  /** Halves the rows until one is left. If the first half passes, the second one is trusted to fail. */
  async #halve(run: ClientRun, rows: readonly string[]): Promise<string> {
    if (rows.length === 1) return rows[0] as string;
    const middle = Math.ceil(rows.length / 2);
    const first = rows.slice(0, middle);
    return this.#halve(run, (await this.#fails(run, first)) ? first : rows.slice(middle));
  }

  /** Whether only this row breaks a run, or a long body, if the row makes bodies longer. */
  async #breaksBy(run: ClientRun, row: string): Promise<RowCause | undefined> {
    const long = longerBy.includes(row)
      ? this.#failing.find((other) => rowsOf(other).includes(longBody))
      : undefined;
    const isLong = long !== undefined && (await this.#fails(long, [longBody]));
    const cause = isLong ? await this.#failsTwice(long, longBody) : undefined;
    return cause === undefined ? this.#failsTwice(run, row) : { ...cause, failed: [run, ...cause.failed] };
  }

  /** Makes runs where only this row varies, until two have failed: on one status after the other, or with another seed. */
  async #failsTwice(run: ClientRun, row: string): Promise<RowCause | undefined> {
    // A run that stops at its first failure may have varied the row on fewer statuses than the row alone.
    const whole = pointsOf(run, row).length === 1 ? await this.#make(run, [{ row }]) : run;
    if (!hasFailed(whole)) return undefined;
    let points = pointsOf(whole, row);
    const isSingle = points.length === 1;
    const [failed, broken]: [ClientRun[], VariedPoint[]] = isSingle ? [[whole], [...points]] : [[], []];
    const attempt = async (made: Promise<ClientRun | undefined>, tried?: VariedPoint) => {
      const again = await made;
      if (!hasFailed(again)) return;
      failed.push(again);
      if (tried !== undefined) broken.push(tried);
    };
    let untried = isSingle ? [] : points;
    for (let next = untried[0]; next !== undefined && broken.length < 2; next = untried[0]) {
      untried = untried.slice(1);
      await attempt(this.#make(run, [{ row, status: next.status }]), next);
      if (broken.length > 0) continue;
      const all = await this.#make(run, [{ row }]);
      if (!hasFailed(all)) return undefined;
      const unseen = pointsOf(all, row).filter((point) => !points.map(idOfPoint).includes(idOfPoint(point)));
      points = [...points, ...unseen];
      untried = [...untried, ...unseen];
    }
    const other = isSingle ? this.#open.find((one) => pointsOf(one, row).length === 1) : undefined;
    if (other !== undefined) await this.#attemptElsewhere(other, row, attempt);
    for (let time = isSingle ? 2 : 1; time <= 2 && failed.length < 2; time++)
      await attempt(this.#make(run, [{ row }], time));
    const [shownBy, second] = failed;
    if (shownBy === undefined || second === undefined) return undefined;
    if (broken.length === 0) broken.push(...points);
    const isMore = untried.length > 0;
    return { row, points: broken, isMore, shownBy, run, failed: [run], passes: 0 };
  }

  /** Another seed may show that another variant of a row fails as well. */
  async #attemptElsewhere(
    other: ClientRun,
    row: string,
    attempt: (made: Promise<ClientRun | undefined>, tried?: VariedPoint) => Promise<void>,
  ): Promise<void> {
    const alone = this.#make(other, [{ row }]);
    const [point, ...more] = pointsOf((await alone) ?? other, row);
    if (more.length === 0) await attempt(alone, point);
  }

  /** Adds a cause. A long body takes the place of rows that lengthen one. */
  #add(cause: RowCause): void {
    const isCovered = ({ row }: RowCause) => coveredBy(cause.row).includes(row);
    const covered = this.#rowCauses.filter(isCovered);
    const failed = [...new Set([...cause.failed, ...covered.flatMap((one) => one.failed)])];
    this.#rowCauses = [...this.#rowCauses.filter((one) => !isCovered(one)), { ...cause, failed }];
  }

  /** Runs each other seed without the rows that were found: one that passes then has no other cause. */
  async #explainOthers(): Promise<void> {
    const explain = async (run: ClientRun) => {
      const rest = this.#unexplainedRows(run);
      return rest.length < rowsOf(run).length && (await this.#passes(run, rest)) ? [] : [run];
    };
    const others = [...this.#open, ...this.#unknown.splice(0)];
    const left = (await Promise.all(others.map(explain))).flat();
    this.#unknown.push(...left.filter((run) => !this.#open.includes(run)));
    this.#open = left.filter((run) => this.#open.includes(run));
  }

  /** Keeps the rows without which two runs have passed. */
  async #confirm(): Promise<void> {
    for (const { run, passes } of this.#rowCauses)
      if (passes < 2) await this.#passes(run, this.#unexplainedRows(run), passes + 1);
    const unconfirmed = this.#rowCauses.filter(({ passes }) => passes < 2);
    this.#rowCauses = this.#rowCauses.filter(({ passes }) => passes >= 2);
    const named = this.#rowCauses.flatMap(({ failed }) => failed);
    const left = new Set(unconfirmed.flatMap(({ failed }) => failed).filter((run) => !named.includes(run)));
    this.#unknown.push(...left);
  }

  /** Next to a seed that has no cause, the others may be chance: each is tried twice more, as is the rest without its row. */
  async #repeatCauses(): Promise<void> {
    for (const { run, shownBy } of this.#rowCauses) {
      await this.#make(shownBy, shownBy.conditions.rows ?? [], 4);
      await this.#passes(run, this.#unexplainedRows(run), 4);
    }
  }

  /** A seed without a row fails a third time, or shows nothing. */
  async #addUnknown(run: ClientRun): Promise<void> {
    const again = await this.#client.again(run, { isAlone: true });
    if (again?.result === "passed") this.#client.contradict(run, again);
    this.#unknown.push(run);
  }

  /** Whether a seed fails without any row, twice: not if it has passed with some. */
  async #isBySeed(run: ClientRun): Promise<boolean> {
    if (this.#cleared.has(run.seed)) return false;
    return (await this.#fails(run, [])) && hasFailed(await this.#make(run, [], 2));
  }

  async #fails(run: ClientRun, rows: readonly string[]): Promise<boolean> {
    return hasFailed(
      await this.#make(
        run,
        rows.map((row) => ({ row })),
      ),
    );
  }

  /** Whether a run passes without rows that were found; it is then one of theirs. */
  async #passes(run: ClientRun, rest: readonly string[], time = 1): Promise<boolean> {
    const again = await this.#make(
      run,
      rest.map((row) => ({ row })),
      time,
    );
    if (again?.result !== "passed") return false;
    const isIn = ({ row }: RowCause) => rowsOf(run).some((other) => coveredBy(row).includes(other));
    const hasVariant = ({ points }: RowCause) =>
      points.some((point) => idsOf(run).includes(idOfPoint(point)));
    // Of several rows, those whose variants have failed alone.
    const isShown = this.#rowCauses.filter(isIn).some(hasVariant);
    this.#rowCauses = this.#rowCauses.map((cause) => {
      if (!isIn(cause)) return cause;
      const isItsOwn = !isShown || hasVariant(cause);
      const failed = isItsOwn ? [...new Set([...cause.failed, run])] : cause.failed;
      return { ...cause, failed, passes: cause.passes + 1 };
    });
    return true;
  }

  /** Makes a run where only these rows vary, once for each `time`. */
  async #make(run: ClientRun, rows: readonly RowChoice[], time = 1): Promise<ClientRun | undefined> {
    const id = JSON.stringify([run.seed, rows]);
    const runs = this.#runs.get(id) ?? [];
    this.#runs.set(id, runs);
    while (runs.length < time && this.#left > 0 && this.#client.contradiction === undefined) {
      this.#left -= 1;
      runs.push(this.#client.again(run, { rows }));
    }
    const made = await Promise.all(runs.slice(0, time));
    const passed = made.find((one) => one?.result === "passed");
    const failed = made.find(hasFailed);
    if (passed !== undefined && failed !== undefined) this.#client.contradict(failed, passed);
    if (passed !== undefined) {
      const cleared = rows.flatMap(({ row, status }) => (status === undefined ? row : []));
      this.#cleared.set(run.seed, new Set([...(this.#cleared.get(run.seed) ?? []), ...cleared]));
      for (const point of passed.points) this.#passed.add(idOfPoint(point));
    }
    return made[time - 1];
  }
}

function rowCause({ row, points, isMore, shownBy, failed }: RowCause): Cause {
  const named = [...new Map(points.map((point) => [idOfPoint(point), point])).values()];
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
