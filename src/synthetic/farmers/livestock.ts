import type { LivestockType } from "./countries.js";
import { chance, logNormal } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Livestock } from "./farmer.js";

/** How many animals a farm has room for: some without any land to speak of, and more on each hectare. */
const room: Readonly<Record<LivestockType, readonly [some: number, perHectare: number]>> = {
  buffaloes: [1, 3],
  cattle: [1, 4],
  chickens: [25, 100],
  ducks: [15, 60],
  goats: [3, 12],
  pigs: [3, 12],
  sheep: [3, 12],
};

/** The animals of the farm; more of them on more land, though by far not in proportion, and no more than it feeds. */
export function livestockOf({ draws, country }: FarmWorld, areaHa: number): readonly Livestock[] {
  const scale = Math.min(Math.max(Math.sqrt(areaHa / country.farmSize.median), 0.5), 5);
  return country.livestock.flatMap(([type, share, median]) => {
    const draw = draws("livestock", type);
    if (!chance(draw, share)) return [];
    const [some, perHectare] = room[type];
    const most = some + Math.floor(perHectare * areaHa);
    return [{ type, count: Math.min(most, Math.max(1, Math.round(logNormal(draw, median * scale, 0.6)))) }];
  });
}
