import { useLayoutEffect, useState } from "preact/hooks";

/** A value that outlives the components that show it. */
export class Shared<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set value(next: Value) {
    if (next === this.#value) return;
    this.#value = next;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a function after each change, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The value; a change draws the component again. */
export function useShared<Value>(shared: Shared<Value>): Value {
  const [, draw] = useState({});
  useLayoutEffect(() => shared.subscribe(() => draw({})), [shared]);
  return shared.value;
}
