import type { RowChoice } from "../../sandbox/variants.js";
import { type ClientRun, hasFailed } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";

/** Whether a run breaks while only some rows vary. `breaks`: the first trial shows it. */
type TrialResult = { readonly kind: "breaks"; readonly shownBy: ClientRun } | { readonly kind: "passes" };
const passes: TrialResult = { kind: "passes" };

/**
 * A varied run that failed, made again while only some of its rows vary: these are its trials. A trial that passes shows that the other rows
 * are needed, or that the failure was chance; one that fails may do so by chance. So what rests on failures asks for two or three.
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
   * Whether the run breaks while only this varies: so many trials fail, and none passes. One that does not end is enough: that takes long,
   * and is no chance. Trials that were made before count. A trial that is not made counts as passed, and so do all after a contradiction:
   * the search then ends, and its caller looks at the runs.
   */
  async varyOnly(choices: readonly RowChoice[], times = 1): Promise<TrialResult> {
    const id = JSON.stringify(choices);
    const trials = this.#trials.get(id) ?? [];
    this.#trials.set(id, trials);

    while (trials.length < times && trials.every(({ result }) => result === "failed")) {
      if (this.#runs.contradiction !== undefined) return passes;
      const conditions = { ...this.run.conditions, rows: choices };
      const trial = await this.#runs.makeAnother({ ...this.run, conditions });
      if (trial.kind === "not_made") return passes;
      trials.push(trial);
    }

    if (this.#runs.contradiction !== undefined || !trials.every(hasFailed)) return passes;
    const [shownBy] = trials as [ClientRun, ...ClientRun[]]; // times is 1 or more
    return { kind: "breaks", shownBy };
  }
}
