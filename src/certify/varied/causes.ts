import type { ClientRun } from "../client-runs/client-run.js";
import { plainRun, type Runs } from "../client-runs/runs.js";
import {
  isCoveredBy,
  longBody,
  passesWithout,
  type RowCause,
  searchRows,
  variedRows,
} from "./cause-search.js";
import { type Cause, rowCause, seedCause, unknownCause } from "./cause-words.js";
import { VariedTrials } from "./varied-trials.js";

/** How many runs are searched in vain before the others are not searched at all. */
const maxSearchedInVain = 2;

/** From how many seeds on that fail without any row one such failure is enough: before, it must come twice. */
const sureSeeds = 2;

/** How often a run is made again whose two searches were in vain: one that failed by chance passes then. */
const moreRunsAfterSearch = 3;

/** What explains the runs that were looked at so far. */
interface FoundCauses {
  /** The rows that each break the client alone. */
  rows: readonly RowCause[];
  /** The runs that their seed breaks, without any row. */
  readonly bySeed: ClientRun[];
  /** The runs of which nothing can be told. */
  readonly unexplained: ClientRun[];
}

/** What breaks one run: rows, of which `newCauses` were not known before; its seed without any row; or nothing that can be told. */
type Explanation =
  | { readonly kind: "rows"; readonly newCauses: readonly RowCause[] }
  | { readonly kind: "seed" | "unknown" };

/** Finds out why varied runs fail: explains each of these failures, one after another. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<Cause[]> {
  // A suite that fails at random passes one of the repetitions.
  const repeated = await runs.repeat(failures);
  if (repeated.kind !== "failed_again") return [];

  const found: FoundCauses = { rows: [], bySeed: [], unexplained: [] };
  for (const run of longBodiesFirst(failures)) {
    const explanation = await explain(runs, run, failures, found);
    // A command that no longer passes at all also fails without any row: then this run fails, and contradicts the plain run.
    if (explanation.kind === "seed" && found.bySeed.length === 0) await runs.another(plainRun);
    if (runs.isStopped || runs.contradiction !== undefined) return found.rows.map(rowCause);

    switch (explanation.kind) {
      case "rows":
        found.rows = addRun([...found.rows, ...explanation.newCauses], run);
        break;
      case "seed":
        found.bySeed.push(run);
        break;
      case "unknown":
        found.unexplained.push(run);
        break;
    }
  }
  return causesOf(found);
}

function causesOf({ rows, bySeed, unexplained }: FoundCauses): Cause[] {
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

/** Finds out what breaks one run. What takes few runs comes first: the known causes, the seed alone, and then a search. */
async function explain(
  runs: Runs,
  run: ClientRun,
  failures: readonly ClientRun[],
  found: FoundCauses,
): Promise<Explanation> {
  const trials = new VariedTrials(runs, run);
  if (await passesWithout(trials, found.rows)) return { kind: "rows", newCauses: [] };

  // Nothing varies. If that fails, each row would seem to break the run alone.
  const times = found.bySeed.length < sureSeeds ? 2 : 1;
  if (await trials.fails([], times)) return { kind: "seed" };
  if (found.unexplained.length === maxSearchedInVain) return { kind: "unknown" };

  // A flaw that breaks a command may not be the one that makes it wait.
  const alike = failures.filter(({ result }) => result === run.result);
  const first = await searchRows({ runs, trials, failures: alike }, found.rows);
  if (first.kind === "found") return { kind: "rows", newCauses: first.causes };

  // A run that does not end takes long, and does so by no chance.
  if (run.result === "timed_out") return { kind: "unknown" };

  // One trial that passed by chance leads a search astray. The second search has trials of its own.
  const freshTrials = new VariedTrials(runs, run);
  const second = await searchRows({ runs, trials: freshTrials, failures: alike }, found.rows);
  if (second.kind === "found") return { kind: "rows", newCauses: second.causes };

  // The run itself may have failed by chance, twice: more runs under its conditions would contradict it.
  if (runs.contradiction === undefined) {
    for (let more = 0; more < moreRunsAfterSearch; more++) await runs.anotherLike(run);
  }
  return { kind: "unknown" };
}

/** Adds a run to the causes that it shows, too: those of which it has a variant, or if there is none, those of which it has the row. */
function addRun(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const variants = new Set<string>();
  for (const { row, variant } of run.points) variants.add(`${row} ${variant}`);
  const hasVariant = ({ points }: RowCause) =>
    points.some(({ row, variant }) => variants.has(`${row} ${variant}`));
  const hasRow = (cause: RowCause) => variedRows(run).some((row) => isCoveredBy(cause, row));
  const isShown = causes.some(hasVariant) ? hasVariant : hasRow;

  const changed: RowCause[] = [];
  for (const cause of causes) {
    const isNew = isShown(cause) && !cause.failed.includes(run);
    changed.push(isNew ? { ...cause, failed: [...cause.failed, run] } : cause);
  }
  return changed;
}
