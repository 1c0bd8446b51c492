import type { RandomStream } from "../rules/seed.js";

// Numbers from random streams, the same on every engine. Engines may differ in the last digit of Math.sin and others, but not of
// sums, products, quotients and square roots: only these are used.

/** A number from 0 to less than 1. */
export function fraction(draw: RandomStream): number {
  return draw() / 4_294_967_296;
}

/** A number from `low` to less than `high`. */
export function between(draw: RandomStream, low: number, high: number): number {
  return low + fraction(draw) * (high - low);
}

/** A whole number from `low` to `high`. */
export function wholeBetween(draw: RandomStream, low: number, high: number): number {
  return low + Math.floor(fraction(draw) * (high - low + 1));
}

/** True with this probability. */
export function happens(draw: RandomStream, probability: number): boolean {
  return fraction(draw) < probability;
}

/** A number from almost the normal distribution with mean 0 and deviation 1, never beyond 6. */
export function normal(draw: RandomStream): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += fraction(draw);
  return sum;
}

/** A log-normally distributed number: half are below the median, a few far above it. */
export function logNormal(draw: RandomStream, median: number, deviation: number): number {
  // e to the power of x, for x between -12 and 12, within a millionth.
  const x = deviation * normal(draw);
  let power = 1 + x / 1_073_741_824;
  for (let i = 0; i < 30; i++) power *= power;
  return median * power;
}

/** The cosine and the sine of a random angle: a point on the circle with radius 1. */
export function direction(draw: RandomStream): readonly [cosine: number, sine: number] {
  // Until a point is within the circle, so that no angle is more likely than another.
  for (;;) {
    const x = between(draw, -1, 1);
    const y = between(draw, -1, 1);
    const length = Math.sqrt(x * x + y * y);
    if (length > 0.1 && length <= 1) return [x / length, y / length];
  }
}

export function rounded(value: number, digits: number): number {
  // Engines may also differ in powers with `**`.
  let factor = 1;
  for (let digit = 0; digit < digits; digit++) factor *= 10;
  return Math.round(value * factor) / factor;
}

export function clamped(min: number, value: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
