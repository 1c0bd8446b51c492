import { type Draws, pick } from "../../domain/seed.js";
import type { Growing } from "./countries.js";
import { type CropName, crops } from "./crops.js";
import { dateOf, day, yearOf } from "./dates.js";
import { between, chance, normal, pickWeighted, rounded, wholeBetween } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { LossCause, Season } from "./farmer.js";
import { droughtIn, yieldInDrought } from "./weather.js";

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
  return seasons;
}

/** The season that began in a year, or `undefined` if it had not at the start of the clock. */
function seasonOf(world: FarmWorld, place: string, field: Field, year: number): Season | undefined {
  const { country, start } = world;
  const draw = world.draws("season", place, String(year));
  const [, season] = field.grown;
  const [month, months] = country.seasons[season] as readonly [number, number];
  const begins = Date.UTC(year, month - 1, 1);
  const ends = Date.UTC(year, month - 1 + months, 1) - day;
  const cropName = rotated(world, field.grown, draw);
  const crop = crops[cropName];
  const length = (ends - begins) / day;
  const sown = begins + wholeBetween(draw, 3, Math.floor(length * 0.18)) * day;
  if (sown > start) return undefined;
  const standing = Math.min(crop.days ?? length, length - (sown - begins) / day);
  const cut = sown + Math.floor(standing * between(draw, 0.9, 1)) * day;
  const { kgPerHectare, cause } = harvestOf(world, field, country.yields[cropName] as number, year, draw);
  const harvested = cut <= start;
  return {
    season_code: `${year}-${season}`,
    season_start: dateOf(begins),
    season_end: dateOf(ends),
    crop_code: crop.code,
    crop_name: crop.name,
    planted_on: dateOf(crop.days === null ? plantationSet(world, place) : sown),
    harvested_on: harvested ? dateOf(cut) : null,
    harvest_kg: harvested ? rounded(kgPerHectare * field.areaHa, 1) : null,
    yield_kg_ha: harvested ? kgPerHectare : null,
    loss_cause: harvested ? cause : null,
  };
}

// Mostly the same crop again, else another one of the same months, so that no two stand on the field at once.
function rotated({ region }: FarmWorld, [crop, season]: Growing, draw: Draws): CropName {
  const others = region.grows.filter(([name, when]) => when === season && crops[name].days !== null);
  const another = pickWeighted(draw, others, ([, , weight]) => weight);
  return crops[crop].days !== null && chance(draw, 0.35) && another !== undefined ? another[0] : crop;
}

function plantationSet({ draws, start }: FarmWorld, place: string): number {
  const draw = draws("plantation", place);
  return Date.UTC(
    yearOf(start) - seasonsKept - wholeBetween(draw, 2, 18),
    wholeBetween(draw, 0, 11),
    wholeBetween(draw, 1, 28),
  );
}

function harvestOf(
  { seed, region, country }: FarmWorld,
  { irrigated, skill }: Field,
  usual: number,
  year: number,
  draw: Draws,
): { kgPerHectare: number; cause: LossCause | null } {
  const inDrought = yieldInDrought(droughtIn(seed, region.code, year), irrigated);
  const luck = Math.min(Math.max(1 + 0.12 * normal(draw), 0.6), 1.5);
  const struck = chance(draw, 0.06);
  const spared = struck ? between(draw, 0.25, 0.75) : 1;
  const peril = pick(draw, country.perils);
  const drop = Math.min(inDrought, spared);
  const kgPerHectare = Math.max(
    1,
    Math.round(usual * (irrigated ? 1.15 : 1) * skill * luck * inDrought * spared),
  );
  // An irrigated field hardly notices a drought; what is lost by less than a seventh is an ordinary year.
  if (drop > 0.85) return { kgPerHectare, cause: null };
  return { kgPerHectare, cause: spared < inDrought ? peril : "drought" };
}
