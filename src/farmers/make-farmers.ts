import { type FarmerLocale, farmerLocales } from "../rules/farmer-locales.js";
import { hexOf, mix32, pick, type RandomStream, randomStream } from "../rules/seed.js";
import { day } from "../rules/time.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";
import type { Farmer, LivestockType, Parcel, Position } from "../sandbox/farmer-records/farmer-shape.js";
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

const rounds = 6;
const prefix = "farmer_";

/** The seed scrambles the index and zeros reversibly, so an id leads back to its farmer, and a guessed one is rarely valid. */
export function farmerId(seed: number, index: number, locales?: readonly FarmerLocale[]): string {
  let [left, right] = [0, index >>> 0];
  for (const key of roundKeys(seed, locales)) [left, right] = [right, (left ^ mix32(right ^ key)) >>> 0];
  return prefix + hexOf(left) + hexOf(right);
}

export function indexOfFarmer(
  { seed, locales }: { readonly seed: number; readonly locales?: readonly FarmerLocale[] },
  id: string,
): number | undefined {
  const digits = id.slice(prefix.length);
  if (!id.startsWith(prefix) || !/^[0-9a-f]{16}$/.test(digits)) return undefined;
  let [left, right] = [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8), 16)];
  for (const key of roundKeys(seed, locales).reverse())
    [left, right] = [(right ^ mix32(left ^ key)) >>> 0, left];
  return left === 0 ? right : undefined;
}

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

function personOf({
  draws,
  country,
  start,
}: Pick<FarmContext, "draws" | "country" | "start">): Pick<Farmer, "sex" | "birth_year"> {
  const draw = draws("person");
  const sex = exact.chance(draw, country.womenShare) ? "female" : "male";
  for (;;) {
    const age = Math.round(country.meanAge + 14 * exact.normal(draw));
    if (age >= adultAfterYears && age <= oldest) return { sex, birth_year: yearOf(start) - age };
  }
}

function personName(
  { draws, region }: FarmContext,
  { sex, language }: Pick<Farmer, "sex" | "language">,
): Farmer["name"] {
  const draw = draws("name");
  const { [sex]: givenNames, family, familyOfMen = family } = namesOf(region, language);
  return {
    given_name: pick(draw, givenNames),
    surname: pickCommon(draw, sex === "male" ? familyOfMen : family),
  };
}

/** One of the names, which are sorted most common first; the first ones are more likely. */
function pickCommon(draw: RandomStream, names: readonly string[]): string {
  const share = exact.unit(draw);
  return names[Math.floor(share * share * names.length)] as string;
}

function languageOf({ draws, country, region }: FarmContext): string {
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
  const scale = Math.min(Math.max(Math.sqrt(areaHa / country.farmSize.median), 0.5), 5);
  return country.livestock.flatMap(([type, share, median]) => {
    const draw = draws("livestock", type);
    if (!exact.chance(draw, share)) return [];
    const [withoutLand, perHectare] = capacity[type];
    const max = withoutLand + Math.floor(perHectare * areaHa);
    return [
      { type, count: Math.min(max, Math.max(1, Math.round(exact.logNormal(draw, median * scale, 0.6)))) },
    ];
  });
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
  const area = sumOf(parcels, ({ properties }) => properties.area_ha);
  return {
    farmer_id: id,
    synthetic: true,
    name: personName(farm, { sex: person.sex, language }),
    ...person,
    language,
    farmer_type: area < 2 ? "small" : area < 20 ? "medium" : "large",
    farm_area_ha: area,
    location: { country_code: country.code, subdivision_code: region.code, subdivision_name: region.name },
    parcels,
    livestock: livestockOf(farm, area),
  };
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
  longitude: (farmer) => mainParcel(farmer).geometry.coordinates[0]?.[0]?.[0] ?? 0,
  latitude: (farmer) => mainParcel(farmer).geometry.coordinates[0]?.[0]?.[1] ?? 0,
  parcels: ({ parcels }) => parcels.length,
  irrigated_area_ha: ({ parcels }) =>
    sumOf(parcels, ({ properties }) => (properties.irrigation === "none" ? 0 : properties.area_ha)),
  main_crop_code: (farmer) => mainParcel(farmer).properties["crop:code"],
  main_crop_name: (farmer) => mainParcel(farmer).properties["crop:name"],
  livestock_count: ({ livestock }) => sumOf(livestock, ({ count }) => count),
} satisfies Readonly<Record<string, (farmer: Farmer) => ColumnValue>>;

export function farmerRow(farmer: Farmer): Readonly<Record<string, ColumnValue>> {
  return Object.fromEntries(Object.entries(columns).map(([name, cellOf]) => [name, cellOf(farmer)]));
}

