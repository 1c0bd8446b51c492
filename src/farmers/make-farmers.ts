import { type FarmerLocale, farmerLocales } from "../rules/farmer-locales.js";
import { hexOf, mix32, pick, type RandomStream, randomStream } from "../rules/seed.js";
import { day } from "../rules/time.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";
import type { Farmer, LivestockType, Parcel, Position } from "../sandbox/farmer-records/farmer-shape.js";
import { surveyMethods } from "../sandbox/farmer-records/survey-methods.js";
import * as exact from "./exact-math.js";
import {
  type CropName,
  countryOf,
  crops,
  type FarmContext,
  type Growing,
  namesOf,
  resolveLocale,
} from "./tables.js";

const prefix = "farmer_";

// An id is two halves of 32 bits, zeros and the index, after a Feistel network: a round mixes one half into the other with
// its key and exchanges them, which the same rounds in reverse order undo.
const rounds = 6;

/** An id leads back to its farmer with the seed, and a guessed one is rarely valid: its zeros are missing. */
export function farmerId(seed: number, index: number, locales?: readonly FarmerLocale[]): string {
  let left = 0;
  let right = index >>> 0;
  for (const key of roundKeys(seed, locales)) {
    const mixed = (left ^ mix32(right ^ key)) >>> 0;
    left = right;
    right = mixed;
  }
  return prefix + hexOf(left) + hexOf(right);
}

export function indexOfFarmer(
  { seed, locales }: { readonly seed: number; readonly locales?: readonly FarmerLocale[] },
  id: string,
): number | undefined {
  const digits = id.slice(prefix.length);
  if (!id.startsWith(prefix) || !/^[0-9a-f]{16}$/.test(digits)) return undefined;

  let left = Number.parseInt(digits.slice(0, 8), 16);
  let right = Number.parseInt(digits.slice(8), 16);
  for (const key of roundKeys(seed, locales).reverse()) {
    const unmixed = (right ^ mix32(left ^ key)) >>> 0;
    right = left;
    left = unmixed;
  }
  return left === 0 ? right : undefined;
}

/** A label for a choice of locales; empty for all of them. */
function choiceOf(locales: readonly FarmerLocale[] = farmerLocales): string {
  return locales.length === farmerLocales.length ? "" : `${locales.join(" ")} `;
}

function roundKeys(seed: number, locales?: readonly FarmerLocale[]): number[] {
  const draw = randomStream(seed, `${choiceOf(locales)}farmer.id`);
  return Array.from({ length: rounds }, draw);
}

/** Only the year of birth is known. In the year of this birthday, a person is 18 or older all year. */
const adultAfterYears = 19;
const oldest = 90;

function personOf(
  farm: Pick<FarmContext, "draws" | "country" | "start">,
): Pick<Farmer, "sex" | "birth_year"> {
  const { country } = farm;
  const draw = farm.draws("person");
  const sex = exact.chance(draw, country.womenShare) ? "female" : "male";
  // Until one is in the range, which nearly all are.
  for (;;) {
    const age = Math.round(country.meanAge + 14 * exact.normal(draw));
    if (age >= adultAfterYears && age <= oldest) return { sex, birth_year: yearOf(farm.start) - age };
  }
}

function personName(farm: FarmContext, sex: Farmer["sex"], language: string): Farmer["name"] {
  const draw = farm.draws("name");
  const names = namesOf(farm.region, language);
  const { family, familyOfMen = family } = names;
  return {
    given_name: pick(draw, names[sex]),
    surname: pickCommon(draw, sex === "male" ? familyOfMen : family),
  };
}

/** One of the names, which are sorted most common first; the first ones are more likely. */
function pickCommon(draw: RandomStream, names: readonly string[]): string {
  const share = exact.unit(draw);
  return names[Math.floor(share * share * names.length)] as string;
}

