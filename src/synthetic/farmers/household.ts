import { base62From, pick, type RandomStream, randomStream } from "../../domain/seed.js";
import { yearOf } from "./dates.js";
import { chance, logNormal, normal, unit, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { Farmer, LivestockType } from "./farmer-shape.js";
import { namesOf } from "./tables.js";

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

/** A given name and a family name that are common in the region among those who speak the language. */
export function nameOf(
  { draws, region }: FarmContext,
  { sex, language }: Pick<Farmer, "sex" | "language">,
): Farmer["name"] {
  const draw = draws("name");
  const { [sex]: given, family, familyOfMen = family } = namesOf(region, language);
  return { given_name: pick(draw, given), surname: pickCommon(draw, sex === "male" ? familyOfMen : family) };
}

/** One of the names, which begin with the commonest: those at the beginning more often than those at the end. */
function pickCommon(draw: RandomStream, names: readonly string[]): string {
  const share = unit(draw);
  return names[Math.floor(share * share * names.length)] as string;
}

/** The language to speak with the farmer: one of the region, or the country's. */
export function languageOf({ draws, country, region }: FarmContext): string {
  let rest = unit(draws("language"));
  for (const [language, share] of Object.entries(region.languages)) {
    rest -= share;
    if (rest < 0) return language;
  }
  return country.language;
}

/** Of farmers up to an age, the share that heads the household: sons take over from fathers, widows from husbands. */
const heads: readonly (readonly [age: number, men: number, women: number])[] = [
  [24, 0.35, 0.05],
  [34, 0.7, 0.15],
  [49, 0.92, 0.25],
  [64, 0.96, 0.4],
  [74, 0.92, 0.6],
  [oldest, 0.8, 0.6],
];

/** A household of at least one; a farmer who lives alone is its head. */
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

/** One of the few cooperatives of the region, which neighbours share; `null` for a farmer who is in none. */
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
