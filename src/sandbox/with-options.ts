import type { Scenario } from "../scenario/scenario.generated.js";
import { isoOf } from "./instants.js";
import type { WorldOptions } from "./world.js";

/** The scenario that starts by itself the world which this one starts with these options. Does not change the scenario. */
export function withOptions(
  scenario: Scenario,
  { seed, now, frozen, profile }: Omit<WorldOptions, "platform">,
): Scenario {
  const movesClock = now !== undefined || frozen !== undefined;
  if (seed === undefined && profile === undefined && !movesClock) return scenario;
  const clock = {
    ...scenario.clock,
    ...(now !== undefined && { now: isoOf(now) }),
    ...(frozen !== undefined && { frozen }),
  };
  return {
    ...scenario,
    ...(seed !== undefined && { seed }),
    ...(movesClock && { clock }),
    ...(profile !== undefined && { assumptions: { ...scenario.assumptions, profile } }),
  };
}