function languageOf({ draws, country, region }: FarmContext): string {
  // The shares take up parts of the whole; the country's language has what is left.
  let rest = exact.unit(draws("language"));
  for (const [language, share] of Object.entries(region.languages)) {
    rest -= share;
    if (rest < 0) return language;
  }
  return country.language;
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
function livestockOf({ draws, country }: FarmContext, areaHa: number): Farmer["livestock"] {
  const scale = clamped(0.5, Math.sqrt(areaHa / country.farmSize.median), 5);
  const livestock: { type: LivestockType; count: number }[] = [];
  for (const [type, share, median] of country.livestock) {
    const draw = draws("livestock", type);
    if (!exact.chance(draw, share)) continue;
    const [withoutLand, perHectare] = capacity[type];
    const most = withoutLand + Math.floor(perHectare * areaHa);
    const wanted = Math.round(exact.logNormal(draw, median * scale, 0.6));
    livestock.push({ type, count: clamped(1, wanted, most) });
  }
  return livestock;
}

function clamped(min: number, value: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

export interface FarmerSource {
  readonly seed: number;
  /** The start of the scenario's clock, in milliseconds since 1970; every date depends on it. */
  readonly start: number;
  /** The locales to mix, at least one. Default: all of them. */
  readonly locales?: readonly FarmerLocale[];
}

/** A pure function with the same cost for each index. */
export function farmerAt(source: FarmerSource, index: number): Farmer {
  const { seed, start, locales = farmerLocales } = source;
  if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff) {
    throw new RangeError(`The index of a farmer is an integer from 0 to 4294967295, not ${index}.`);
  }
  // With another choice of locales, this index is another farmer with another id.
  const who = `${choiceOf(locales)}${index}`;
  const draws = (label: string, ...more: readonly string[]) =>
    randomStream(seed, `farmer.${label}`, who, ...more);

  const locale = pick(draws("locale"), locales);
  const country = countryOf(locale);
  const region = pick(draws("region"), country.regions);
  const id = farmerId(seed, index, locales);
  const person = personOf({ draws, country, start });
  const adultFrom = person.birth_year + adultAfterYears;
  const farm: FarmContext = { start, country, region, id, adultFrom, draws };
  const language = languageOf(farm);
  const parcels = parcelsOf(farm);
  const area = sumOf(parcels, areaOf);
  return {
    farmer_id: id,
    synthetic: true,
    name: personName(farm, person.sex, language),
    ...person,
    language,
    farmer_type: farmerTypeOf(area),
    farm_area_ha: area,
    location: { country_code: country.code, subdivision_code: region.code, subdivision_name: region.name },
    parcels,
    livestock: livestockOf(farm, area),
  };
}

function farmerTypeOf(areaHa: number): Farmer["farmer_type"] {
  if (areaHa < 2) return "small";
  return areaHa < 20 ? "medium" : "large";
}

export const makeFarmers: FarmerMaker = ({ seed, start, locale }) => {
  const locales = locale === undefined ? undefined : resolveLocale(locale);
  const source: FarmerSource = { seed, start, ...(locales !== undefined && { locales }) };
  return {
    at: (index: number) => farmerAt(source, index),
    idOf: (index: number) => farmerId(seed, index, locales),
    indexOf: (id: string) => indexOfFarmer(source, id),
  };
};

type ColumnValue = string | number | boolean | null;

const columns = {
  farmer_id: ({ farmer_id }) => farmer_id,
  synthetic: () => true,
  given_name: ({ name }) => name.given_name,
  surname: ({ name }) => name.surname,
  sex: ({ sex }) => sex,
  birth_year: ({ birth_year }) => birth_year,
  language: ({ language }) => language,
  farmer_type: ({ farmer_type }) => farmer_type,
  farm_area_ha: ({ farm_area_ha }) => farm_area_ha,
  country_code: ({ location }) => location.country_code,
  subdivision_code: ({ location }) => location.subdivision_code,
  subdivision_name: ({ location }) => location.subdivision_name,
  longitude: (farmer) => firstCorner(farmer)[0],
  latitude: (farmer) => firstCorner(farmer)[1],
  parcels: ({ parcels }) => parcels.length,
  irrigated_area_ha: ({ parcels }) => sumOf(parcels.filter(isIrrigated), areaOf),
  main_crop_code: (farmer) => mainParcel(farmer).properties["crop:code"],
  main_crop_name: (farmer) => mainParcel(farmer).properties["crop:name"],
  livestock_count: ({ livestock }) => sumOf(livestock, ({ count }) => count),
} satisfies Readonly<Record<string, (farmer: Farmer) => ColumnValue>>;

export function farmerRow(farmer: Farmer): Readonly<Record<string, ColumnValue>> {
  const row: Record<string, ColumnValue> = {};
  for (const [name, cellOf] of Object.entries(columns)) row[name] = cellOf(farmer);
  return row;
}

function mainParcel({ parcels }: Farmer): Parcel {
  return parcels[0] as Parcel;
}

function firstCorner(farmer: Farmer): Position {
  const [ring] = mainParcel(farmer).geometry.coordinates;
  return ring?.[0] ?? [0, 0];
}

function isIrrigated({ properties }: Parcel): boolean {
  return properties.irrigation !== "none";
}

function areaOf({ properties }: Parcel): number {
  return properties.area_ha;
}

export function farmerFeatures({ farmer_id, location, parcels }: Farmer): readonly object[] {
  return parcels.map((parcel) => ({
    ...parcel,
    properties: {
      farmer_id,
      "admin:country_code": location.country_code,
      "admin:subdivision_code": location.subdivision_code,
      ...parcel.properties,
    },
  }));
}

function yearOf(instant: number): number {
  return new Date(instant).getUTCFullYear();
}

/** Whether the farmer was an adult early enough for a perennial crop to have borne for three years. */
function canHaveGrown({ start, adultFrom }: FarmContext, crop: CropName): boolean {
  const { bearsAfter } = crops[crop];
  return bearsAfter === undefined || yearOf(start) - 3 - bearsAfter >= adultFrom;
}

/** What decides about all fields of a farm. */
interface Farming {
  /** The crops that the farmer can have grown. */
  readonly grows: readonly Growing[];
  /** The crop of the largest field, and of half of the others. */
  readonly main: Growing;
  /** From 0 to 1: a field has irrigation if a larger share of its crop's fields has it. */
  readonly dryness: number;
}

function parcelsOf(farm: FarmContext): readonly Parcel[] {
  const { draws, region } = farm;
  const rings = fieldRings(draws("fields"), farmMiddle(farm), fieldAreas(farm));
  const grows = region.grows.filter(([crop]) => canHaveGrown(farm, crop));
  const main = pickWeighted(draws("crop"), grows, growingWeight);
  const dryness = exact.unit(draws("irrigation"));
  return rings.map((ring, index) => parcelOf(farm, { grows, main, dryness }, ring, index));
}

function parcelOf(farm: FarmContext, farming: Farming, ring: Position[], index: number): Parcel {
  const position = String(index + 1);
  const draw = farm.draws("parcel", position);
  const measured = measureRing(ring);
  const area = exact.rounded(measured.area, 1);

  const hasMainCrop = index === 0 || exact.chance(draw, 0.5);
  const [crop, , watered] = hasMainCrop ? farming.main : pickWeighted(draw, farming.grows, growingWeight);
  const { code, name, bearsAfter } = crops[crop];
  // A farmer with irrigation has it on most fields.
  const isLikeOthers = exact.chance(draw, 0.85);
  const dryness = isLikeOthers ? farming.dryness : exact.unit(draw);
  return {
    type: "Feature",
    id: `${farm.id.replace("farmer", "parcel")}_${position}`,
    geometry: { type: "Polygon", coordinates: [ring] },
    properties: {
      collection: "synthetic",
      synthetic: true,
      "metrics:area": area,
      "metrics:perimeter": exact.rounded(measured.length, 1),
      area_ha: exact.rounded(area / 10_000, 5),
      "determination:method": pick(draw, surveyMethods),
      "determination:datetime": midnight(farm.start - exact.wholeBetween(draw, 60, 1_500) * day),
      land_type: bearsAfter === undefined ? "temporary_crops" : "permanent_crops",
      land_ownership: pickWeighted(draw, tenureWeights, ([, weight]) => weight)[0],
      irrigation: dryness < watered ? irrigationFor(crop, exact.unit(draw)) : "none",
      "crop:code_list": "https://agrovoc.fao.org/",
      "crop:code": code,
      "crop:name": name,
    },
  };
}

function growingWeight([, weight]: Growing): number {
  return weight;
}

/** The start of the day of an instant. */
function midnight(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 10)}T00:00:00Z`;
}

const tenureWeights: readonly (readonly [Parcel["properties"]["land_ownership"], weight: number])[] = [
  ["owned", 6],
  ["owner_like_possession", 2],
  ["rented", 2],
  ["sharecropped", 1],
  ["communal", 1],
];

function irrigationFor(crop: CropName, chosen: number): "surface" | "sprinkler" | "drip" {
  if (crop === "rice" || chosen < 0.6) return "surface";
  return chosen < 0.8 ? "sprinkler" : "drip";
}

function fieldAreas({ draws, region }: FarmContext): readonly number[] {
  const draw = draws("area");
  const { median, deviation } = region.farmSize;
  const wholeHa = clamped(0.08, exact.logNormal(draw, median, deviation), 10_000);
  const whole = 10_000 * wholeHa;

  // Small farms have few fields, and large ones several.
  let most = 7;
  if (whole < 5_000) most = 2;
  else if (whole < 50_000) most = 4;
  const least = whole < 1_000_000 ? 1 : 4;

  // The largest first.
  const shares: number[] = [];
  const count = exact.wholeBetween(draw, least, most);
  while (shares.length < count) shares.push(exact.between(draw, 0.3, 1));
  let sum = 0;
  for (const share of shares) sum += share;
  const areas = shares.map((share) => (whole * share) / sum);
  return areas.sort((one, other) => other - one);
}

function farmMiddle({ draws, region }: FarmContext): Position {
  const draw = draws("place");
  const [east, north] = exact.direction(draw);
  const [longitude, latitude, radiusKm] = region.circle;
  // By the root, so that each part of the circle is equally likely.
  const distance = 1_000 * radiusKm * Math.sqrt(exact.unit(draw));
  return positionAt([longitude, latitude], east * distance, north * distance);
}

/**
 * Counterclockwise rings that do not touch. Like real fields, they are on both sides of a track and follow its bearing: each
 * is placed in meters along the track and across it, then turned.
 */
function fieldRings(draw: RandomStream, middle: Position, areasM2: readonly number[]): readonly Position[][] {
  const [cosine, sine] = exact.direction(draw);
  const outlines = areasM2.map((area) => fieldShape(draw, area));
  let widths = 0;
  for (const { width } of outlines) widths += width;
  const trackLength = widths / 2;

  /** How far along the track its two sides are taken. */
  let takenAbove = -trackLength / 2;
  let takenBelow = -trackLength / 2;
  const rings: Position[][] = [];
  for (const { points, width, height } of outlines) {
    // The side of the track with more room left.
    const isAbove = takenAbove <= takenBelow;
    const taken = isAbove ? takenAbove : takenBelow;
    const left = taken + exact.between(draw, 2, 0.2 * width + 8);
    if (isAbove) takenAbove = left + width;
    else takenBelow = left + width;
    const gap = exact.between(draw, 2, 0.15 * height + 6);
    const bottom = isAbove ? gap : -gap - height;

    const ring: Position[] = [];
    for (const [x, y] of points) {
      const along = left + x;
      const across = bottom + y;
      const east = along * cosine - across * sine;
      const north = along * sine + across * cosine;
      ring.push(positionAt(middle, east, north));
    }
    // The last position is the first one.
    rings.push([...ring, ring[0] as Position]);
  }
  return rings;
}

/** A field in meters from its lower left corner, in a rectangle of this size. */
interface Outline {
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

/** Four bent sides, each in a strip along its edge of a rectangle: the strips separate the corners, so that no sides cross. */
function fieldShape(draw: RandomStream, areaM2: number): Outline {
  const proportion = exact.between(draw, 1, 2.4);
  const depth = () => exact.between(draw, 0, 0.12);
  const corners: readonly Point[] = [
    [depth(), depth()],
    [1 - depth(), depth()],
    [1 - depth(), 1 - depth()],
    [depth(), 1 - depth()],
  ];
  const points: Point[] = [];
  for (const [side, corner] of corners.entries()) {
    points.push(corner);
    if (!exact.chance(draw, 0.6)) continue;
    const along = exact.between(draw, 0.35, 0.65);
    const inward = exact.between(draw, 0, 0.1);
    points.push(onSide(side, along, inward));
  }

  // From a square of 1 to a rectangle in which the outline has its area.
  const height = Math.sqrt(areaM2 / (flatArea(points) * proportion));
  const width = height * proportion;
  return { points: points.map(([x, y]) => [x * width, y * height]), width, height };
}

/** A point on a side of a square of 1, counterclockwise from the lower one. */
function onSide(side: number, along: number, inward: number): Point {
  if (side === 0) return [along, inward];
  if (side === 1) return [1 - inward, along];
  if (side === 2) return [1 - along, 1 - inward];
  return [inward, 1 - along];
}

type Point = readonly [x: number, y: number];

/** The area within a line of points on a plane, by the formula of Gauss: positive if they are counterclockwise. */
function flatArea(points: readonly Point[]): number {
  let sum = 0;
  for (const [index, [x, y]] of points.entries()) {
    const [nextX, nextY] = points[(index + 1) % points.length] as Point;
    sum += x * nextY - nextX * y;
  }
  return sum / 2;
}

const radiansPerDegree = 0.017453292519943295;

/** The sine of a latitude in degrees, by its series. */
function sine(latitude: number): number {
  const angle = latitude * radiansPerDegree;
  const square = angle * angle;
  let term = angle;
  let sum = angle;
  for (let n = 2; Math.abs(term) > 1e-17; n += 2) {
    term *= -square / (n * (n + 1));
    sum += term;
  }
  return sum;
}

// The WGS 84 ellipsoid: its semi-major axis in meters, and the square of its eccentricity.
const equatorRadius = 6_378_137;
const eccentricity2 = 0.0066943799901413165;

/** The length of a degree of longitude and of latitude, at a latitude. */
function metresPerDegree(latitude: number): Point {
  const sin = sine(latitude);
  const bend = 1 - eccentricity2 * sin * sin;
  const across = (equatorRadius * radiansPerDegree) / Math.sqrt(bend);
  return [across * Math.sqrt(1 - sin * sin), (across * (1 - eccentricity2)) / bend];
}

/** Measures it on a plane with the scale at the ring's middle latitude. The area of a field differs by less than 0.1% from the real one. */
function measureRing(ring: readonly Position[]): { readonly area: number; readonly length: number } {
  const [origin] = ring as readonly [Position, ...Position[]];
  const latitudes = ring.map(([, latitude]) => latitude);
  const middle = (Math.min(...latitudes) + Math.max(...latitudes)) / 2;
  const [metresEast, metresNorth] = metresPerDegree(middle);
  const points: Point[] = [];
  for (const [longitude, latitude] of ring) {
    points.push([(longitude - origin[0]) * metresEast, (latitude - origin[1]) * metresNorth]);
  }

  let length = 0;
  for (let index = 1; index < points.length; index++) {
    const [fromX, fromY] = points[index - 1] as Point;
    const [toX, toY] = points[index] as Point;
    const east = toX - fromX;
    const north = toY - fromY;
    length += Math.sqrt(east * east + north * north);
  }
  return { area: flatArea(points), length };
}

/** The position some meters east and north of another, with seven decimal places (a centimeter). */
function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const [metresEast, metresNorth] = metresPerDegree(latitude);
  return [exact.rounded(longitude + east / metresEast, 7), exact.rounded(latitude + north / metresNorth, 7)];
}

/** One of the items, each as likely as its weight is a part of all weights. */
function pickWeighted<Item>(
  draw: RandomStream,
  items: readonly Item[],
  weightOf: (item: Item) => number,
): Item {
  let total = 0;
  for (const item of items) total += weightOf(item);

  let rest = exact.unit(draw) * total;
  for (const item of items) {
    rest -= weightOf(item);
    if (rest < 0) return item;
  }
  return items.at(-1) as Item;
}

/** The sum of amounts, rounded to five decimal places, as areas in hectares are. */
function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += amountOf(item);
  return exact.rounded(sum, 5);
}
