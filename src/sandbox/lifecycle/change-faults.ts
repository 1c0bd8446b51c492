import { faultFindings } from "../../scenario/fault-rules.js";
import { faultsRefused } from "../../scenario/faults-refused.js";
import { parseWhen } from "../../scenario/when.js";
import { activateFaults, type Fault } from "../faults.js";
import type { World } from "../world.js";

/**
 * Puts well-shaped faults in the place of those in force; durations in them count from now.
 *
 * Throws `validation_failed` with everything that contradicts itself or the world, and changes nothing then.
 */
export function changeFaults(world: World, faults: readonly Fault[]): void {
  const { clock, registry, seed, events } = world;
  const now = clock.now();
  const surroundings = {
    keys: registry.keys,
    organizations: registry.organizations,
    preview: world.preview,
    fromStart(text: string) {
      const instant = parseWhen(text, now);
      return instant === undefined ? undefined : instant - now;
    },
  };
  const findings = faults.flatMap((fault, index) => faultFindings(fault, ["faults", index], surroundings));
  if (findings.length > 0) throw faultsRefused(findings);
  world.faults.active = activateFaults(faults, seed, now);
  events.announce({ type: "faults.changed" });
}
