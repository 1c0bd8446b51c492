import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoArea, geoContains } from "d3-geo";
import type { Feature, FeatureCollection, MultiPolygon, Polygon } from "geojson";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { expect, test } from "vitest";
import { fewerOutlines } from "../../scripts/outlines.js";

function outlines(file: string): Feature<Polygon | MultiPolygon>[] {
  const path = createRequire(import.meta.url).resolve(`world-atlas/${file}`);
  const { transform } = fewerOutlines() as unknown as { transform: (code: string, id: string) => string };
  const topology = JSON.parse(transform(readFileSync(path, "utf8"), path)) as Topology<{
    countries: GeometryCollection;
  }>;
  const all = feature(topology, topology.objects.countries) as FeatureCollection<Polygon | MultiPolygon>;
  return all.features;
}

const fine = outlines("countries-50m.json");
const coarse = outlines("countries-110m.json");

test("each country has one coarse outline and at most one fine one, and none is turned inside out", () => {
  const [all, near] = [coarse, fine].map((some) => some.flatMap(({ id }) => (id === undefined ? [] : [id])));
  expect([new Set(all).size, new Set(near).size]).toEqual([all?.length, near?.length]);
  expect(all?.length).toBeGreaterThan(150);
  expect(near?.length).toBeLessThan(120);
  for (const { id, geometry } of [...fine, ...coarse]) {
    const polygons = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
    for (const coordinates of polygons)
      expect(geoArea({ type: "Polygon", coordinates }), `${id}`).toBeLessThan(1);
  }
});

test("regions of ISO 3166-2 lie in their country, Crimea (UA-43) among them", () => {
  const at = (position: [number, number]) =>
    fine.filter((one) => geoContains(one, position)).map(({ id }) => id);
  expect(at([34.1, 45])).toEqual(["804"]);
  expect(at([30.5, 50.4])).toEqual(["804"]);
  expect(at([-1.6, 6.7])).toEqual(["288"]);
  expect(at([37.6, 55.7])).toEqual(["643"]);
});
