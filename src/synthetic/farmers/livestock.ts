import { chance, logNormal } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Livestock } from "./farmer.js";

/** The animals of the farm; more of them on more land, though by far not in proportion. */
export function livestockOf({ draws, country }: FarmWorld, areaHa: number): readonly Livestock[] {
  const scale = Math.min(Math.max(Math.sqrt(areaHa / country.farmSize.median), 0.5), 5);
  return country.livestock.flatMap(([type, share, median]) => {
    const draw = draws("livestock", type);
    if (!chance(draw, share)) return [];
    return [{ type, count: Math.max(1, Math.round(logNormal(draw, median * scale, 0.6))) }];
  });
}
