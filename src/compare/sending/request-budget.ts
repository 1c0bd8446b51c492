/** Enough for all causes of 401, each with a response of its own. */
const defaultMaximum = 60;
/** The default is raised to this at most, for a key with a large limit. */
const highestDefault = 400;

/** How many requests a comparison may send. */
export class RequestBudget {
  /** The number of requests that were sent, also of one that a signal has cut off. */
  sent = 0;
  readonly #isDefault: boolean;
  #maximum: number;

  constructor(maximum: number | undefined) {
    this.#isDefault = maximum === undefined;
    this.#maximum = maximum ?? defaultMaximum;
  }

  get maximum(): number {
    return this.#maximum;
  }

  get left(): number {
    return this.#maximum - this.sent;
  }

  /** Describes that so many requests are not left. */
  describeLack(count: number): string {
    return `that takes ${count - this.left} more of --max-requests`;
  }

  /** Raises the default maximum by these requests; a maximum that the caller has set stays. */
  raiseDefault(more: number): void {
    if (this.#isDefault) this.#maximum = Math.min(defaultMaximum + more, highestDefault);
  }
}
