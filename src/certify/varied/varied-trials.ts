import type { RowChoice } from "../../sandbox/variants.js";
import { type ClientRun, hasFailed } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";

/** Trials have not shown what was asked: one passed, one was not made, or runs contradict each other, after which no failure counts. */
export interface NotShown {
  readonly kind: "not_shown";
}
export const notShown: NotShown = { kind: "not_shown" };

/** Whether a run breaks while only some rows vary. `breaks`: the first trial shows it. */
type TrialResult = { readonly kind: "breaks"; readonly shownBy: ClientRun } | NotShown;

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

  /**
   * Whether the run breaks while only this varies: `neededFailures` trials fail, and none passes. One that does not end is enough: that
   * takes long, and is no chance. Trials that were made before count.
   */
  async varyOnly(choices: readonly RowChoice[], neededFailures: number): Promise<TrialResult> {
    const id = JSON.stringify(choices);
    const trials = this.#trials.get(id) ?? [];
    this.#trials.set(id, trials);

    while (trials.length < neededFailures && trials.every(({ result }) => result === "failed")) {
      if (this.#runs.contradiction !== undefined) return notShown;
      const conditions = { ...this.run.conditions, rows: choices };
      const trial = await this.#runs.makeAnother({ ...this.run, conditions });
      if (trial.kind === "not_made") return notShown;
      trials.push(trial);
    }

    if (this.#runs.contradiction !== undefined || !trials.every(hasFailed)) return notShown;
    const [shownBy] = trials as [ClientRun, ...ClientRun[]]; // neededFailures is 1 or more
    return { kind: "breaks", shownBy };
  }
}
