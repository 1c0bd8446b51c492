import { createRequire } from "node:module";
import { feature as isoOf } from "@rapideditor/country-coder";
import { neighbors } from "topojson-client";
import type { GeometryCollection, GeometryObject, MultiPolygon, Topology } from "topojson-specification";
import type { Plugin } from "vite";
import { farmerLocales } from "../src/domain/farmer.js";
import { countryOf } from "../src/synthetic/farmers/tables.js";

type Outlines = Topology<{ countries: GeometryCollection }>;

const fine: Outlines = createRequire(import.meta.url)("world-atlas/countries-50m.json");

/** Leaves of world-atlas what the map of farmers needs: coarse outlines of all countries, fine ones where farmers live, less of their neighbours. */
export function fewerOutlines(): Plugin {
  return {
    name: "fewer-outlines",
    enforce: "pre",
    transform(code, id) {
      if (!/world-atlas\/countries-\d+m\.json$/.test(id)) return null;
      const all = JSON.parse(code) as Outlines;
      const isFine = id.endsWith("-50m.json");
      const kept = only(all, (country) => !isFine || isNearFarmers(country));
      moveCrimea(kept);
      return JSON.stringify(isFine ? thinned(kept) : rounded(kept));
    },
  };
}

type Country = Pick<GeometryObject, "id">;

const homes = new Set(farmerLocales.map((locale) => isoOf(countryOf(locale).code)?.properties.iso1N3));
const isHome = ({ id }: Country) => homes.has(String(id));

const { geometries: world } = fine.objects.countries;
const beside = neighbors(world);
const near = new Set(
  world.flatMap((country, index) =>
    isHome(country) ? [index, ...(beside[index] ?? [])].map((one) => String(world[one]?.id)) : [],
  ),
);
const isNearFarmers = ({ id }: Country) => near.has(String(id));

/** Outlines with every fourth point of what bounds no country of farmers; islets stay whole, as they would vanish. */
function thinned(outlines: Outlines): Outlines {
  const arcsOf = (country: GeometryObject) =>
    [(country as MultiPolygon).arcs].flat(3).map((arc) => (arc < 0 ? ~arc : arc));
  const whole = new Set(outlines.objects.countries.geometries.filter(isHome).flatMap(arcsOf));
  const arcs = outlines.arcs.map((arc, index) =>
    whole.has(index) || arc.length < 24 ? arc : everyFourth(arc),
  );
  return { ...outlines, arcs };
}

// The coarse ones are seen from afar only: half a pixel of a map of the whole world.
const roundedBy = 32;

/** Outlines with fewer digits. */
function rounded(outlines: Outlines): Outlines {
  const { scale: [x, y] = [1, 1], translate = [0, 0] } = outlines.transform ?? {};
  const arcs = outlines.arcs.map((arc) => {
    let [atX, atY, lastX, lastY] = [0, 0, 0, 0];
    const points = arc.map(([byX = 0, byY = 0]) => {
      [atX, atY] = [atX + byX, atY + byY];
      const [nextX, nextY] = [Math.round(atX / roundedBy), Math.round(atY / roundedBy)];
      const point = [nextX - lastX, nextY - lastY];
      [lastX, lastY] = [nextX, nextY];
      return point;
    });
    return points.filter(
      ([byX, byY], index) => index === 0 || index === arc.length - 1 || byX !== 0 || byY !== 0,
    );
  });
  return { ...outlines, transform: { scale: [x * roundedBy, y * roundedBy], translate }, arcs };
}

// Each point of an arc but the first is told by its distance from the one before it.
function everyFourth(arc: readonly number[][]): number[][] {
  const kept: number[][] = [];
  let [skippedX, skippedY] = [0, 0];
  for (const [index, [x = 0, y = 0]] of arc.entries()) {
    skippedX += x;
    skippedY += y;
    if (index % 4 !== 0 && index !== arc.length - 1) continue;
    kept.push([skippedX, skippedY]);
    [skippedX, skippedY] = [0, 0];
  }
  return kept;
}

// The sandbox's regions are those of ISO 3166-2, in which Crimea is UA-43; Natural Earth draws who is in control.
function moveCrimea(outlines: Outlines): void {
  const { geometries } = outlines.objects.countries;
  const find = (number: string) => geometries.find(({ id }) => id === number) as MultiPolygon;
  const [ukraine, russia] = [find("804"), find("643")];
  const crimea = russia.arcs.filter(([ring]) => {
    const [longitude, latitude] = firstPosition(outlines, ring as number[]);
    return longitude > 32 && longitude < 37 && latitude > 44 && latitude < 46.5;
  });
  if (crimea.length !== 1)
    throw new Error(`Crimea is ${crimea.length} polygons of Russia's outline, and not one.`);
  russia.arcs = russia.arcs.filter((polygon) => !crimea.includes(polygon));
  const own = ukraine.type === "MultiPolygon" ? ukraine.arcs : [ukraine.arcs as unknown as number[][]];
  Object.assign(ukraine, { type: "MultiPolygon", arcs: [...own, ...crimea] });
}

function firstPosition({ arcs, transform }: Outlines, [first = 0]: number[]): [number, number] {
  const arc = arcs[first < 0 ? ~first : first] ?? [];
  const { scale = [1, 1], translate = [0, 0] } = transform ?? {};
  const [x = 0, y = 0] = arc[0] ?? [];
  return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
}

/** A topology of some of the countries, with the arcs that these use and no names. */
function only(outlines: Outlines, isKept: (country: GeometryObject) => boolean): Outlines {
  const used = new Map<number, number>();
  const renumbered = (arcs: unknown): unknown => {
    if (Array.isArray(arcs)) return arcs.map(renumbered);
    const arc = arcs as number;
    const old = arc < 0 ? ~arc : arc;
    if (!used.has(old)) used.set(old, used.size);
    const number = used.get(old) as number;
    return arc < 0 ? ~number : number;
  };
  const geometries = outlines.objects.countries.geometries.filter(isKept).map(
    (country) =>
      ({
        type: country.type,
        id: country.id,
        arcs: renumbered((country as MultiPolygon).arcs),
      }) as MultiPolygon,
  );
  return {
    type: "Topology",
    ...(outlines.transform !== undefined && { transform: outlines.transform }),
    objects: { countries: { type: "GeometryCollection", geometries } },
    arcs: [...used.keys()].map((old) => outlines.arcs[old] as Outlines["arcs"][number]),
  };
}
