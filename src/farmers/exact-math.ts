import type { RandomStream } from "../spec/seed.js";
import type { Position } from "./farmer-shape.js";

// JavaScript engines may differ in the last digit of functions such as Math.sin and Math.exp, and one digit can result
// in another field or crop. Sums, products and square roots are the same in all engines, so this file uses only these.

/** A number from 0 to less than 1. */
export function unit(draw: RandomStream): number {
  return draw() / 4_294_967_296;
}

export function between(draw: RandomStream, low: number, high: number): number {
  return low + unit(draw) * (high - low);
}

/** An integer between two others, inclusive. */
export function wholeBetween(draw: RandomStream, low: number, high: number): number {
  return low + Math.floor(unit(draw) * (high - low + 1));
}

export function chance(draw: RandomStream, probability: number): boolean {
  return unit(draw) < probability;
}

/** A number from almost the normal distribution with mean 0 and deviation 1, never beyond 6. */
export function normal(draw: RandomStream): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += unit(draw);
  return sum;
}

/** A log-normally distributed number: half are below the median, a few far above it. */
export function logNormal(draw: RandomStream, median: number, deviation: number): number {
  return median * exponential(deviation * normal(draw));
}

/** e to the power of x, for x between -12 and 12, within a millionth. */
function exponential(x: number): number {
  let result = 1 + x / 1_073_741_824;
  for (let i = 0; i < 30; i++) result *= result;
  return result;
}

/** One of the items, with probabilities according to their weights. */
export function pickWeighted<Item>(
  draw: RandomStream,
  items: readonly Item[],
  weightOf: (item: Item) => number,
): Item {
  let rest = unit(draw) * items.reduce((sum, item) => sum + weightOf(item), 0);
  for (const item of items) {
    rest -= weightOf(item);
    if (rest < 0) return item;
  }
  return items.at(-1) as Item;
}

/** A random direction, as the cosine and the sine of its angle. */
export function direction(draw: RandomStream): readonly [number, number] {
  for (;;) {
    const x = between(draw, -1, 1);
    const y = between(draw, -1, 1);
    const length = Math.sqrt(x * x + y * y);
    if (length > 0.1 && length <= 1) return [x / length, y / length];
  }
}

export function rounded(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}

/** The sum of amounts, rounded to four decimal places, as areas in hectares are. */
export function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  return rounded(
    items.reduce((sum, item) => sum + amountOf(item), 0),
    4,
  );
}

export type Point = readonly [x: number, y: number];

/** The area of a polygon in the plane; positive if its corners are counterclockwise. */
export function flatArea(points: readonly Point[]): number {
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

/** The meters in a degree to the east and to the north, at a latitude. */
export function metresPerDegree(latitude: number): Point {
  const sin = sine(latitude);
  const bend = 1 - eccentricity2 * sin * sin;
  const across = (equatorRadius * radiansPerDegree) / Math.sqrt(bend);
  return [across * Math.sqrt(1 - sin * sin), (across * (1 - eccentricity2)) / bend];
}

/**
 * The area in m² and the length in meters of a closed ring; the area is positive if the ring is counterclockwise.
 *
 * Both are measured on a plane with the scale at the ring's middle latitude. For a field of a few kilometers, the area
 * differs by less than 0.1% from its area on the ellipsoid.
 */
export function measureRing(ring: readonly Position[]): { readonly area: number; readonly length: number } {
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
export function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const [metresEast, metresNorth] = metresPerDegree(latitude);
  return [rounded(longitude + east / metresEast, 7), rounded(latitude + north / metresNorth, 7)];
}
