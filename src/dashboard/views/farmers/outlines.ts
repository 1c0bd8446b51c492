import type { GeoPermissibleObjects } from "d3-geo";
import { feature, mesh } from "topojson-client";
import fine from "world-atlas/countries-50m.json" with { type: "json" };
// The build leaves of each only what the map needs: see scripts/outlines.ts.
import coarse from "world-atlas/countries-110m.json" with { type: "json" };

type Topology = Parameters<typeof mesh>[0];

/** Land, from the back to the front, and the borders on it. */
export interface Outline {
  readonly land: GeoPermissibleObjects;
  readonly borders: GeoPermissibleObjects;
}

/** The countries far from the farmers, and before them those of the farmers and their neighbours. */
export const outlines: readonly Outline[] = [coarse, fine].map((json) => {
  const topology = json as unknown as Topology;
  const countries = topology.objects.countries as NonNullable<Parameters<typeof mesh>[1]>;
  return {
    land: feature(topology, countries),
    borders: mesh(topology, countries, (one, other) => one !== other),
  };
});
