import { area } from "@turf/area";
import { expect, test } from "vitest";
import { randomStream } from "../../domain/seed.js";
import {
  cosine,
  direction,
  logNormal,
  normal,
  pickWeighted,
  positionAt,
  radians,
  ringArea,
  ringLength,
  sine,
} from "./exact-math.js";
import { fieldRings } from "./parcels.js";

test("sine and cosine are those of the engine, but for the last digits", () => {
  for (let degrees = -90; degrees <= 90; degrees += 0.7) {
    expect(sine(radians(degrees))).toBeCloseTo(Math.sin((degrees * Math.PI) / 180), 14);
    expect(cosine(radians(degrees))).toBeCloseTo(Math.cos((degrees * Math.PI) / 180), 14);
  }
});

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

test.each([
  [0, 0],
  [36.8, -1.3],
  [-53.4, -29.2],
  [33.9, 49.6],
] as const)("a square of 200 metres at %d, %d has its area and outline, and others agree", (longitude, latitude) => {
  const middle = [longitude, latitude] as const;
  const corners = [
    positionAt(middle, 0, 0),
    positionAt(middle, 200, 0),
    positionAt(middle, 200, 200),
    positionAt(middle, 0, 200),
  ];
  const ring = [...corners, corners[0] as (typeof corners)[number]];
  expect(Math.abs(ringArea(ring) / 40_000 - 1)).toBeLessThan(0.001);
  expect(Math.abs(ringLength(ring) / 800 - 1)).toBeLessThan(0.001);
  const judged = area({ type: "Polygon", coordinates: [ring.map((position) => [...position])] });
  expect(Math.abs(ringArea(ring) / judged - 1)).toBeLessThan(1e-6);
  expect(ringArea(ring.toReversed())).toBeCloseTo(-ringArea(ring), 3);
});

test("fields have the areas that were asked for, are closed and run counter-clockwise", () => {
  const wanted = [900, 12_000, 450_000];
  const rings = fieldRings(randomStream(3, "fields"), [8, 10], wanted);
  rings.forEach((ring, i) => {
    expect(Math.abs(ringArea(ring) / (wanted[i] as number) - 1)).toBeLessThan(0.005);
    expect(ring[0]).toEqual(ring.at(-1));
    expect(ring.length).toBeGreaterThanOrEqual(5);
  });
});
