import { base62From, pick, type RandomStream, randomStream } from "../spec/seed.js";
import { yearOf } from "./dates.js";
import { chance, logNormal, normal, unit, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { Farmer, LivestockType } from "./farmer-shape.js";
import { namesOf } from "./tables.js";

/** Only the year of birth is known. In the year of this birthday, a person is 18 or older all year. */
export const adultAfterYears = 19;
const oldest = 90;

/** Sex and year of birth: mostly middle-aged people, few young ones. */
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

/** A given name and a family name that are common in the region among speakers of the language. */
export function nameOf(
  { draws, region }: FarmContext,
  { sex, language }: Pick<Farmer, "sex" | "language">,
): Farmer["name"] {
  const draw = draws("name");
  const { [sex]: given, family, familyOfMen = family } = namesOf(region, language);
  return { given_name: pick(draw, given), surname: pickCommon(draw, sex === "male" ? familyOfMen : family) };
}

/** One of the names, which are sorted most common first; the first ones are more likely. */
function pickCommon(draw: RandomStream, names: readonly string[]): string {
  const share = unit(draw);
  return names[Math.floor(share * share * names.length)] as string;
}

/** The farmer's language: one of the region's, or the country's. */
export function languageOf({ draws, country, region }: FarmContext): string {
  let rest = unit(draws("language"));
  for (const [language, share] of Object.entries(region.languages)) {
    rest -= share;
    if (rest < 0) return language;
  }
  return country.language;
}

/** The share of household heads among farmers up to an age: sons succeed fathers, widows succeed husbands. */
const heads: readonly (readonly [age: number, men: number, women: number])[] = [
  [24, 0.35, 0.05],
  [34, 0.7, 0.15],
  [49, 0.92, 0.25],
  [64, 0.96, 0.4],
  [74, 0.92, 0.6],
  [oldest, 0.8, 0.6],
];

/** A household of at least one person; a single farmer is its head. */
export function householdOf(
  { draws, country, start }: FarmContext,
  { sex, birth_year }: Pick<Farmer, "sex" | "birth_year">,
): Farmer["household"] {
  const draw = draws("household");
  const size = Math.round(country.meanHousehold + (country.meanHousehold / 2.5) * normal(draw));
  const group_size = Math.min(Math.max(size, 1), 16);
  const age = yearOf(start) - birth_year;
  const [, men, women] = heads.find(([upTo]) => age <= upTo) ?? [oldest, 1, 1];
  const head = chance(draw, sex === "male" ? men : women);
  return { group_size, is_head: group_size === 1 || head };
}

const cooperativesPerRegion = 8;

/** One of the few cooperatives of the region, which neighbors share; `null` for a farmer without one. */
export function cooperativeOf(farm: FarmContext): Farmer["cooperative"] {
  const { country, region } = farm;
  const draw = farm.draws("cooperative");
  if (!chance(draw, country.cooperativeShare)) return null;
  const number = wholeBetween(draw, 1, cooperativesPerRegion);
  const own = randomStream(farm.seed, "cooperative", region.code, String(number));
  const cooperative_id = `coop_${base62From(own, 10)}`;
  const now = yearOf(farm.start);
  const { family, familyOfMen = family } = region.names;
  const name = pick(own, familyOfMen);
  return {
    cooperative_id,
    name: pick(own, country.cooperatives).replace("{{name}}", name),
    member_since: now - wholeBetween(draw, 0, Math.min(now - farm.adultFrom, 25)),
  };
}

/** The number of animals that a farm can feed: a base number, plus more per hectare. */
const capacity: Readonly<Record<LivestockType, readonly [withoutLand: number, perHectare: number]>> = {
  buffaloes: [1, 3],
  cattle: [1, 4],
  chickens: [25, 100],
  ducks: [15, 60],
  goats: [3, 12],
  pigs: [3, 12],
  sheep: [3, 12],
};

/** The animals of the farm: more on more land, though not in proportion, and no more than it can feed. */
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
