import type { Reason } from "../checks/judgment.js";
import { type ClientRun, plainRunRequest } from "../client-runs/client-run.js";
import { hangsNowAndThen, repeatFailures } from "../client-runs/failures.js";
import { type Runs, shownOr } from "../client-runs/runs.js";
import { causeByRow, causeBySeed, unknownCause, type WordedCause } from "./cause-words.js";
import { bodyLengthRow, causesShownBy, type RowCause, RowSearch, variedRows } from "./row-search.js";

// Each run that failed is explained by the first of these that it shows. What takes few runs comes first:
// 1. rows that are known causes: it does not break without them;
// 2. its seed: it breaks although nothing varies;
// 3. other rows, which a search finds; a second search is made if the first one finds none, since one trial that passed by chance leads a
//    search astray;
// 4. nothing that can be told. After two such runs, no other one is searched.

/** Finds out why varied runs fail. `doubt`: why the other failures have no cause; `undefined` if each failure has one. */
export async function findCauses(
  runs: Runs,
  failures: readonly ClientRun[],
): Promise<{ readonly causes: readonly WordedCause[]; readonly doubt: Reason | undefined }> {
  const explained = new ExplainedFailures(runs);
  const doubt = await shownOr(explained.explain(failures), (reason) => reason);
  const causes = explained.causesByRow();
  // The seed, or nothing that can be told, may be why the others fail, too.
  if (doubt === undefined) causes.push(...explained.otherCauses());
  return { causes, doubt };
}

/** After so many runs without a cause, no other run is searched. */
const maxSearchedInVain = 2;

/** What explains the failures that were looked at so far. */
class ExplainedFailures {
  readonly #runs: Runs;
  /** The runs that fail for each row, by its cause. */
  readonly #failedByRow = new Map<RowCause, Set<ClientRun>>();
  readonly #bySeed: ClientRun[] = [];
  readonly #unknown: ClientRun[] = [];
  /** Whether a run did not end in time, which nothing explains and no other run has shown again. */
  #isAnyByChance = false;

  constructor(runs: Runs) {
    this.#runs = runs;
  }

  /** Explains each of these failures, one after another. Returns why a failure is left; throws `Inconclusive` if none counts any more. */
  async explain(failures: readonly ClientRun[]): Promise<Reason | undefined> {
    // A suite that fails at random passes one of the repetitions.
    await repeatFailures(this.#runs, failures);
    // The runs with a long body come first: it explains the rows that lengthen a body, which others would be searched for.
    const isLong = (run: ClientRun) => variedRows(run).includes(bodyLengthRow);
    for (const run of failures.filter(isLong)) await this.#explainRun(run);
    for (const run of failures.filter((one) => !isLong(one))) await this.#explainRun(run);
    return this.#isAnyByChance ? hangsNowAndThen : undefined;
  }

  causesByRow(): WordedCause[] {
    const causes: WordedCause[] = [];
    for (const [cause, failed] of this.#failedByRow) {
      causes.push(causeByRow(cause, sortedBySeed([...failed])));
    }
    return causes;
  }

  otherCauses(): WordedCause[] {
    const causes: WordedCause[] = [];
    if (this.#bySeed.length > 0) causes.push(causeBySeed(sortedBySeed(this.#bySeed)));
    const searched = sortedBySeed(this.#unknown.slice(0, maxSearchedInVain));
    if (searched.length > 0) causes.push(unknownCause(searched, sortedBySeed(this.#unknown)));
    return causes;
  }

  /** Explains one run, by the steps of the head. */
  async #explainRun(run: ClientRun): Promise<void> {
    const search = new RowSearch(this.#runs, run);
    const knownCauses = [...this.#failedByRow.keys()];
    if (!(await search.breaksWithout(knownCauses))) return this.#addRows(run, []);

    // If nothing varies and the run breaks all the same, each row would seem to break it alone. Of a later run, one trial is enough.
    const isSeedKnown = this.#bySeed.length > 0;
    const withoutRows = await search.breaksWith([], isSeedKnown ? 1 : 2);
    if (withoutRows !== undefined) {
      // A command that no longer passes at all also fails then: its plain run fails, too, and contradicts the first one.
      if (!isSeedKnown) await this.#runs.makeAnother(plainRunRequest);
      this.#runs.throwIfNoFailureCounts();
      this.#bySeed.push(run);
      return;
    }

    // A run that does not end in time is not searched again, which takes long. One that was not repeated may be chance.
    const isSearched = this.#unknown.length < maxSearchedInVain;
    let newCauses = isSearched ? await search.findRows(knownCauses) : undefined;
    if (isSearched && newCauses === undefined && run.result === "failed") {
      newCauses = await new RowSearch(this.#runs, run).findRows(knownCauses);
    }
    if (newCauses !== undefined) this.#addRows(run, newCauses);
    else if (this.#runs.isRepeated(run)) this.#unknown.push(run);
    else this.#isAnyByChance = true;
  }

  #addRows(run: ClientRun, newCauses: readonly RowCause[]): void {
    for (const cause of newCauses) this.#failedByRow.set(cause, new Set([run]));
    // Known causes may explain the run as well.
    const causes = [...this.#failedByRow.keys()];
    for (const cause of causesShownBy(causes, run)) this.#failedByRow.get(cause)?.add(run);
  }
}

function sortedBySeed(runs: readonly ClientRun[]): ClientRun[] {
  return runs.toSorted((one, other) => one.seed - other.seed);
}