function mainParcel({ parcels }: Farmer): Parcel {
  return parcels[0] as Parcel;
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

// A copy of the schema's values: importing them would load the whole schema in browsers.
const surveyMethods = ["driven", "surveyed", "auto-imagery", "manual"] as const;

function yearOf(instant: number): number {
  return new Date(instant).getUTCFullYear();
}

/** Whether the farmer was an adult early enough for a perennial crop to have borne for three years. */
function canHaveGrown({ start, adultFrom }: FarmContext, crop: CropName): boolean {
  const { bearsAfter } = crops[crop];
  return bearsAfter === undefined || yearOf(start) - 3 - bearsAfter >= adultFrom;
}

function parcelsOf(farm: FarmContext): readonly Parcel[] {
  const { draws, region, id } = farm;
  const areas = fieldAreas(farm);
  const rings = fieldRings(draws("fields"), farmMiddle(farm), areas);
  // A farmer with irrigation has it on most fields.
  const dryness = exact.unit(draws("irrigation"));
  const grows = region.grows.filter(([crop]) => canHaveGrown(farm, crop));
  const weightOf = ([, weight]: Growing) => weight;
  const main = pickWeighted(draws("crop"), grows, weightOf);
  return rings.map((ring, i) => {
    const position = String(i + 1);
    const draw = draws("parcel", position);
    const measured = measureRing(ring);
    const area = exact.rounded(measured.area, 1);
    const [crop, , watered] = i === 0 || exact.chance(draw, 0.5) ? main : pickWeighted(draw, grows, weightOf);
    const irrigated = (exact.chance(draw, 0.85) ? dryness : exact.unit(draw)) < watered;
    const { code, name, bearsAfter } = crops[crop];
    return {
      type: "Feature",
      id: `${id.replace("farmer", "parcel")}_${position}`,
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
        irrigation: irrigated ? irrigationFor(crop, exact.unit(draw)) : "none",
        "crop:code_list": "https://agrovoc.fao.org/",
        "crop:code": code,
        "crop:name": name,
      },
    };
  });
}

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
  const [smallestHa, largestHa] = [0.08, 10_000];
  const { median, deviation } = region.farmSize;
  const whole = 10_000 * Math.min(Math.max(exact.logNormal(draw, median, deviation), smallestHa), largestHa);
  const max = whole < 5_000 ? 2 : whole < 50_000 ? 4 : 7;
  const min = whole < 1_000_000 ? 1 : 4;
  const parts = Array.from({ length: exact.wholeBetween(draw, min, max) }, () => exact.between(draw, 0.3, 1));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => (whole * part) / sum).sort((a, b) => b - a);
}

function farmMiddle({ draws, region }: FarmContext) {
  const draw = draws("place");
  const [east, north] = exact.direction(draw);
  const [longitude, latitude, radiusKm] = region.circle;
  const distance = 1_000 * radiusKm * Math.sqrt(exact.unit(draw));
  return positionAt([longitude, latitude], east * distance, north * distance);
}

/** Counterclockwise rings that do not touch. Like real fields, they are on both sides of a track and follow its bearing. */
function fieldRings(draw: RandomStream, middle: Position, areasM2: readonly number[]): readonly Position[][] {
  const [cosine, sine] = exact.direction(draw);
  const shapes = areasM2.map((area) => fieldShape(draw, area));
  const breadth = shapes.reduce((sum, shape) => sum + shape.width, 0) / 2;
  const reached = [-breadth / 2, -breadth / 2];
  return shapes.map(({ points, width, height }) => {
    // The side of the track with more room left.
    const side = (reached[0] as number) <= (reached[1] as number) ? 0 : 1;
    const left = (reached[side] as number) + exact.between(draw, 2, 0.2 * width + 8);
    reached[side] = left + width;
    const offset = exact.between(draw, 2, 0.15 * height + 6);
    const bottom = side === 0 ? offset : -offset - height;
    const ring = points.map(([x, y]) => {
      const [along, across] = [left + x, bottom + y];
      return positionAt(middle, along * cosine - across * sine, along * sine + across * cosine);
    });
    return [...ring, ring[0] as Position];
  });
}

interface Outline {
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

// Four bent sides, each in a strip along its edge of a rectangle: the strips separate the corners, so that no sides cross.
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
  corners.forEach((corner, side) => {
    points.push(corner);
    if (!exact.chance(draw, 0.6)) return;
    const [along, inward] = [exact.between(draw, 0.35, 0.65), exact.between(draw, 0, 0.1)];
    points.push(onSide(side, along, inward));
  });
  const scale = Math.sqrt(areaM2 / (flatArea(points) * proportion));
  const [width, height] = [scale * proportion, scale];
  return { points: points.map(([x, y]) => [x * width, y * height]), width, height };
}

function onSide(side: number, along: number, inward: number): Point {
  if (side === 0) return [along, inward];
  if (side === 1) return [1 - inward, along];
  if (side === 2) return [1 - along, 1 - inward];
  return [inward, 1 - along];
}

type Point = readonly [x: number, y: number];

function flatArea(points: readonly Point[]): number {
  let sum = 0;
  points.forEach(([x, y], i) => {
    const [nextX, nextY] = points[(i + 1) % points.length] as Point;
    sum += x * nextY - nextX * y;
  });
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
  const [metresEast, metresNorth] = metresPerDegree((Math.min(...latitudes) + Math.max(...latitudes)) / 2);
  const points = ring.map(
    ([longitude, latitude]): Point => [
      (longitude - origin[0]) * metresEast,
      (latitude - origin[1]) * metresNorth,
    ],
  );
  let length = 0;
  for (let i = 1; i < points.length; i++) {
    const [[fromX, fromY], [x, y]] = [points[i - 1] as Point, points[i] as Point];
    length += Math.sqrt((x - fromX) * (x - fromX) + (y - fromY) * (y - fromY));
  }
  return { area: flatArea(points), length };
}

/** The position some meters east and north of another, with seven decimal places (a centimeter). */
function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const [metresEast, metresNorth] = metresPerDegree(latitude);
  return [exact.rounded(longitude + east / metresEast, 7), exact.rounded(latitude + north / metresNorth, 7)];
}

function pickWeighted<Item>(
  draw: RandomStream,
  items: readonly Item[],
  weightOf: (item: Item) => number,
): Item {
  let rest = exact.unit(draw) * items.reduce((sum, item) => sum + weightOf(item), 0);
  for (const item of items) {
    rest -= weightOf(item);
    if (rest < 0) return item;
  }
  return items.at(-1) as Item;
}

/** The sum of amounts, rounded to five decimal places, as areas in hectares are. */
function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  return exact.rounded(
    items.reduce((sum, item) => sum + amountOf(item), 0),
    5,
  );
}
