import { failuresOfFirstSeed, failuresOfLaterSeed, maxSearchedInVain } from "../checks/chance.js";
import type { Reason } from "../checks/judgment.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { repeatFailures } from "../client-runs/repeat-failures.js";
import { plainRunRequest, type Runs } from "../client-runs/runs.js";
import { type FailureCause, searchRows, tryWithout } from "./cause-search.js";
import { type Cause, causeByRow, causeBySeed, unknownCause } from "./cause-words.js";
import { bodyLengthRow, causesShownBy, type RowCause, variedRows } from "./row-causes.js";
import { VariedTrials } from "./varied-trials.js";

// Each run that failed is explained by the first of these that it shows:
// 1. rows that are known causes: it does not break without them;
// 2. its seed: it breaks although nothing varies;
// 3. other rows, which a search finds; a second search is made if the first one finds none, since one trial that passed by chance leads a
//    search astray;
// 4. nothing that can be told.

/** The causes of failures. */
export interface FoundCauses {
  readonly causes: readonly Cause[];
  /** Why the other failures have no cause; `undefined` if each failure has one. */
  readonly doubt: Reason | undefined;
}

/** What explains the failures that were looked at so far. */
class Explanations {
  /** The runs that fail for each row, by its cause. */
  readonly #failedByRow = new Map<RowCause, Set<ClientRun>>();
  /** The runs that their seed breaks, without any row. */
  readonly #bySeed: ClientRun[] = [];
  /** The runs of which nothing can be told. */
  readonly #unknown: ClientRun[] = [];

  /** The rows that each break the client alone. */
  get rowCauses(): readonly RowCause[] {
    return [...this.#failedByRow.keys()];
  }

  get isSeedKnown(): boolean {
    return this.#bySeed.length > 0;
  }

  /** Whether so many runs were searched in vain that no other one is searched. */
  get isSearchedEnough(): boolean {
    return this.#unknown.length >= maxSearchedInVain;
  }

  add(run: ClientRun, explanation: FailureCause): void {
    switch (explanation.kind) {
      case "seed":
        this.#bySeed.push(run);
        return;
      case "unknown":
        this.#unknown.push(run);
        return;
      case "rows":
        for (const cause of explanation.newCauses) this.#failedByRow.set(cause, new Set([run]));
        // Known causes may explain the run as well.
        for (const cause of causesShownBy(this.rowCauses, run)) this.#failedByRow.get(cause)?.add(run);
    }
  }

  /** The causes that are rows, in words. */
  causesByRow(): Cause[] {
    const causes: Cause[] = [];
    for (const [cause, failed] of this.#failedByRow) {
      causes.push(causeByRow(cause, sortedBySeed([...failed])));
    }
    return causes;
  }

  /** All causes in words, of which each run has one. */
  allCauses(): Cause[] {
    const causes = this.causesByRow();
    const failedBySeed = sortedBySeed(this.#bySeed);
    const [firstBySeed] = failedBySeed;
    if (firstBySeed !== undefined) causes.push(causeBySeed(firstBySeed, failedBySeed));

    const searched = sortedBySeed(this.#unknown.slice(0, maxSearchedInVain));
    const [firstSearched] = searched;
    if (firstSearched !== undefined) {
      causes.push(unknownCause(firstSearched, searched, sortedBySeed(this.#unknown)));
    }
    return causes;
  }
}

/** Finds out why varied runs fail: explains each of these failures, one after another. */
export async function findCauses(runs: Runs, failures: readonly ClientRun[]): Promise<FoundCauses> {
  // A suite that fails at random passes one of the repetitions.
  const doubtOfAll = await repeatFailures(runs, failures);
  if (doubtOfAll !== undefined) return { causes: [], doubt: doubtOfAll };

  const explanations = new Explanations();
  for (const run of longBodiesFirst(failures)) {
    const explanation = await explain(runs, run, explanations);
    // Some trial of this explanation may not have been made, or be in doubt.
    const doubt = runs.findDoubtOfFailures();
    if (doubt !== undefined) return { causes: explanations.causesByRow(), doubt };
    explanations.add(run, explanation);
  }
  return { causes: explanations.allCauses(), doubt: undefined };
}

/** The runs with a long body come first: it explains the rows that lengthen a body, which others would be searched for. */
function longBodiesFirst(runs: readonly ClientRun[]): ClientRun[] {
  const isLong = (run: ClientRun) => variedRows(run).includes(bodyLengthRow);
  return [...runs.filter(isLong), ...runs.filter((run) => !isLong(run))];
}

/** Finds out what breaks one run. What takes few runs comes first. */
async function explain(runs: Runs, run: ClientRun, explanations: Explanations): Promise<FailureCause> {
  const { rowCauses, isSearchedEnough, isSeedKnown } = explanations;
  const trials = new VariedTrials(runs, run);
  const withoutCauses = await tryWithout(trials, rowCauses);
  if (withoutCauses.kind === "passes") return { kind: "rows", newCauses: [] };

  if (await isBrokenBySeed(runs, trials, isSeedKnown)) return { kind: "seed" };
  if (isSearchedEnough) return { kind: "unknown" };

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

function sortedBySeed(runs: readonly ClientRun[]): ClientRun[] {
  return runs.toSorted((one, other) => one.seed - other.seed);
}
