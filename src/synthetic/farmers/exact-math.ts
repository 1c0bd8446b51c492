import type { RandomStream } from "../../domain/seed.js";

// Engines may differ in the last digit of Math.sin, Math.exp and their like, and one digit can turn into another field
// or another crop. Sums, products and square roots are the same everywhere, so everything here is made of them.

/** A number from 0 up to, and without, 1. */
export function unit(draw: RandomStream): number {
  return draw() / 4_294_967_296;
}

/** A number between two others. */
export function between(draw: RandomStream, low: number, high: number): number {
  return low + unit(draw) * (high - low);
}

/** A whole number between two others, both included. */
export function wholeBetween(draw: RandomStream, low: number, high: number): number {
  return low + Math.floor(unit(draw) * (high - low + 1));
}

/** `true` with this probability. */
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

/** A direction, as the cosine and the sine of an angle that nobody needs to know. */
export function direction(draw: RandomStream): readonly [number, number] {
  for (;;) {
    const x = between(draw, -1, 1);
    const y = between(draw, -1, 1);
    const length = Math.sqrt(x * x + y * y);
    if (length > 0.1 && length <= 1) return [x / length, y / length];
  }
}

/** The number with so many digits after the point. */
export function rounded(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}
