import { type Counters, createCounters } from "./counters.js";
import type { OtherEvent } from "./events.js";
import type { History } from "./history/history.js";
import { settleTimeline } from "./story/timeline.js";
import type { World, WorldOptions } from "./world.js";

/** Options that override the settings of every scenario that a runtime starts. */
export type GivenOptions = Pick<WorldOptions, "seed" | "now" | "frozen" | "profile" | "trial">;

/** Picks these options. */
export function givenOptions({ seed, now, frozen, profile, trial }: GivenOptions): GivenOptions {
  return { seed, now, frozen, profile, trial };
}

/** Records that the client did not wait for the response. The journal may have discarded the request. */
export function countUnread({ counters, history }: Runtime, id: string): void {
  counters.countUnread();
  const exchange = history.find(id);
  if (exchange !== undefined) exchange.isUnread = true;
}

/** A running sandbox: one `World` at a time, which a reset or another scenario replaces. */
export interface Runtime {
  /** Runs the timeline steps that are due, and returns the current `World`. */
  readonly world: () => World;
  /** Starts another `World`; changes nothing if `start` throws. */
  readonly exchange: (start: () => World) => void;
  /** Switches to a `World` that continues the current one; `restart` returns the one that `reset` starts. */
  readonly replace: (world: World, restart: () => World) => void;
  /** Options for every scenario that starts here. */
  readonly given: GivenOptions;
  /** Repeats the last `exchange`. */
  readonly reset: () => void;
  /** Calls the listener with every later event, across resets; returns a function to unsubscribe. */
  readonly subscribe: History<OtherEvent>["subscribe"];
  /** The events, across resets. */
  readonly history: History<OtherEvent>;
  /** Counts the requests across resets: the client stays the same. */
  readonly counters: Counters;
  /** The last series of request ids; each `World` has its own. Changed in place. */
  readonly idSeries: { last: number };
  /** The group of these series, unique to this runtime; `undefined` for none. */
  readonly idGroup: number | undefined;
}

export interface RuntimeOptions {
  /** Returns the `World` that `reset` starts. Default: `start`. */
  readonly restart?: () => World;
  /** Options that override the scenario. Default: none. */
  readonly given?: GivenOptions;
  /** The group of its series of request ids, unique to this runtime. Default: none. */
  readonly idGroup?: number | undefined;
}

/** Creates a runtime and starts its first `World`. */
export function createRuntime(
  start: () => World,
  { restart = start, given = {}, idGroup }: RuntimeOptions = {},
): Runtime {
  const counters = createCounters();
  const enter = (entering: World): World => {
    if (entering.history !== history) history.enter(entering.history.subject());
    entering.history = history;
    entering.counters = counters;
    if (idGroup !== undefined) entering.requestIds.within(idGroup);
    return entering;
  };
  const inNextSeries = (entering: World): World => {
    idSeries.last += 1;
    entering.requestIds.enter(idSeries.last);
    return enter(entering);
  };
  const first = start();
  const { history } = first;
  const idSeries = { last: first.requestIds.series() };
  let world = enter(first);
  let startAgain = restart;
  const exchange = (startNext: () => World) => {
    world = inNextSeries(startNext());
    startAgain = startNext;
    history.announce({ type: "world.started", scenario: world.name, seed: world.seed });
  };
  return {
    world() {
      if (world.timeline.dueAt !== Number.POSITIVE_INFINITY) settleTimeline(world);
      return world;
    },
    exchange,
    replace(entering, restartIt) {
      world = enter(entering);
      startAgain = restartIt;
    },
    given,
    reset: () => exchange(startAgain),
    history,
    subscribe: history.subscribe,
    counters,
    idSeries,
    idGroup,
  };
}
