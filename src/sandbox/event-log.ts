import type { WorldEvent } from "./events.js";
import type { Runtime } from "./runtime.js";

/** An event and its place in the order of all events; the first one is 1. */
export interface LoggedEvent {
  readonly id: number;
  readonly event: WorldEvent;
}

/** What has happened in a runtime since the log was made; remembers the last `capacity` events. */
export interface EventLog {
  /** The events after the one of this id, oldest first; `undefined` when some of them are forgotten. */
  readonly since: (id: number) => LoggedEvent[] | undefined;
  /** The id of the latest event. */
  readonly latest: () => number;
  readonly subscribe: (listener: (logged: LoggedEvent) => void) => () => void;
}

/** Makes the log of a runtime's events from now on. */
export function createEventLog(runtime: Runtime, capacity = 1000): EventLog {
  const remembered: LoggedEvent[] = [];
  const listeners = new Set<(logged: LoggedEvent) => void>();
  let latest = 0;
  runtime.subscribe((event) => {
    latest += 1;
    const logged = { id: latest, event };
    remembered.push(logged);
    // Twice the capacity is let grow, so that the oldest half is cut off at once rather than one by one.
    if (remembered.length >= 2 * capacity) remembered.splice(0, remembered.length - capacity);
    for (const listener of listeners) listener(logged);
  });
  return {
    since(id) {
      const first = remembered[0]?.id ?? latest + 1;
      if (id > latest || id < first - 1) return undefined;
      return remembered.filter((logged) => logged.id > id);
    },
    latest: () => latest,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
