import { failuresOfFirstSeed, failuresOfLaterSeed } from "../checks/chance.js";
import type { Reason } from "../checks/judgment.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { repeatFailures } from "../client-runs/repeat-failures.js";
import { plainRunRequest, type Runs } from "../client-runs/runs.js";
import { type FailureCause, searchRows, tryWithout } from "./cause-search.js";
import type { WordedCause } from "./cause-words.js";
import { ExplainedFailures } from "./explained-failures.js";
import { bodyLengthRow, variedRows } from "./row-causes.js";
import { VariedTrials } from "./varied-trials.js";

// Each run that failed is explained by the first of these that it shows:
// 1. rows that are known causes: it does not break without them;
// 2. its seed: it breaks although nothing varies;
// 3. other rows, which a search finds; a second search is made if the first one finds none, since one trial that passed by chance leads a
//    search astray;
// 4. nothing that can be told. After two such runs, no other one is searched.

/** The causes of failures. */
export interface FoundCauses {
  readonly causes: readonly WordedCause[];
  /** Why the other failures have no cause; `undefined` if each failure has one. */
  readonly doubt: Reason | undefined;
}

/** Finds out why varied runs fail: explains each of these failures, one after another. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<FoundCauses> {
  // A suite that fails at random passes one of the repetitions.
  const doubtOfAll = await repeatFailures(runs, failures);
  if (doubtOfAll !== undefined) return { causes: [], doubt: doubtOfAll };

  const explained = new ExplainedFailures();
  for (const run of longBodiesFirst(failures)) {
    const explanation = await explain(runs, run, explained);
    // Some trial of this explanation may not have been made, or be in doubt.
    const doubt = runs.findDoubtOfFailures();
    if (doubt !== undefined) return { causes: explained.causesByRow(), doubt };
    explained.add(run, explanation);
  }
  return { causes: explained.allCauses(), doubt: undefined };
}

/** The runs with a long body come first: it explains the rows that lengthen a body, which others would be searched for. */
function longBodiesFirst(runs: readonly ClientRun[]): ClientRun[] {
  const isLong = (run: ClientRun) => variedRows(run).includes(bodyLengthRow);
  return [...runs.filter(isLong), ...runs.filter((run) => !isLong(run))];
}

/** Finds out what breaks one run. What takes few runs comes first. */
async function explain(runs: Runs, run: ClientRun, explained: ExplainedFailures): Promise<FailureCause> {
  const { rowCauses, isSearchedEnough, isSeedKnown } = explained;
  const trials = new VariedTrials(runs, run);

  // 1. Rows that are known causes.
  const withoutKnownRows = await tryWithout(trials, rowCauses);
  if (withoutKnownRows.kind === "passes") return { kind: "rows", newCauses: [] };

  // 2. Its seed.
  if (await isBrokenBySeed(runs, trials, isSeedKnown)) return { kind: "seed" };
  // 4. Nothing that can be told, without a search.
  if (isSearchedEnough) return { kind: "unknown" };

  // 3. Other rows, or nothing that can be told.
  const bySearch = await searchRows(trials, rowCauses);
  // A run that does not end in time is not searched again: it takes long, and does so by no chance.
  if (bySearch.kind !== "unknown" || run.result === "timed_out") return bySearch;
  return searchRows(new VariedTrials(runs, run), rowCauses);
}

/** Whether the run breaks although nothing varies: then each row would seem to break it alone. */
async function isBrokenBySeed(runs: Runs, trials: VariedTrials, isSeedKnown: boolean): Promise<boolean> {
  const neededFailures = isSeedKnown ? failuresOfLaterSeed : failuresOfFirstSeed;
  const withoutRows = await trials.varyOnly([], neededFailures);
  if (withoutRows.kind === "passes") return false;

  // A command that no longer passes at all also fails without any row: then the plain run fails, too, and contradicts the first one.
  if (!isSeedKnown) await runs.makeAnother(plainRunRequest);
  return true;
}
