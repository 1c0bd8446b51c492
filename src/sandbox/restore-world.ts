import type { Scenario } from "../scenario/scenario.generated.js";
import { lastClockInstant } from "./instants.js";
import { createWorld, type World, type WorldOptions } from "./world.js";

/** What is left of a world that has ended. */
export interface RemainingWorld {
  /** Made by `snapshotWorld`. */
  readonly snapshot: Scenario;
  /** What the world was started from. */
  readonly scenario: Scenario;
  /** When its revoked keys were revoked (epoch milliseconds), by ref: a scenario does not say. */
  readonly revokedAt: Readonly<Record<string, number>>;
  /** How many steps of its story were told. */
  readonly told: number;
}

/**
 * Starts a world that goes on where another one ended, `elapsed` milliseconds ago; a frozen clock has stood still.
 *
 * The keys that its scenario describes must all be in the snapshot.
 */
export function restoreWorld(
  { snapshot, scenario, revokedAt, told }: RemainingWorld,
  elapsed: number,
  options: Pick<WorldOptions, "platform" | "name">,
): World {
  const world = createWorld(snapshot, options);
  for (const [ref, instant] of Object.entries(revokedAt)) {
    const entry = world.registry.keys.get(ref);
    if (entry?.key.revokedAt !== undefined) entry.key = { ...entry.key, revokedAt: instant };
  }
  const { clock } = world;
  if (!clock.isFrozen()) clock.advance(Math.max(0, Math.min(elapsed, lastClockInstant - clock.now())));
  const steps = scenario.story ?? [];
  return Object.assign(world, { scenario, story: { steps, next: Math.min(told, steps.length) } });
}
