import type { EventEmitter } from "node:events";

/** Steps at an event of this process or its outputs. They share a listener: Node warns of more than ten, and `certify` has some for each run. */
export class SharedListener {
  readonly #emitter: EventEmitter;
  readonly #event: string;
  readonly #steps = new Set<() => void>();

  constructor(emitter: EventEmitter, event: string) {
    this.#emitter = emitter;
    this.#event = event;
  }

  add(step: () => void): void {
    if (this.#steps.size === 0) this.#emitter.on(this.#event, this.#callSteps);
    this.#steps.add(step);
  }

  remove(step: () => void): void {
    this.#steps.delete(step);
    if (this.#steps.size === 0) this.#emitter.off(this.#event, this.#callSteps);
  }

  readonly #callSteps = (): void => {
    for (const step of this.#steps) step();
  };
}

/** What to do when this process ends. */
export const processEnd = new SharedListener(process, "exit");

/** What to do when nobody reads an output of this process any more. */
export const outputErrors = {
  stdout: new SharedListener(process.stdout, "error"),
  stderr: new SharedListener(process.stderr, "error"),
};
