import type { RandomStream } from "../../domain/seed.js";
import { dateOf, day, instantOf, type Span, withinYearFrom, type YearDay, yearOf } from "./dates.js";
import { chance, normal, pickWeighted, rounded, unit, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { Season } from "./farmer-shape.js";
import {
  type Calendar,
  type CropName,
  cropOfCode,
  crops,
  type Growing,
  type GrowingSeason,
} from "./tables.js";
import { harmOf } from "./weather.js";

const seasonsKept = 3;

interface Field {
  readonly grown: Growing;
  readonly irrigated: boolean;
  readonly skill: number;
  readonly areaHa: number;
}

/** The latest seasons of a field that had begun at the start of the clock, the oldest first. */
export function seasonsOf(farm: FarmContext, position: string, field: Field): readonly Season[] {
  const seasons: Season[] = [];
  for (let year = yearOf(farm.start); seasons.length < seasonsKept; year--) {
    const season = seasonOf(farm, position, field, year);
    if (season !== undefined) seasons.unshift(season);
  }
  if (crops[field.grown[0]].stands === undefined) return seasons;
  const firstYear = yearOf(instantOf((seasons[0] as Season).season_start));
  const planted_on = plantationSet(farm, position, field.grown[0], firstYear);
  return seasons.map((season) => ({ ...season, planted_on }));
}

/** Whether the farmer was an adult early enough for a perennial crop to have borne in all seasons of the record. */
export function canHaveGrown({ start, adultFrom }: FarmContext, crop: CropName): boolean {
  const { stands } = crops[crop];
  return stands === undefined || yearOf(start) - seasonsKept - stands[0] >= adultFrom;
}

/** The season that began in a year, or `undefined` if it had not at the start of the clock. */
function seasonOf(farm: FarmContext, position: string, field: Field, year: number): Season | undefined {
  const { country, start } = farm;
  const draw = farm.draws("season", position, String(year));
  const [, name] = field.grown;
  const { month, months } = country.seasons[name] as GrowingSeason;
  const cropName = rotated(farm, field, draw);
  const growth = growthIn(draw, year, month, calendarOf(farm, name, cropName));
  if (growth.from > start) return undefined;
  const { left, cause } = harmOf(farm, growth, field.irrigated, draw);
  const luck = Math.min(Math.max(1 + 0.12 * normal(draw), 0.6), 1.5);
  const usual = field.irrigated ? wateredYield(farm, cropName, name) : usualYield(farm, cropName);
  const kgPerHectare = Math.max(1, Math.round(usual * field.skill * luck * left));
  const harvested = growth.to <= start;
  return {
    season_code: `${year}-${name}`,
    season_start: dateOf(Date.UTC(year, month - 1, 1)),
    season_end: dateOf(Date.UTC(year, month - 1 + months, 1) - day),
    crop_code: crops[cropName].code,
    crop_name: crops[cropName].name,
    planted_on: dateOf(growth.from),
    harvested_on: harvested ? dateOf(growth.to) : null,
    harvest_kg: harvested ? rounded(kgPerHectare * field.areaHa, 1) : null,
    yield_kg_ha: harvested ? kgPerHectare : null,
    loss_cause: harvested ? cause : null,
  };
}

/** From sowing to harvest; late sowing mostly means a late harvest. Perennial crops grow from the season's beginning. */
function growthIn(draw: RandomStream, year: number, month: number, calendar: Calendar): Span {
  const early = unit(draw);
  const ripening = 0.6 * early + 0.4 * unit(draw);
  const between = (first: YearDay, last: YearDay, share: number) => {
    const from = withinYearFrom(year, month, first);
    const days = (withinYearFrom(year, month, last) - from) / day;
    return from + Math.floor(share * (days + 1)) * day;
  };
  if (calendar.length === 2)
    return { from: Date.UTC(year, month - 1, 1), to: between(...calendar, ripening) };
  const [sownFrom, sownTo, cutFrom, cutTo] = calendar;
  return { from: between(sownFrom, sownTo, early), to: between(cutFrom, cutTo, ripening) };
}

// Mostly the same crop again, else another one of the same months, so that no two stand on the field at once, and none
// that needs more water than this field has.
function rotated(
  { region }: FarmContext,
  { grown: [crop, season], irrigated }: Field,
  draw: RandomStream,
): CropName {
  if (crops[crop].stands !== undefined || !chance(draw, 0.35)) return crop;
  const others = region.grows.filter(
    ([name, when, , watered]) =>
      when === season && crops[name].stands === undefined && (irrigated || watered < 1),
  );
  return pickWeighted(draw, others, ([, , weight]) => weight)[0];
}

/** The last day on which the crop of a season is usually harvested, in milliseconds since 1970. */
export function lastUsualHarvest(site: Site, { season_code, crop_code }: Season): number {
  const [year, name] = [Number(season_code.slice(0, 4)), season_code.slice(5)];
  const { month } = site.country.seasons[name] as GrowingSeason;
  return withinYearFrom(year, month, calendarOf(site, name, cropOfCode(crop_code)).at(-1) as YearDay);
}

function calendarOf({ country, region }: Site, season: string, crop: CropName): Calendar {
  return (region.calendars?.[crop] ?? country.seasons[season]?.crops[crop]) as Calendar;
}

/** The day a plantation was set that bears in every season from a year on and is not too old in the last. */
function plantationSet(farm: FarmContext, position: string, crop: CropName, firstYear: number): string {
  const draw = farm.draws("plantation", position);
  const [bearsAfter, replantedAfter] = crops[crop].stands ?? [1, 1];
  const oldest = Math.min(replantedAfter - seasonsKept + 1, firstYear - farm.adultFrom);
  const year = firstYear - wholeBetween(draw, bearsAfter, Math.max(oldest, bearsAfter));
  return dateOf(Date.UTC(year, wholeBetween(draw, 0, 11), wholeBetween(draw, 1, 28)));
}

type Site = Pick<FarmContext, "country" | "region">;

/** The yield of a crop in a usual year, in kilograms a hectare. */
export function usualYield({ country, region }: Site, crop: CropName): number {
  return region.yields?.[crop] ?? country.yields[crop] ?? 0;
}

function wateredYield(site: Site, crop: CropName, season: string): number {
  const usual = usualYield(site, crop);
  const growing = site.region.grows.find(([name, when]) => name === crop && when === season);
  // A crop that needs irrigation has its usual yield with it.
  return growing?.[3] === 1 ? usual : usual * 1.15;
}
