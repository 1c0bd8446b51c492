import { CauseSearch, isCoveredBy, longBody, type RowCause, variedRows } from "./cause-search.js";
import { type Cause, rowCause, seedCause, unknownCause } from "./cause-words.js";
import type { ClientRun } from "./client-run.js";
import type { Runs } from "./runs.js";

/** How many runs are searched in vain before the others are not searched at all. */
const maxSearchedInVain = 2;

/** From how many seeds on that fail without any row one such failure is enough: before, it must come twice. */
const sureSeeds = 2;

/** What the searches in the runs before have found. */
interface FoundCauses {
  /** The rows that each break the client alone. */
  readonly rows: readonly RowCause[];
  /** The runs that their seed breaks, without any row. */
  readonly bySeed: readonly ClientRun[];
  /** The runs of which nothing can be told. */
  readonly unexplained: readonly ClientRun[];
}

/** What breaks one run: rows, of which `causes` were not known before; its seed without any row; or nothing that can be told. */
type SearchResult =
  | { readonly kind: "rows"; readonly causes: readonly RowCause[] }
  | { readonly kind: "seed" | "unknown" };

/** Finds out why varied runs fail: searches in each of these failures, after another. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<Cause[]> {
  // A suite that fails at random passes one of the repetitions.
  if ((await runs.repeat(failures)) !== "failed_again") return [];

  let rows: readonly RowCause[] = [];
  const bySeed: ClientRun[] = [];
  const unexplained: ClientRun[] = [];
  for (const run of longBodiesFirst(failures)) {
    const found = await searchIn(runs, run, failures, { rows, bySeed, unexplained });
    // A command that no longer passes at all also fails without any row: then this run fails, and contradicts the plain run.
    if (found.kind === "seed" && bySeed.length === 0)
      await runs.make("plain", {}, { series: "after search" });
    if (runs.isStopped || runs.contradiction !== undefined) return rows.map(rowCause);

    if (found.kind === "rows") rows = addRun([...rows, ...found.causes], run);
    else if (found.kind === "seed") bySeed.push(run);
    else unexplained.push(run);
  }

  const causes = rows.map(rowCause);
  if (bySeed.length > 0) causes.push(seedCause(bySeed));
  if (unexplained.length > 0) causes.push(unknownCause(unexplained, unexplained.slice(0, maxSearchedInVain)));
  return causes;
}

/** The runs with a long body come first: it explains the rows that lengthen one, which others would be searched for. */
function longBodiesFirst(runs: readonly ClientRun[]): ClientRun[] {
  const isLong = (run: ClientRun) => variedRows(run).includes(longBody);
  return [...runs.filter(isLong), ...runs.filter((run) => !isLong(run))];
}

/** Finds out what breaks one run. What is cheap comes first: the causes that are known, the seed alone, and then a search. */
async function searchIn(
  runs: Runs,
  run: ClientRun,
  failures: readonly ClientRun[],
  found: FoundCauses,
): Promise<SearchResult> {
  const first = new CauseSearch(runs, run, failures, "first search");
  if (await first.passesWithout(found.rows)) return { kind: "rows", causes: [] };

  // Without any row varied. If that fails, each row would seem to break the run alone.
  const times = found.bySeed.length < sureSeeds ? 2 : 1;
  if (await first.failsWith([], times)) return { kind: "seed" };
  if (found.unexplained.length === maxSearchedInVain) return { kind: "unknown" };

  const causes = await first.newCauses(found.rows);
  if (causes !== undefined) return { kind: "rows", causes };

  // One run that passed by chance leads a search astray. The second search reads no run of the first one.
  const second = new CauseSearch(runs, run, failures, "second search");
  const causesOfSecond = await second.newCauses(found.rows);
  if (causesOfSecond !== undefined) return { kind: "rows", causes: causesOfSecond };

  // The run itself may have failed by chance, twice: three more under its conditions would contradict it. One that does not end takes
  // long, and does so by no chance.
  if (run.result === "failed" && runs.contradiction === undefined)
    for (const nth of [1, 2, 3]) await runs.makeLike(run, { nth, series: "after search" });
  return { kind: "unknown" };
}

/** Adds a run to the causes that it shows, too: those of which it has a variant, or if there is none, those of which it has the row. */
function addRun(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const variants = run.points.map(({ row, variant }) => `${row} ${variant}`);
  const hasVariant = ({ points }: RowCause) =>
    points.some(({ row, variant }) => variants.includes(`${row} ${variant}`));
  const hasRow = (cause: RowCause) => variedRows(run).some((row) => isCoveredBy(cause, row));
  const isShown = causes.some(hasVariant) ? hasVariant : hasRow;

  const changed: RowCause[] = [];
  for (const cause of causes) {
    const isNew = isShown(cause) && !cause.failed.includes(run);
    changed.push(isNew ? { ...cause, failed: [...cause.failed, run] } : cause);
  }
  return changed;
}
