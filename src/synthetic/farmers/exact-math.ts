import type { RandomStream } from "../../domain/seed.js";
import type { Position } from "./farmer-schema.js";

// JavaScript engines may differ in the last digit of Math.sin, Math.exp and the like, and one digit can lead to another
// field or another crop. Sums, products and square roots are the same everywhere, so everything here is made of them.

/** A number from 0 up to, and without, 1. */
export function unit(draw: RandomStream): number {
  return draw() / 4_294_967_296;
}

export function between(draw: RandomStream, low: number, high: number): number {
  return low + unit(draw) * (high - low);
}

/** A whole number between two others, both included. */
export function wholeBetween(draw: RandomStream, low: number, high: number): number {
  return low + Math.floor(unit(draw) * (high - low + 1));
}

export function chance(draw: RandomStream, probability: number): boolean {
  return unit(draw) < probability;
}

/** A number from very nearly the normal distribution with mean 0 and deviation 1, never beyond 6. */
export function normal(draw: RandomStream): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += unit(draw);
  return sum;
}

/** A number whose logarithm is normally distributed: half of them are below the median, a few far above. */
export function logNormal(draw: RandomStream, median: number, deviation: number): number {
  return median * exponential(deviation * normal(draw));
}

/** e to the power of x, for x between -12 and 12, within a millionth. */
function exponential(x: number): number {
  let result = 1 + x / 1_073_741_824;
  for (let i = 0; i < 30; i++) result *= result;
  return result;
}

/** One of the items, each as likely as its weight says. */
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

const radiansPerDegree = 0.017453292519943295;

export function radians(degrees: number): number {
  return degrees * radiansPerDegree;
}

/** The sine of an angle between -90° and 90°, by its series. */
export function sine(angle: number): number {
  const square = angle * angle;
  let term = angle;
  let sum = angle;
  for (let n = 2; n <= 22; n += 2) {
    term *= -square / (n * (n + 1));
    sum += term;
  }
  return sum;
}

/** The cosine of an angle between -90° and 90°. */
export function cosine(angle: number): number {
  const half = sine(angle / 2);
  return 1 - 2 * half * half;
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

/** The sum of amounts, rounded to four digits after the point: those of an area in hectares. */
export function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  return rounded(
    items.reduce((sum, item) => sum + amountOf(item), 0),
    4,
  );
}

/** The mean radius of the earth in metres, as GeoJSON tools use it. */
const earthRadius = 6_371_008.8;

/** The area of a closed ring on the sphere, in m²; positive when it runs counter-clockwise. */
export function ringArea(ring: readonly Position[]): number {
  const corners = ring.slice(0, -1);
  let sum = 0;
  for (let i = 0; i < corners.length; i++) {
    const [before] = corners[(i + corners.length - 1) % corners.length] as Position;
    const [, latitude] = corners[i] as Position;
    const [after] = corners[(i + 1) % corners.length] as Position;
    sum += radians(before - after) * sine(radians(latitude));
  }
  return (sum * earthRadius * earthRadius) / 2;
}

/** The length of a closed ring of a few kilometres at most, in metres. */
export function ringLength(ring: readonly Position[]): number {
  let length = 0;
  for (let i = 1; i < ring.length; i++) {
    const [fromEast, fromNorth] = ring[i - 1] as Position;
    const [east, north] = ring[i] as Position;
    const x = radians(east - fromEast) * cosine(radians((north + fromNorth) / 2));
    const y = radians(north - fromNorth);
    length += earthRadius * Math.sqrt(x * x + y * y);
  }
  return length;
}

/** Metres east and north of a position, as a position of seven digits: a centimetre. */
export function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const degreesPerMetre = 1 / (earthRadius * radians(1));
  return [
    rounded(longitude + (east * degreesPerMetre) / cosine(radians(latitude)), 7),
    rounded(latitude + north * degreesPerMetre, 7),
  ];
}
