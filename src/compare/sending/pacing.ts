import type { CompareOptions } from "./compare-options.js";

/** When a comparison sends: the time between its requests, and its one wait for a limit. */
export class Pacing {
  readonly #wait: CompareOptions["wait"];
  #pace: number;
  #hasWaited = false;

  constructor({ wait, pace = 0 }: CompareOptions) {
    this.#wait = wait;
    this.#pace = pace;
  }

  /** Milliseconds between two requests. */
  get pace(): number {
    return this.#pace;
  }

  /** Sends the next requests with this pace, unless they already are slower. */
  slowDown(pace: number): void {
    this.#pace = Math.max(this.#pace, pace);
  }

  /** Waits until the next request is due. */
  async waitForNext(): Promise<void> {
    if (this.#pace > 0) await this.#wait?.(this.#pace);
  }

  /** Whether the wait for a limit is still left. */
  get canWaitForLimit(): boolean {
    return this.#wait !== undefined && !this.#hasWaited;
  }

  async waitForLimit(milliseconds: number): Promise<void> {
    this.#hasWaited = true;
    await this.#wait?.(milliseconds);
  }
}
