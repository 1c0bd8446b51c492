import { pick } from "../../domain/seed.js";
import { yearOf } from "./dates.js";
import { chance, normal } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Farmer } from "./farmer.js";
import { localeFacts } from "./locales.js";
import { farmerNames } from "./names.generated.js";

/** Only the year of birth is told: in which year someone is 18 on every day of it. */
const adultAfterYears = 19;
const oldest = 90;

/** Who runs the farm: mostly people of middle age, few of them young. */
export function personOf({
  draws,
  country,
  start,
}: Pick<FarmWorld, "draws" | "country" | "start">): Pick<Farmer, "sex" | "birth_year"> {
  const draw = draws("person");
  const sex = chance(draw, country.womenShare) ? "female" : "male";
  for (;;) {
    const age = Math.round(country.meanAge + 14 * normal(draw));
    if (age >= adultAfterYears && age <= oldest) return { sex, birth_year: yearOf(start) - age };
  }
}

/** The first year in all of which someone born in a year is 18 or older. */
export function grownUpFrom(birthYear: number): number {
  return birthYear + adultAfterYears;
}

/** A given name and a family name that are usual in the locale, put together at random. */
export function nameOf({ draws, locale }: FarmWorld, sex: Farmer["sex"]): Farmer["name"] {
  const draw = draws("name");
  const lists = farmerNames[locale] as readonly string[];
  const given = lists[sex === "female" ? 0 : 1] as string;
  return { given_name: pick(draw, given.split("|")), surname: pick(draw, familyNamesOf(lists, sex)) };
}

/** Family names; where women and men bear different ones, those of this sex. */
export function familyNamesOf(lists: readonly string[], sex: Farmer["sex"]): readonly string[] {
  const list = sex === "male" && lists.length > 3 ? lists[3] : lists[2];
  return (list as string).split("|");
}

/** The language that the farmer is spoken to in: the country's, or one of the region. */
export function languageOf({ draws, locale, region }: FarmWorld): string {
  const { language } = localeFacts[locale];
  return region.language !== undefined && chance(draws("language"), 0.6) ? region.language : language;
}

/** A household of at least one; who lives alone is its head. */
export function householdOf({ draws, country }: FarmWorld, sex: Farmer["sex"]): Farmer["household"] {
  const draw = draws("household");
  const size = Math.round(country.meanHousehold + (country.meanHousehold / 2.5) * normal(draw));
  const group_size = Math.min(Math.max(size, 1), 16);
  const head = chance(draw, sex === "male" ? 0.88 : 0.4);
  return { group_size, is_head: group_size === 1 || head };
}
