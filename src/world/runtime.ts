import type { History } from "../history/history.js";
import { type Counters, createCounters } from "./counters.js";
import type { OtherEvent } from "./events.js";
import { settleTimeline } from "./story/timeline.js";
import type { World, WorldOptions } from "./world.js";

/** The options of a runtime, which override those of every scenario that it starts. */
export type GivenOptions = Pick<WorldOptions, "seed" | "now" | "frozen" | "profile" | "trial">;

/** These options without any others. */
export function givenOptions({ seed, now, frozen, profile, trial }: GivenOptions): GivenOptions {
  return { seed, now, frozen, profile, trial };
}

/** Records that the client did not wait for the response to the request of an id, which the journal may have discarded. */
export function countUnread({ counters, history }: Runtime, id: string): void {
  counters.countUnread();
  const exchange = history.find(id);
  if (exchange !== undefined) exchange.isUnread = true;
}

/** Runs one world at a time; adapters get the world from it with every request. */
export interface Runtime {
  /** The running world, with its timeline up to date. */
  readonly world: () => World;
  /** Replaces the world by the one that `start` returns; changes nothing when that throws. */
  readonly exchange: (start: () => World) => void;
  /** Replaces the running world by one that continues from it; `restart` returns the world that `reset` starts. */
  readonly replace: (world: World, restart: () => World) => void;
  /** The options for every scenario that is started here. */
  readonly given: GivenOptions;
  /** Starts the world of the last exchange again. */
  readonly reset: () => void;
  /** Calls the listener with everything that happens from now on, whichever world runs; answers how to stop that. */
  readonly subscribe: History<OtherEvent>["subscribe"];
  /** What happened, whichever world ran. */
  readonly history: History<OtherEvent>;
  /** Counts the requests of every world that runs here: the client stays the same when the world does not. */
  readonly counters: Counters;
  /** The last series of request ids; each world has one of its own. Changed in place. */
  readonly idSeries: { last: number };
  /** The group of all its series, which no other runtime has; `undefined` for none. */
  readonly idGroup: number | undefined;
}

export interface RuntimeOptions {
  /** Returns the world that `reset` starts. Default: the first world. */
  readonly restart?: () => World;
  /** The options beside the scenario. Default: none. */
  readonly given?: GivenOptions;
  /** The group of all its series of request ids, which no other runtime has. Default: none. */
  readonly idGroup?: number | undefined;
}

/** Makes a runtime and starts its first world. */
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
