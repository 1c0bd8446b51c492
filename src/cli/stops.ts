/** How to stop the parts of a server. What started last stops first: no file changes a server that stops, and no request comes after the last save. */
export class Stops {
  readonly #stops: (() => void | Promise<void>)[] = [];

  /** Adds how to stop a part that has started. */
  add(stop: () => void | Promise<void>): void {
    this.#stops.push(stop);
  }

  /** Stops each part, also if another one fails; resolves to the errors. */
  async stop(): Promise<readonly unknown[]> {
    const errors: unknown[] = [];
    for (const stopPart of this.#stops.toReversed()) {
      try {
        await stopPart();
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}
