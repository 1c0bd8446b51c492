import { day } from "../rules/api-key.js";
import { pick, type RandomStream } from "../rules/seed.js";
import type { Parcel, Position } from "../sandbox/population/farmer-shape.js";
import {
  between,
  chance,
  direction,
  logNormal,
  pickWeighted,
  rounded,
  unit,
  wholeBetween,
} from "./exact-math.js";
import { type CropName, crops, type FarmContext, type Growing } from "./tables.js";

// A copy of the schema's values: importing them would load the whole schema in browsers.
const surveyMethods = ["driven", "surveyed", "auto-imagery", "manual"] as const;

export function yearOf(instant: number): number {
  return new Date(instant).getUTCFullYear();
}

/** Whether the farmer was an adult early enough for a perennial crop to have borne for three years. */
function canHaveGrown({ start, adultFrom }: FarmContext, crop: CropName): boolean {
  const { bearsAfter } = crops[crop];
  return bearsAfter === undefined || yearOf(start) - 3 - bearsAfter >= adultFrom;
}

export function parcelsOf(farm: FarmContext): readonly Parcel[] {
  const { draws, region, id } = farm;
  const areas = fieldAreas(farm);
  const rings = fieldRings(draws("fields"), farmMiddle(farm), areas);
  // A farmer with irrigation has it on most fields.
  const dryness = unit(draws("irrigation"));
  const grows = region.grows.filter(([crop]) => canHaveGrown(farm, crop));
  const weightOf = ([, weight]: Growing) => weight;
  const main = pickWeighted(draws("crop"), grows, weightOf);
  return rings.map((ring, i) => {
    const position = String(i + 1);
    const draw = draws("parcel", position);
    const measured = measureRing(ring);
    const area = rounded(measured.area, 1);
    const [crop, , watered] = i === 0 || chance(draw, 0.5) ? main : pickWeighted(draw, grows, weightOf);
    const irrigated = (chance(draw, 0.85) ? dryness : unit(draw)) < watered;
    const { code, name, bearsAfter } = crops[crop];
    return {
      type: "Feature",
      id: `${id.replace("farmer", "parcel")}_${position}`,
      geometry: { type: "Polygon", coordinates: [ring] },
      properties: {
        collection: "synthetic",
        synthetic: true,
        "metrics:area": area,
        "metrics:perimeter": rounded(measured.length, 1),
        area_ha: rounded(area / 10_000, 5),
        "determination:method": pick(draw, surveyMethods),
        "determination:datetime": midnight(farm.start - wholeBetween(draw, 60, 1_500) * day),
        land_type: bearsAfter === undefined ? "temporary_crops" : "permanent_crops",
        land_ownership: pickWeighted(draw, tenures, ([, weight]) => weight)[0],
        irrigation: irrigated ? irrigationFor(crop, unit(draw)) : "none",
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

const tenures: readonly (readonly [Parcel["properties"]["land_ownership"], weight: number])[] = [
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
  const whole = 10_000 * Math.min(Math.max(logNormal(draw, median, deviation), smallestHa), largestHa);
  const max = whole < 5_000 ? 2 : whole < 50_000 ? 4 : 7;
  const min = whole < 1_000_000 ? 1 : 4;
  const parts = Array.from({ length: wholeBetween(draw, min, max) }, () => between(draw, 0.3, 1));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => (whole * part) / sum).sort((a, b) => b - a);
}

function farmMiddle({ draws, region }: FarmContext) {
  const draw = draws("place");
  const [east, north] = direction(draw);
  const [longitude, latitude, radiusKm] = region.circle;
  const distance = 1_000 * radiusKm * Math.sqrt(unit(draw));
  return positionAt([longitude, latitude], east * distance, north * distance);
}

/** Counterclockwise rings that do not touch. Like real fields, they are on both sides of a track and follow its bearing. */
function fieldRings(draw: RandomStream, middle: Position, areasM2: readonly number[]): readonly Position[][] {
  const [cosine, sine] = direction(draw);
  const shapes = areasM2.map((area) => fieldShape(draw, area));
  const breadth = shapes.reduce((sum, shape) => sum + shape.width, 0) / 2;
  const reached = [-breadth / 2, -breadth / 2];
  return shapes.map(({ points, width, height }) => {
    // The side of the track with more room left.
    const side = (reached[0] as number) <= (reached[1] as number) ? 0 : 1;
    const left = (reached[side] as number) + between(draw, 2, 0.2 * width + 8);
    reached[side] = left + width;
    const offset = between(draw, 2, 0.15 * height + 6);
    const bottom = side === 0 ? offset : -offset - height;
    const ring = points.map(([x, y]) => {
      const [along, across] = [left + x, bottom + y];
      return positionAt(middle, along * cosine - across * sine, along * sine + across * cosine);
    });
    return [...ring, ring[0] as Position];
  });
}

interface Shape {
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

// Four bent sides in a rectangle. Each side stays in a strip along its edge of the rectangle, and the strips separate
// the corners, so that no side can cross another.
function fieldShape(draw: RandomStream, areaM2: number): Shape {
  const proportion = between(draw, 1, 2.4);
  const depth = () => between(draw, 0, 0.12);
  const corners: readonly Point[] = [
    [depth(), depth()],
    [1 - depth(), depth()],
    [1 - depth(), 1 - depth()],
    [depth(), 1 - depth()],
  ];
  const points: Point[] = [];
  corners.forEach((corner, side) => {
    points.push(corner);
    if (!chance(draw, 0.6)) return;
    const [along, inward] = [between(draw, 0.35, 0.65), between(draw, 0, 0.1)];
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

/** On a plane with the scale at the ring's middle latitude. The area of a field differs by less than 0.1% from the real one. */
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
  return [rounded(longitude + east / metresEast, 7), rounded(latitude + north / metresNorth, 7)];
}
