import type { Assumptions } from "../../domain/assumptions.js";
import type { World } from "../../sandbox/world.js";
import { chosenVariation, type Variation } from "./vary.js";

// What every request asks: most worlds vary nothing, and come without the table of what varies.

/** Whether the answers of a world are varied, or chosen point by point in a trial of a client. */
export function isVaried({ profile, trial }: World): boolean {
  return profile === "varied" || (profile === "typical" && trial?.choose !== undefined);
}

/** The call as its answer of a status shows it: in a trial of a client, with what that chooses for each row. */
export function asChosen<
  Varied extends { number: number; assumptions: Assumptions; variation: Variation | undefined },
>(world: World, call: Varied, status: number, isContext = false): Varied {
  const { number, variation } = call;
  const choose = world.trial?.choose;
  if (variation === undefined || choose === undefined) return call;
  const chosen = chosenVariation(world, number, variation, choose, { status, isContext });
  return { ...call, assumptions: chosen.assumptions, variation: chosen };
}
