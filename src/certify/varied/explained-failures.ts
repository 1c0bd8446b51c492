import { maxSearchedInVain } from "../checks/chance.js";
import type { ClientRun } from "../client-runs/client-run.js";
import type { FailureCause } from "./cause-search.js";
import { causeByRow, causeBySeed, unknownCause, type WordedCause } from "./cause-words.js";
import { causesShownBy, type RowCause } from "./row-causes.js";

/** What explains the failures that were looked at so far. */
export class ExplainedFailures {
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
  causesByRow(): WordedCause[] {
    const causes: WordedCause[] = [];
    for (const [cause, failed] of this.#failedByRow) {
      causes.push(causeByRow(cause, sortedBySeed([...failed])));
    }
    return causes;
  }

  /** All causes in words, of which each run has one. */
  allCauses(): WordedCause[] {
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

function sortedBySeed(runs: readonly ClientRun[]): ClientRun[] {
  return runs.toSorted((one, other) => one.seed - other.seed);
}
