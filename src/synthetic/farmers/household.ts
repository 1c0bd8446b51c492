import { base62From, pick, randomStream } from "../../domain/seed.js";
import { yearOf } from "./dates.js";
import { chance, logNormal, normal, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { Farmer, LivestockType } from "./farmer-schema.js";
import { names } from "./tables.js";

/** Only the year of birth is known: in the year of this birthday someone is 18 all year. */
export const adultAfterYears = 19;
const oldest = 90;

/** Sex and year of birth: mostly people of middle age, few of them young. */
export function personOf({
  draws,
  country,
  start,
}: Pick<FarmContext, "draws" | "country" | "start">): Pick<Farmer, "sex" | "birth_year"> {
  const draw = draws("person");
  const sex = chance(draw, country.womenShare) ? "female" : "male";
  for (;;) {
    const age = Math.round(country.meanAge + 14 * normal(draw));
    if (age >= adultAfterYears && age <= oldest) return { sex, birth_year: yearOf(start) - age };
  }
}

/** A given name and a family name that are common in the locale, put together at random. */
export function nameOf({ draws, locale }: FarmContext, sex: Farmer["sex"]): Farmer["name"] {
  const draw = draws("name");
  const { [sex]: given, family, familyOfMen = family } = names[locale];
  return { given_name: pick(draw, given), surname: pick(draw, sex === "male" ? familyOfMen : family) };
}

/** The language to speak with the farmer: the country's, or one of the region. */
export function languageOf({ draws, country, region }: FarmContext): string {
  return region.language !== undefined && chance(draws("language"), 0.6) ? region.language : country.language;
}

/** A household of at least one; a farmer who lives alone is its head. */
export function householdOf({ draws, country }: FarmContext, sex: Farmer["sex"]): Farmer["household"] {
  const draw = draws("household");
  const size = Math.round(country.meanHousehold + (country.meanHousehold / 2.5) * normal(draw));
  const group_size = Math.min(Math.max(size, 1), 16);
  const head = chance(draw, sex === "male" ? 0.88 : 0.4);
  return { group_size, is_head: group_size === 1 || head };
}

const cooperativesPerRegion = 8;

/** One of the few cooperatives of the region, which neighbours share; `null` for a farmer who is in none. */
export function cooperativeOf(farm: FarmContext): Farmer["cooperative"] {
  const { country, region } = farm;
  const draw = farm.draws("cooperative");
  if (!chance(draw, country.cooperativeShare)) return null;
  const number = wholeBetween(draw, 1, cooperativesPerRegion);
  const own = randomStream(farm.seed, "cooperative", region.code, String(number));
  const cooperative_id = `coop_${base62From(own, 10)}`;
  const now = yearOf(farm.start);
  const { family, familyOfMen = family } = names[farm.locale];
  const name = pick(own, familyOfMen);
  return {
    cooperative_id,
    name: pick(own, country.cooperatives).replace("{{name}}", name),
    member_since: now - wholeBetween(draw, 0, Math.min(now - farm.adultFrom, 25)),
  };
}

/** The number of animals that a farm can feed: some without any land, and more for each hectare. */
const capacity: Readonly<Record<LivestockType, readonly [withoutLand: number, perHectare: number]>> = {
  buffaloes: [1, 3],
  cattle: [1, 4],
  chickens: [25, 100],
  ducks: [15, 60],
  goats: [3, 12],
  pigs: [3, 12],
  sheep: [3, 12],
};

/** The animals of the farm: more on more land, though far from in proportion, and no more than it feeds. */
export function livestockOf({ draws, country }: FarmContext, areaHa: number): Farmer["livestock"] {
  const scale = Math.min(Math.max(Math.sqrt(areaHa / country.farmSize.median), 0.5), 5);
  return country.livestock.flatMap(([type, share, median]) => {
    const draw = draws("livestock", type);
    if (!chance(draw, share)) return [];
    const [withoutLand, perHectare] = capacity[type];
    const most = withoutLand + Math.floor(perHectare * areaHa);
    return [{ type, count: Math.min(most, Math.max(1, Math.round(logNormal(draw, median * scale, 0.6)))) }];
  });
}
