import type { RowChoice } from "../../sandbox/variants.js";
import type { ClientRun } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";

/**
 * Whether a run breaks while only some rows vary. `breaks`: each trial failed, and the first one shows it. `passes`: one trial passed.
 *
 * If no failure shows anything any more (`findDoubtOfFailures`), the result is `passes` as well, so that a search ends without another run.
 * `findCauses` asks for that doubt after each search, and then drops what was found.
 */
export type TrialResult =
  | { readonly kind: "breaks"; readonly shownBy: ClientRun }
  | { readonly kind: "passes" };

/**
 * A varied run that failed, made again while only some of its rows vary: these are its trials. A trial that passes shows that the other rows
 * are needed, or that the failure was chance; one that fails may do so by chance. So what names a cause asks for two or three.
 */
export class VariedTrials {
  /** The run that failed. */
  readonly run: ClientRun;
  readonly #runs: Runs;
  /** The trials so far, by what varied in them. */
  readonly #trials = new Map<string, ClientRun[]>();

  constructor(runs: Runs, run: ClientRun) {
    this.#runs = runs;
    this.run = run;
  }

  /** Whether the run breaks while only this varies: so many trials fail, and none passes. Trials that were made before count. */
  async varyOnly(choices: readonly RowChoice[], neededFailures: 1 | 2 | 3): Promise<TrialResult> {
    const id = JSON.stringify(choices);
    const trials = this.#trials.get(id) ?? [];
    this.#trials.set(id, trials);

    // A trial that does not end is enough: it takes long, and is no chance.
    while (trials.length < neededFailures && trials.every(({ result }) => result === "failed")) {
      if (this.#areFailuresInDoubt()) break;
      const conditions = { ...this.run.conditions, rows: choices };
      trials.push(await this.#runs.makeAnother({ ...this.run, conditions, isAlone: false }));
    }

    const hasPassed = trials.some(({ result }) => result === "passed");
    if (hasPassed || this.#areFailuresInDoubt()) return { kind: "passes" };
    return { kind: "breaks", shownBy: trials[0] as ClientRun }; // neededFailures is 1 or more
  }

  #areFailuresInDoubt(): boolean {
    return this.#runs.findDoubtOfFailures() !== undefined;
  }
}
