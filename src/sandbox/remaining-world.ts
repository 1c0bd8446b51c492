import type { Scenario } from "../scenario/scenario.generated.js";
import { lastClockInstant } from "./clock.js";
import { createWorld } from "./create-world.js";
import { snapshotWorld } from "./snapshot.js";
import { createStory } from "./story/story.js";
import type { World, WorldOptions } from "./world.js";

/** The saved state of a world that has ended. */
export interface RemainingWorld {
  /** Made by `snapshotWorld`. */
  readonly snapshot: Scenario;
  /** The scenario that the world was started from. */
  readonly scenario: Scenario;
  /** When its revoked keys were revoked (epoch milliseconds), by ref: a scenario does not say. */
  readonly revokedAt: Readonly<Record<string, number>>;
  /** The number of steps of its story that ran. */
  readonly told: number;
}

/** The state of a world from which another one goes on; `requests_answered` has its series in it, so that no id comes twice. */
export function remainingWorld(world: World): RemainingWorld {
  const revoked = [...world.registry.keys.values()].flatMap(({ key: { ref, revokedAt } }) =>
    revokedAt === undefined ? [] : [[ref, revokedAt] as const],
  );
  return {
    snapshot: { ...snapshotWorld(world), requests_answered: world.requestIds.answered() },
    scenario: world.scenario,
    revokedAt: Object.fromEntries(revoked),
    told: world.story.next,
  };
}

/**
 * Starts a world that goes on where another one ended, `elapsed` milliseconds ago; a frozen clock has stood still.
 *
 * The keys that its scenario describes must all be in the snapshot.
 */
export function restoreWorld(
  { snapshot, scenario, revokedAt, told }: RemainingWorld,
  elapsed: number,
  options: Pick<WorldOptions, "platform" | "name" | "text">,
): World {
  const world = createWorld(snapshot, options);
  for (const [ref, instant] of Object.entries(revokedAt)) {
    const entry = world.registry.keys.get(ref);
    if (entry?.key.revokedAt !== undefined) entry.key = { ...entry.key, revokedAt: instant };
  }
  const { clock } = world;
  if (!clock.isFrozen()) clock.advance(Math.max(0, Math.min(elapsed, lastClockInstant - clock.now())));
  return Object.assign(world, { scenario, story: createStory(scenario.story ?? [], told) });
}
