import { signal } from "@preact/signals";
import type { GeoPermissibleObjects } from "d3-geo";
import { feature, mesh } from "topojson-client";
// The build keeps only the outlines that the map needs: see scripts/outlines.ts.
import coarse from "world-atlas/countries-110m.json" with { type: "json" };

type Topology = Parameters<typeof mesh>[0];
type Countries = NonNullable<Parameters<typeof mesh>[1]> & {
  readonly geometries: readonly { readonly id?: string | number }[];
};

/** The land, and the borders on it. */
export interface Outline {
  readonly land: GeoPermissibleObjects;
  readonly borders: GeoPermissibleObjects;
}

function countriesIn(json: unknown): Countries {
  return (json as Topology).objects.countries as Countries;
}

function outlineOf(json: unknown, countries = countriesIn(json)): Outline {
  const topology = json as Topology;
  const borders = mesh(topology, countries, (one, other) => one !== other);
  return { land: feature(topology, countries), borders };
}

/** The outlines of all countries, coarse at first. A later outline is drawn on top. */
export const outlines = signal<readonly Outline[]>([outlineOf(coarse)]);

let isReading = false;

/** Reads fine outlines of the farmers' countries and their neighbors, once. */
export async function readFineOutlines(): Promise<void> {
  if (isReading) return;
  isReading = true;
  try {
    const { default: fine } = await import("world-atlas/countries-50m.json");
    const near = new Set(countriesIn(fine).geometries.map(({ id }) => id));
    const all = countriesIn(coarse);
    const far = all.geometries.filter(({ id }) => !near.has(id));
    outlines.value = [outlineOf(coarse, { ...all, geometries: far } as Countries), outlineOf(fine)];
  } catch {
    // The coarse outlines stay; the next move of the map tries again.
    isReading = false;
  }
}
