/** Stops a part of a server. */
type Stop = () => void | Promise<void>;

/** The parts of a server that has started. What started last stops first: no file changes a server that stops, and no request comes after the last save. */
export class StartedParts {
  readonly #stops: Stop[] = [];

  /** Adds a part that has started, by how to stop it. */
  add(stop: Stop): void {
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
