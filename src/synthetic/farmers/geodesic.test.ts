import { area } from "@turf/area";
import { expect, test } from "vitest";
import { randomStream } from "../../domain/seed.js";
import { fieldRings } from "./field-shapes.js";
import { positionAt, ringArea, ringLength } from "./geodesic.js";

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
