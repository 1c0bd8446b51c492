/** When requests are saved again: a save stops them all, so the next one waits ten times as long as it took. */
export class SavePace {
  readonly #stopwatch: () => number;
  #dueAt = 0;

  /** `stopwatch`: milliseconds that only grow. */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  isDue(): boolean {
    return this.#stopwatch() >= this.#dueAt;
  }

  /** Runs a save of any kind, and plans the next save of requests by the time that this one takes. */
  run<Result>(save: () => Result): Result {
    const startedAt = this.#stopwatch();
    try {
      return save();
    } finally {
      const endedAt = this.#stopwatch();
      this.#dueAt = endedAt + 10 * (endedAt - startedAt);
    }
  }
}
