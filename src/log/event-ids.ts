import type { Runtime } from "../sandbox/runtime.js";

/** How a sandbox's events are numbered for followers: an id is a position in its history plus an offset. */
export interface EventIds {
  readonly offset: number;
  /** The first id that a follower can resume after. */
  readonly from: number;
  /** The last event id of an earlier process: a follower that has it has every event up to `from`. */
  readonly earlier: number | undefined;
}

/** The maximum number of events between the last save of a state and the end of its server. */
const mostUnsaved = 1_000_000;

/** Numbers the events of a server's sandboxes, starting with the first follower. The first event has the id after `from`. */
export function createEventIds(from: () => number = () => 0) {
  const numbered = new WeakMap<Runtime, EventIds>();
  const start = (runtime: Runtime, first: number, earlier?: number): EventIds => {
    const ids = { offset: first - runtime.history.latest(), from: first, earlier };
    numbered.set(runtime, ids);
    return ids;
  };
  return {
    of: (runtime: Runtime): EventIds => numbered.get(runtime) ?? start(runtime, from()),
    /** Continues the ids of an earlier process after its `last` known id; does nothing if nobody followed its events. */
    resume(runtime: Runtime, last: number | undefined): void {
      if (last !== undefined) start(runtime, last + mostUnsaved, last);
    },
    /** Returns the id of the last event; `undefined` if nobody has followed the events. */
    latest(runtime: Runtime): number | undefined {
      const ids = numbered.get(runtime);
      return ids && ids.offset + runtime.history.latest();
    },
  };
}
