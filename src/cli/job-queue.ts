/** A job that runs, or waits until it may. */
interface Job {
  /** Whether it runs while no other does. */
  readonly isAlone: boolean;
  /** Whether another job was under way at any time of its run. */
  isShared: boolean;
}

/** Runs at most `limit` jobs in parallel. They start in their order, and none starts after one has failed: its error ends them all. */
export class JobQueue {
  #limit: number;
  readonly #waiting: { readonly job: Job; readonly start: () => void }[] = [];
  readonly #underWay = new Set<Job>();
  #hasFailed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs a job in its turn; with `isAlone`, while no other is under way. */
  async run<Result>(work: () => Promise<Result>, isAlone: boolean) {
    const job: Job = { isAlone, isShared: false };
    await new Promise<void>((start) => {
      this.#waiting.push({ job, start });
      this.#startWaiting();
    });
    try {
      return { result: await work(), isShared: job.isShared };
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#underWay.delete(job);
      this.#startWaiting();
    }
  }

  /** Runs all later jobs one at a time. */
  runOneAtATime(): void {
    this.#limit = 1;
  }

  /** Starts the jobs that wait, in their order, up to the first one without room. */
  #startWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#hasFailed || !this.#hasRoomFor(next.job)) return;
      this.#waiting.shift();
      this.#underWay.add(next.job);
      if (this.#underWay.size > 1) for (const job of this.#underWay) job.isShared = true;
      next.start();
    }
  }

  #hasRoomFor({ isAlone }: Job): boolean {
    if (isAlone) return this.#underWay.size === 0;
    return this.#underWay.size < this.#limit && ![...this.#underWay].some((job) => job.isAlone);
  }
}
