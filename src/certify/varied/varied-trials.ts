import type { RowChoice } from "../../sandbox/variants.js";
import { type ClientRun, hasFailed } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";

/**
 * A varied run that failed, made again while only some of its rows vary: these are its trials. A trial that passes shows that the other rows
 * are needed, or that the failure was chance; one that fails may do so by chance. So what rests on failures asks for two or three.
 */
export class VariedTrials {
  /** The run that failed. */
  readonly run: ClientRun;
  readonly #runs: Runs;
  /** The trials so far, by what varied in them. */
  readonly #made = new Map<string, ClientRun[]>();

  constructor(runs: Runs, run: ClientRun) {
    this.#runs = runs;
    this.run = run;
  }

  /**
   * Whether the run fails so many times, and never passes, while only this varies. One that does not end is enough: that takes long, and is
   * no chance. Trials that were made before count. One that is not made counts as passed: the search then ends, and its caller finds that
   * certify was stopped.
   */
  async fails(choices: readonly RowChoice[], times = 1): Promise<boolean> {
    const trials = this.#trialsOf(choices);
    while (trials.length < times && trials.every(({ result }) => result === "failed")) {
      // No failure shows anything after a contradiction.
      if (this.#runs.contradiction !== undefined) return false;
      const trial = await this.#runs.anotherLike(this.run, choices);
      if (trial.kind === "not_made") return false;
      trials.push(trial);
    }
    return this.#runs.contradiction === undefined && trials.every(hasFailed);
  }

  /** The first trial in which only this varied, and which failed. */
  shownBy(choices: readonly RowChoice[]): ClientRun {
    return this.#trialsOf(choices)[0] as ClientRun; // asked for after `fails`
  }

  #trialsOf(choices: readonly RowChoice[]): ClientRun[] {
    const id = JSON.stringify(choices);
    const trials = this.#made.get(id) ?? [];
    this.#made.set(id, trials);
    return trials;
  }
}
