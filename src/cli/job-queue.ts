/** A job that runs, or waits until it may. */
interface Job {
  /** Whether it runs while no other does. */
  readonly isAlone: boolean;
}

/** Runs at most `limit` jobs in parallel. They start in their order, and none starts after one has failed. */
export class JobQueue {
  readonly #limit: number;
  readonly #waiting: { readonly job: Job; readonly start: () => void }[] = [];
  readonly #underWay = new Set<Job>();
  #hasFailed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs a job in its turn; with `isAlone`, while no other is under way. */
  async run<Result>(work: () => Promise<Result>, isAlone: boolean): Promise<Result> {
    const job: Job = { isAlone };
    await new Promise<void>((start) => {
      this.#waiting.push({ job, start });
      this.#startWaiting();
    });
    try {
      return await work();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#underWay.delete(job);
      this.#startWaiting();
    }
  }

  /** Starts the jobs that wait, in their order, up to the first one without room. */
  #startWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#hasFailed || !this.#hasRoomFor(next.job)) return;
      this.#waiting.shift();
      this.#underWay.add(next.job);
      next.start();
    }
  }

  #hasRoomFor({ isAlone }: Job): boolean {
    if (isAlone) return this.#underWay.size === 0;
    return this.#underWay.size < this.#limit && ![...this.#underWay].some((job) => job.isAlone);
  }
}
