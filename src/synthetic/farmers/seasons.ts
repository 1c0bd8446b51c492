import type { RandomStream } from "../../domain/seed.js";
import { type Calendar, calendars, type GrowingSeason, regionCalendars } from "./calendars.js";
import type { Growing } from "./countries.js";
import { type CropName, crops } from "./crops.js";
import { dateOf, day, instantOf, yearOf } from "./dates.js";
import { chance, normal, pickWeighted, rounded, unit, wholeBetween } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Season } from "./farmer.js";
import { harmOf } from "./harm.js";
import { type Span, withinYearFrom, type YearDay } from "./spans.js";
import { usualYield, wateredYield } from "./yields.js";

/** How many seasons of a field a record goes back. */
export const seasonsKept = 3;

interface Field {
  readonly grown: Growing;
  readonly irrigated: boolean;
  readonly skill: number;
  readonly areaHa: number;
}

/** The latest seasons of a field that had begun at the start of the clock, the oldest first. */
export function seasonsOf(world: FarmWorld, place: string, field: Field): readonly Season[] {
  const seasons: Season[] = [];
  for (let year = yearOf(world.start); seasons.length < seasonsKept; year--) {
    const season = seasonOf(world, place, field, year);
    if (season !== undefined) seasons.unshift(season);
  }
  if (crops[field.grown[0]].stands === null) return seasons;
  const firstYear = yearOf(instantOf((seasons[0] as Season).season_start));
  const planted_on = plantationSet(world, place, field.grown[0], firstYear);
  return seasons.map((season) => ({ ...season, planted_on }));
}

/** Whether a farmer who was not grown up before can have a crop that has borne in all seasons that the record tells of. */
export function canHaveGrown({ start, grownUpFrom }: FarmWorld, crop: CropName): boolean {
  const { stands } = crops[crop];
  return stands === null || yearOf(start) - seasonsKept - stands[0] >= grownUpFrom;
}

/** The season that began in a year, or `undefined` if it had not at the start of the clock. */
function seasonOf(world: FarmWorld, place: string, field: Field, year: number): Season | undefined {
  const { country, region, start } = world;
  const draw = world.draws("season", place, String(year));
  const [, name] = field.grown;
  const { month, months, crops: calendar } = calendars[country.code][name] as GrowingSeason;
  const cropName = rotated(world, field, draw);
  const days = (regionCalendars[region.code]?.[cropName] ?? calendar[cropName]) as Calendar;
  const growth = growthIn(draw, year, month, days);
  if (growth.from > start) return undefined;
  const { left, cause } = harmOf(world, growth, field.irrigated, draw);
  const luck = Math.min(Math.max(1 + 0.12 * normal(draw), 0.6), 1.5);
  const usual = field.irrigated ? wateredYield(world, cropName, name) : usualYield(world, cropName);
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

/** From sowing to harvest; who sows late mostly cuts late. What stands for years grows from the season's beginning. */
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
// that this field is too dry for.
function rotated(
  { region }: FarmWorld,
  { grown: [crop, season], irrigated }: Field,
  draw: RandomStream,
): CropName {
  if (crops[crop].stands !== null || !chance(draw, 0.35)) return crop;
  const others = region.grows.filter(
    ([name, when, , watered]) => when === season && crops[name].stands === null && (irrigated || watered < 1),
  );
  return pickWeighted(draw, others, ([, , weight]) => weight)[0];
}

/** When a plantation was set that bears in all the seasons from a year on, and is not too old in the last. */
function plantationSet(world: FarmWorld, place: string, crop: CropName, firstYear: number): string {
  const draw = world.draws("plantation", place);
  const [bearsAfter, setAnewAfter] = crops[crop].stands ?? [1, 1];
  const oldest = Math.min(setAnewAfter - seasonsKept + 1, firstYear - world.grownUpFrom);
  const year = firstYear - wholeBetween(draw, bearsAfter, Math.max(oldest, bearsAfter));
  return dateOf(Date.UTC(year, wholeBetween(draw, 0, 11), wholeBetween(draw, 1, 28)));
}
