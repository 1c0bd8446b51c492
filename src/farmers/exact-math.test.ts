import { expect, test } from "vitest";
import { randomStream } from "../spec/seed.js";
import { direction, logNormal, normal, pickWeighted } from "./exact-math.js";

test("a normal number has mean 0 and deviation 1, and half of the log-normal ones are below the median", () => {
  const draw = randomStream(1, "test");
  const numbers = Array.from({ length: 20_000 }, () => normal(draw));
  expect(Math.abs(numbers.reduce((sum, one) => sum + one) / numbers.length)).toBeLessThan(0.03);
  expect(Math.abs(numbers.reduce((sum, one) => sum + one * one, 0) / numbers.length - 1)).toBeLessThan(0.05);
  const sizes = Array.from({ length: 20_000 }, () => logNormal(draw, 3, 1));
  expect(sizes.filter((size) => size < 3).length / sizes.length).toBeCloseTo(0.5, 1);
  const steep = () => 0xffff_ffff;
  expect(logNormal(steep, 1, 1)).toBeCloseTo(Math.exp(normal(steep)), 3);
});

test("a direction has length 1, and what has no weight is never picked", () => {
  const draw = randomStream(2, "test");
  for (let i = 0; i < 100; i++) {
    const [x, y] = direction(draw);
    expect(x * x + y * y).toBeCloseTo(1, 12);
    expect(pickWeighted(draw, ["a", "b"], (one) => (one === "a" ? 1 : 0))).toBe("a");
  }
});
