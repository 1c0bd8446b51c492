import type { RandomStream } from "../spec/seed.js";
import { dateOf, day, instantOf, type Span, withinYearFrom, type YearDay, yearOf } from "./dates.js";
import { chance, normal, pickWeighted, rounded, unit, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { Season } from "./farmer-shape.js";
import {
  type Calendar,
  type Country,
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

/** The latest seasons of a field that had started at the start of the clock, oldest first. */
export function seasonsOf(farm: FarmContext, position: string, field: Field): readonly Season[] {
  const seasons: Season[] = [];
  const rotation = rotationOf(farm, position, field);
  const phase = farm.draws("phase", position)() % rotation.length;
  for (let year = yearOf(farm.start); seasons.length < seasonsKept; year--) {
    // The clock can start in the year 0, and records start some years before.
    const grown = rotation[(year + phase + 12) % rotation.length] as Growing;
    const season = seasonOf(farm, position, { ...field, grown }, year);
    if (season !== undefined) seasons.unshift(season);
  }
  if (crops[field.grown[0]].stands === undefined) return seasons;
  const firstYear = yearOf(instantOf((seasons[0] as Season).season_start));
  const planted_on = plantationSet(farm, position, field.grown[0], firstYear);
  return seasons.map((season) => ({ ...season, planted_on }));
}

/** Whether the farmer was an adult early enough for a perennial crop to bear in all recorded seasons. */
export function canHaveGrown({ start, adultFrom }: FarmContext, crop: CropName): boolean {
  const { stands } = crops[crop];
  return stands === undefined || yearOf(start) - seasonsKept - stands[0] >= adultFrom;
}

/** The season that started in a year; `undefined` if it had not started at the start of the clock. */
function seasonOf(farm: FarmContext, position: string, field: Field, year: number): Season | undefined {
  const { country, start } = farm;
  const draw = farm.draws("season", position, String(year));
  const [cropName, name] = field.grown;
  const { month, months } = country.seasons[name] as GrowingSeason;
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

/**
 * From sowing to harvest; late sowing mostly means a late harvest. Perennial crops grow from the start of the season.
 */
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

/** Annual crops that farmers also grow two or more years in a row; other annual crops need a pause. */
const repeated: ReadonlySet<CropName> = new Set<CropName>([
  "barley",
  "cassava",
  "maize",
  "millets",
  "sorghum",
  "soybeans",
  "wheat",
]);

const shareOfMonoculture = 0.1;

/**
 * The crop rotation of a field: two or three annual crops of the region, none of them three times in a row. Perennial
 * crops and rice do not rotate. Neither do a few fields, and fields where no other crop grows in these months or with the
 * field's water.
 */
function rotationOf(
  { country, region, draws }: FarmContext,
  position: string,
  { grown, irrigated }: Field,
): readonly [Growing, ...Growing[]] {
  const isRotated = ([crop]: Growing) => crop !== "rice" && crops[crop].stands === undefined;
  const others = region.grows.filter(
    (one) =>
      one[0] !== grown[0] && isRotated(one) && (irrigated || one[3] < 1) && canTakeTurns(country, grown, one),
  );
  const draw = draws("rotation", position);
  const stays = chance(draw, shareOfMonoculture) && repeated.has(grown[0]);
  if (!isRotated(grown) || others.length === 0 || stays) return [grown];
  const second = pickWeighted(draw, others, ([, , weight]) => weight);
  const thirds = [grown, ...others].filter(
    (one) => (one !== grown && one !== second) || repeated.has(one[0]),
  );
  if (thirds.length === 0) return [grown, second];
  return [grown, second, pickWeighted(draw, thirds, ([, , weight]) => weight)];
}

/**
 * Whether both seasons start at about the same time of year, and each ends before the other starts in the next year.
 */
function canTakeTurns({ seasons }: Country, [, one]: Growing, [, other]: Growing): boolean {
  const [a, b] = [seasons[one] as GrowingSeason, seasons[other] as GrowingSeason];
  const later = b.month - a.month;
  return Math.abs(later) <= 1 && a.months <= 12 + later && b.months <= 12 - later;
}

/** The last usual day of a season's harvest (epoch milliseconds). */
export function lastUsualHarvest(site: Site, { season_code, crop_code }: Season): number {
  const [year, name] = [Number(season_code.slice(0, 4)), season_code.slice(5)];
  const { month } = site.country.seasons[name] as GrowingSeason;
  return withinYearFrom(year, month, calendarOf(site, name, cropOfCode(crop_code)).at(-1) as YearDay);
}

function calendarOf({ country, region }: Site, season: string, crop: CropName): Calendar {
  return (region.calendars?.[crop] ?? country.seasons[season]?.crops[crop]) as Calendar;
}

/** The planting day of a plantation that bears in every season since a year and is not too old in the last one. */
function plantationSet(farm: FarmContext, position: string, crop: CropName, firstYear: number): string {
  const draw = farm.draws("plantation", position);
  const [bearsAfter, replantedAfter] = crops[crop].stands ?? [1, 1];
  const oldest = Math.min(replantedAfter - seasonsKept + 1, firstYear - farm.adultFrom);
  const year = firstYear - wholeBetween(draw, bearsAfter, Math.max(oldest, bearsAfter));
  return dateOf(Date.UTC(year, wholeBetween(draw, 0, 11), wholeBetween(draw, 1, 28)));
}

type Site = Pick<FarmContext, "country" | "region">;

/** The yield of a crop in a usual year, in kilograms per hectare. */
export function usualYield({ country, region }: Site, crop: CropName): number {
  return region.yields?.[crop] ?? country.yields[crop] ?? 0;
}

function wateredYield(site: Site, crop: CropName, season: string): number {
  const usual = usualYield(site, crop);
  const growing = site.region.grows.find(([name, when]) => name === crop && when === season);
  // The usual yield of a crop that needs irrigation already includes irrigation.
  return growing?.[3] === 1 ? usual : usual * 1.15;
}
