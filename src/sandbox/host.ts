import type { JournalEntry } from "./journal.js";
import type { World } from "./world.js";

/** The place where one world at a time runs; doors ask it for the world with every request. */
export interface Host {
  readonly world: () => World;
  /** Puts the world that `start` starts in the place of this one, between two requests; changes nothing when it throws. */
  readonly exchange: (start: () => World) => void;
  /** Starts the world of the last exchange again. */
  readonly reset: () => void;
  /** Calls the listener with every request from now on, whichever world runs; answers how to stop that. */
  readonly subscribe: (listener: (entry: JournalEntry) => void) => () => void;
}

/** Makes a host and starts its first world. */
export function createHost(start: () => World): Host {
  const listeners = new Set<(entry: JournalEntry) => void>();
  const stopListening = new Map<(entry: JournalEntry) => void, () => void>();
  let restart = start;
  let world = start();

  const listenTo = (listener: (entry: JournalEntry) => void) => {
    stopListening.set(listener, world.journal.subscribe(listener));
  };
  const exchange = (startNext: () => World) => {
    const next = startNext();
    restart = startNext;
    world = next;
    for (const listener of listeners) listenTo(listener);
  };
  return {
    world: () => world,
    exchange,
    reset: () => exchange(restart),
    subscribe(listener) {
      listeners.add(listener);
      listenTo(listener);
      return () => {
        listeners.delete(listener);
        stopListening.get(listener)?.();
        stopListening.delete(listener);
      };
    },
  };
}
