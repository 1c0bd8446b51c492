import type { Runtime } from "../world/runtime.js";

/** How the events of a sandbox are numbered for followers: an id is a position in its history, plus an offset. */
export interface EventIds {
  readonly offset: number;
  /** The id before the first event that a follower can resume from. */
  readonly from: number;
  /** The last event of an earlier process; who saw it missed nothing up to `from`. */
  readonly earlier: number | undefined;
}

/** The most events that a server may have sent after its state was written for the last time. */
const mostUnsaved = 1_000_000;

/** Numbers the events of a server's sandboxes, each from its first follower on. The first event has the id after `from`. */
export function createEventIds(from: () => number = () => 0) {
  const numbered = new WeakMap<Runtime, EventIds>();
  const start = (runtime: Runtime, first: number, earlier?: number): EventIds => {
    const ids = { offset: first - runtime.history.latest(), from: first, earlier };
    numbered.set(runtime, ids);
    return ids;
  };
  return {
    of: (runtime: Runtime): EventIds => numbered.get(runtime) ?? start(runtime, from()),
    /** Continues the ids of an earlier process, of which `last` is the last that is known; `undefined`: nobody followed. */
    resume(runtime: Runtime, last: number | undefined): void {
      if (last !== undefined) start(runtime, last + mostUnsaved, last);
    },
    /** The id of the last event; `undefined` without a follower so far. */
    latest(runtime: Runtime): number | undefined {
      const ids = numbered.get(runtime);
      return ids && ids.offset + runtime.history.latest();
    },
  };
}
