/** A job that runs, or waits until it may. */
interface Job {
  /** Whether it runs while no other does. */
  readonly isAlone: boolean;
  /** Whether another job was under way at any time of its run. */
  isShared: boolean;
}

/** Runs at most `limit` jobs in parallel. They start in their order. */
export class JobQueue {
  #limit: number;
  readonly #underWay = new Set<Job>();
  /** Resolves when the latest job has started: the next job waits for that. */
  #lastBegun = Promise.resolve();
  /** Called when any job ends; wakes the job that waits for room. */
  #onEnd = () => {};

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs a job in its turn; with `isAlone`, while no other is under way. */
  async run<Result>(work: () => Promise<Result>, isAlone: boolean) {
    const job: Job = { isAlone, isShared: false };
    this.#lastBegun = this.#lastBegun.then(() => this.#begin(job));
    await this.#lastBegun;
    try {
      return { result: await work(), isShared: job.isShared };
    } finally {
      this.#underWay.delete(job);
      this.#onEnd();
    }
  }

  /** Runs all later jobs one at a time. */
  runOneAtATime(): void {
    this.#limit = 1;
  }

  /** Waits until there is room for a job, and starts it. */
  async #begin(job: Job): Promise<void> {
    while (!this.#hasRoomFor(job)) await this.#nextEnd();
    this.#underWay.add(job);
    if (this.#underWay.size === 1) return;
    for (const one of this.#underWay) one.isShared = true;
  }

  #hasRoomFor({ isAlone }: Job): boolean {
    if (isAlone) return this.#underWay.size === 0;
    for (const other of this.#underWay) {
      if (other.isAlone) return false;
    }
    return this.#underWay.size < this.#limit;
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }
}
