import { type Counters, createCounters } from "./counters.js";
import { type Announcements, createAnnouncements } from "./events.js";
import { settleTimeline } from "./story/timeline.js";
import type { World, WorldOptions } from "./world.js";

/** What whoever started a host has asked for: it wins over what scenarios say, also those that come later. */
export type GivenOptions = Pick<WorldOptions, "seed" | "now" | "frozen" | "profile">;

/** What of that is asked for at all, whatever else stands beside it. */
export function givenOptions({
  seed,
  now,
  frozen,
  profile,
}: { readonly [Name in keyof GivenOptions]?: GivenOptions[Name] | undefined }): GivenOptions {
  return {
    ...(seed !== undefined && { seed }),
    ...(now !== undefined && { now }),
    ...(frozen !== undefined && { frozen }),
    ...(profile !== undefined && { profile }),
  };
}

/** The place where one world at a time runs; doors ask it for the world with every request. */
export interface Runtime {
  /** The world that runs; what its timeline says has happened by now. */
  readonly world: () => World;
  /** Puts the world that `start` starts in the place of this one, between two requests; changes nothing when it throws. */
  readonly exchange: (start: () => World) => void;
  /** What holds for every scenario that is started here. */
  readonly given: GivenOptions;
  /** Starts the world of the last exchange again. */
  readonly reset: () => void;
  /** Calls the listener with everything that happens from now on, whichever world runs; answers how to stop that. */
  readonly subscribe: Announcements["subscribe"];
  /** Counts the requests of every world that runs here: the client stays the same when the world does not. */
  readonly counters: Counters;
}

/** How to make a runtime. */
export interface RuntimeOptions {
  /** What `reset` starts. Default: the first world. */
  readonly restart?: () => World;
  /** What `start` was told beside the scenario. Default: nothing. */
  readonly given?: GivenOptions;
}

/** Makes a runtime and starts its first world. */
export function createRuntime(
  start: () => World,
  { restart = start, given = {} }: RuntimeOptions = {},
): Runtime {
  const announcements = createAnnouncements();
  let startAgain = restart;
  const counters = createCounters();
  let world = start();
  world.events.passOnTo(announcements);
  world.counters = counters;

  const exchange = (startNext: () => World) => {
    const next = startNext();
    next.events.passOnTo(announcements);
    next.counters = counters;
    startAgain = startNext;
    world = next;
    announcements.announce({ type: "world.started", scenario: world.name, seed: world.seed });
  };
  return {
    world() {
      if (world.timeline.dueAt !== Number.POSITIVE_INFINITY) settleTimeline(world);
      return world;
    },
    exchange,
    given,
    reset: () => exchange(startAgain),
    subscribe: announcements.subscribe,
    counters,
  };
}
