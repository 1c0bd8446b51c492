import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoArea, geoContains } from "d3-geo";
import type { Feature, FeatureCollection, MultiPolygon, Polygon } from "geojson";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { expect, test } from "vitest";
import { outlinesOfRegions } from "../../scripts/outlines.js";

function outlines(): Feature<Polygon | MultiPolygon>[] {
  const path = createRequire(import.meta.url).resolve("world-atlas/countries-110m.json");
  const { transform } = outlinesOfRegions() as unknown as { transform: (code: string, id: string) => string };
  const topology = JSON.parse(transform(readFileSync(path, "utf8"), path)) as Topology<{
    countries: GeometryCollection;
  }>;
  const all = feature(topology, topology.objects.countries) as FeatureCollection<Polygon | MultiPolygon>;
  return all.features;
}

const all = outlines();

test("each country has one outline, and none is turned inside out", () => {
  const ids = all.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(150);
  for (const one of all) expect(geoArea(one), `${one.id}`).toBeLessThan(4);
});

test("Crimea (UA-43) lies in its country of ISO 3166-2", () => {
  const at = (position: [number, number]) =>
    all.filter((one) => geoContains(one, position)).map(({ id }) => id);
  expect(at([34.1, 45.2])).toEqual(["804"]);
  expect(at([37.6, 55.7])).toEqual(["643"]);
});
