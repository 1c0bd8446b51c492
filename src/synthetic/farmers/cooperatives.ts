import { base62From, pick, randomStream } from "../../domain/seed.js";
import { yearOf } from "./dates.js";
import { chance, wholeBetween } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Cooperative } from "./farmer.js";
import { localeFacts } from "./locales.js";
import { farmerNames } from "./names.generated.js";
import { familyNamesOf } from "./person.js";

const perRegion = 8;

/** One of the few cooperatives of the region, which neighbours share, or `null` for who is in none. */
export function cooperativeOf(world: FarmWorld): Cooperative | null {
  const draw = world.draws("cooperative");
  if (!chance(draw, world.country.cooperativeShare)) return null;
  const own = randomStream(
    world.seed,
    "cooperative",
    world.region.code,
    String(wholeBetween(draw, 1, perRegion)),
  );
  const cooperative_id = `coop_${base62From(own, 10)}`;
  const now = yearOf(world.start);
  const name = pick(own, familyNamesOf(farmerNames[world.locale] as readonly string[], "male"));
  return {
    cooperative_id,
    name: pick(own, localeFacts[world.locale].cooperatives).replace("{{name}}", name),
    member_since: now - wholeBetween(draw, 0, Math.min(now - world.grownUpFrom, 25)),
  };
}
