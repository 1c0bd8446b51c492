import { day } from "../spec/api-key.js";
import { pick, type RandomStream, randomStream } from "../spec/seed.js";
import { between, chance, normal, pickWeighted, rounded, unit, wholeBetween } from "./exact-math.js";
import type { LossCause, Season } from "./farmer-shape.js";
import {
  type Calendar,
  type Country,
  type CropName,
  cropOfCode,
  crops,
  type FarmContext,
  type Growing,
  type GrowingSeason,
  type YearDay,
} from "./tables.js";

/** The day of an instant as `YYYY-MM-DD`, in UTC. */
export function dateOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

export function yearOf(instant: number): number {
  return new Date(instant).getUTCFullYear();
}

export function startOfDate(date: string): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8)));
}

/** The instant of a day in the twelve months that start with a month (1–12) of a year. */
export function withinYearFrom(year: number, month: number, yearDay: YearDay): number {
  return instantIn(yearDay < month * 100 ? year + 1 : year, yearDay);
}

function instantIn(year: number, yearDay: YearDay): number {
  return Date.UTC(year, Math.floor(yearDay / 100) - 1, yearDay % 100);
}

/** A span of time, from the start of its first day to the start of its last. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The span between two days that starts in a year; it may end in the next year. */
export function periodIn(year: number, [first, last]: readonly [YearDay, YearDay]): Period {
  return { from: instantIn(year, first), to: instantIn(last < first ? year + 1 : year, last) };
}

/** The overlap of two spans; `undefined` if it is less than a day. */
export function common(one: Period, other: Period): Period | undefined {
  const from = Math.max(one.from, other.from);
  const to = Math.min(one.to, other.to);
  return to - from >= day ? { from, to } : undefined;
}

type WeatherSite = Pick<FarmContext, "seed" | "country" | "region">;

/** A period without rain, with a severity of at most 1. */
interface Drought extends Period {
  readonly severity: number;
}

/**
 * The droughts of a subdivision that overlap a span of time by a day or more, earliest first.
 *
 * They depend only on seed, place and calendar, so all farmers of the subdivision share them, no matter the season of a
 * field. Some hit the whole country.
 */
export function droughtsIn(site: WeatherSite, span: Period): readonly Drought[] {
  return yearsOf(span).flatMap((year) =>
    site.country.droughts.flatMap((window, index) => {
      const months = periodIn(year, window);
      if (common(months, span) === undefined) return [];
      const drought = droughtOf(site, `${year}-${index}`, months);
      return drought !== undefined && common(drought, span) !== undefined ? [drought] : [];
    }),
  );
}

/** The possible start years of an event that overlaps a span of time. */
function yearsOf({ from, to }: Period): number[] {
  const first = yearOf(from) - 1;
  return Array.from({ length: yearOf(to) - first + 1 }, (_, index) => first + index);
}

function droughtOf(
  { seed, country, region }: WeatherSite,
  when: string,
  months: Period,
): Drought | undefined {
  // If rain can fail twice a year, each failure is less likely.
  const rarer = country.droughts.length > 1 ? 0.75 : 1;
  const wide = randomStream(seed, "weather.drought", country.code, when);
  const local = randomStream(seed, "weather.drought", region.code, when);
  const severity = Math.max(
    chance(wide, 0.06 * rarer) ? between(wide, 0.4, 1) : 0,
    chance(local, 0.12 * rarer) ? between(local, 0.4, 1) : 0,
  );
  if (severity === 0) return undefined;
  const length = wholeBetween(local, 40, 65);
  const room = (months.to - months.from) / day - length;
  const from = months.from + wholeBetween(local, 0, room) * day;
  return { from, to: from + length * day, severity };
}

/** The remaining share of a usual harvest, and the cause of a large loss. */
interface Harm {
  readonly left: number;
  readonly cause: LossCause | null;
}

function harmOf(farm: FarmContext, growth: Period, irrigated: boolean, draw: RandomStream): Harm {
  const severity = Math.max(0, ...droughtsIn(farm, growth).map((drought) => drought.severity));
  const inDrought = 1 - severity * (irrigated ? 0.1 : 0.65);
  const possible = chance(draw, 0.12) ? hazardsDuring(farm, growth) : [];
  const struck = possible.length > 0 ? pick(draw, possible).peril : undefined;
  const spared = struck === undefined ? 1 : between(draw, 0.15, 0.75);
  const left = inDrought * spared;
  // A loss of less than a seventh is normal.
  if (Math.min(inDrought, spared) > 0.85) return { left, cause: null };
  return { left, cause: struck !== undefined && spared < inDrought ? struck : "drought" };
}

/** A possible day of the damage to a crop that grew in a span of time; the last day if no other is possible. */
export function dayOfHarm(farm: FarmContext, cause: LossCause, growth: Period, draw: RandomStream): number {
  const shared =
    cause === "drought"
      ? droughtsIn(farm, growth).flatMap((drought) => common(drought, growth) ?? [])
      : hazardsDuring(farm, growth).flatMap(({ peril, spans }) => (peril === cause ? spans : []));
  if (shared.length === 0) return growth.to;
  const { from, to } = pick(draw, shared);
  return from + wholeBetween(draw, 0, (to - from) / day - 1) * day;
}

/** The hazards of the region during the growth of a crop, each with its possible times. */
function hazardsDuring({ region }: FarmContext, growth: Period) {
  const hazards = region.hazards.map(([peril, first, last]) => ({
    peril,
    spans: yearsOf(growth).flatMap((year) => common(periodIn(year, [first, last]), growth) ?? []),
  }));
  return hazards.filter(({ spans }) => spans.length > 0);
}

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
  const firstYear = yearOf(startOfDate((seasons[0] as Season).season_start));
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
function growthIn(draw: RandomStream, year: number, month: number, calendar: Calendar): Period {
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
