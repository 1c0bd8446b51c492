import type { ClientRun } from "../client-runs/client-run.js";
import { repeatFailures } from "../client-runs/failure-evidence.js";
import { plainRun, type Runs } from "../client-runs/runs.js";
import { pointId } from "../client-runs/varied-points.js";
import {
  bodyLengthRow,
  isCoveredBy,
  isExplainedBy,
  type RowCause,
  searchRows,
  variedRows,
} from "./cause-search.js";
import { type Cause, rowCause, seedCause, unknownCause } from "./cause-words.js";
import { VariedTrials } from "./varied-trials.js";

// Each run that failed is explained by the first of these that it shows:
// 1. rows that are known causes: it does not break without them;
// 2. its seed: it breaks although nothing varies;
// 3. other rows, which a search finds; a second search is made if the first one finds none, since one trial that passed by chance leads a
//    search astray;
// 4. nothing that can be told.

/**
 * How many runs are searched in vain before the others are not searched at all. Of 60 clients with a flaw of one row, and another one that
 * only two rows show together, 1 names 47 with 122 runs in the mean, 2 names 55 with 119, and 3 no more.
 */
const maxSearchedInVain = 2;

/** What explains the runs that were looked at so far. */
interface ExplainedRuns {
  /** The rows that each break the client alone. */
  readonly rows: readonly RowCause[];
  /** The runs that their seed breaks, without any row. */
  readonly bySeed: readonly ClientRun[];
  /** The runs of which nothing can be told. */
  readonly unknown: readonly ClientRun[];
}

/** What breaks one run: rows, of which `newCauses` were not known before; its seed without any row; or nothing that can be told. */
type Explanation =
  | { readonly kind: "rows"; readonly newCauses: readonly RowCause[] }
  | { readonly kind: "seed" | "unknown" };

/** Finds out why varied runs fail: explains each of these failures, one after another. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<Cause[]> {
  // A suite that fails at random passes one of the repetitions.
  const repeated = await repeatFailures(runs, failures);
  if (repeated.kind !== "failed_again") return [];

  let explained: ExplainedRuns = { rows: [], bySeed: [], unknown: [] };
  for (const run of longBodiesFirst(failures)) {
    const explanation = await explain(runs, run, failures, explained);
    // A command that no longer passes at all also fails without any row: then the plain run fails, too, and contradicts the first one.
    if (explanation.kind === "seed" && explained.bySeed.length === 0) await runs.makeAnother(plainRun);
    if (runs.isStopped || runs.contradiction !== undefined) return explained.rows.map(rowCause);
    explained = withExplanation(explained, run, explanation);
  }
  return causesOf(explained);
}

function withExplanation(explained: ExplainedRuns, run: ClientRun, explanation: Explanation): ExplainedRuns {
  switch (explanation.kind) {
    case "rows":
      return { ...explained, rows: addRun([...explained.rows, ...explanation.newCauses], run) };
    case "seed":
      return { ...explained, bySeed: [...explained.bySeed, run] };
    case "unknown":
      return { ...explained, unknown: [...explained.unknown, run] };
  }
}

function causesOf({ rows, bySeed, unknown }: ExplainedRuns): Cause[] {
  const causes = rows.map(rowCause);
  if (bySeed.length > 0) causes.push(seedCause(bySeed));
  if (unknown.length > 0) causes.push(unknownCause(unknown, unknown.slice(0, maxSearchedInVain)));
  return causes;
}

/** The runs with a long body come first: it explains the rows that lengthen one, which others would be searched for. */
function longBodiesFirst(runs: readonly ClientRun[]): ClientRun[] {
  const isLong = (run: ClientRun) => variedRows(run).includes(bodyLengthRow);
  return [...runs.filter(isLong), ...runs.filter((run) => !isLong(run))];
}

/** Finds out what breaks one run. What takes few runs comes first. */
async function explain(
  runs: Runs,
  run: ClientRun,
  failures: readonly ClientRun[],
  explained: ExplainedRuns,
): Promise<Explanation> {
  const trials = new VariedTrials(runs, run);
  if (await isExplainedBy(trials, explained.rows)) return { kind: "rows", newCauses: [] };

  // If the run breaks although nothing varies, each row would seem to break it alone.
  // It must break twice, with a seed after the first one once: of 1,500 suites that fail in 8 to 25% of their runs, none then gets a seed as
  // its cause.
  const neededFailures = explained.bySeed.length === 0 ? 2 : 1;
  const withoutRows = await trials.varyOnly([], neededFailures);
  if (withoutRows.kind === "breaks") return { kind: "seed" };
  if (explained.unknown.length === maxSearchedInVain) return { kind: "unknown" };

  // A flaw that breaks a command may not be the one that makes it wait.
  const failedAlike = failures.filter(({ result }) => result === run.result);
  const first = await searchRows({ runs, trials, failures: failedAlike }, explained.rows);
  if (first.kind === "found") return { kind: "rows", newCauses: first.causes };

  // A run that does not end takes long, and does so by no chance.
  if (run.result === "timed_out") return { kind: "unknown" };

  // The second search has trials of its own.
  const freshTrials = new VariedTrials(runs, run);
  const second = await searchRows({ runs, trials: freshTrials, failures: failedAlike }, explained.rows);
  if (second.kind === "found") return { kind: "rows", newCauses: second.causes };
  return { kind: "unknown" };
}

/** Adds a run to the causes that it shows, too. */
function addRun(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const causesOfRun = causesShownBy(causes, run);
  const changed: RowCause[] = [];
  for (const cause of causes) {
    const isNew = causesOfRun.includes(cause) && !cause.failed.includes(run);
    changed.push(isNew ? { ...cause, failed: [...cause.failed, run] } : cause);
  }
  return changed;
}

/** The causes of which the run has a variant on the same status, or if there is none, those of which it has the row. */
function causesShownBy(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const withPoint = causes.filter((cause) => hasPointOf(run, cause));
  if (withPoint.length > 0) return withPoint;

  const rows = variedRows(run);
  return causes.filter((cause) => rows.some((row) => isCoveredBy(cause, row)));
}

function hasPointOf(run: ClientRun, cause: RowCause): boolean {
  const idsOfCause = cause.points.map(pointId);
  return run.points.some((point) => idsOfCause.includes(pointId(point)));
}
