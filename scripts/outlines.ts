import type { GeometryCollection, MultiPolygon, Topology } from "topojson-specification";
import type { Plugin } from "vite";

type Outlines = Topology<{ countries: GeometryCollection }>;

/** Moves Crimea in the outlines of world-atlas, and leaves out what the map does not draw. */
export function outlinesOfRegions(): Plugin {
  return {
    name: "outlines-of-regions",
    enforce: "pre",
    transform(code, id) {
      if (!id.endsWith("world-atlas/countries-110m.json")) return null;
      const outlines = JSON.parse(code) as Outlines;
      moveCrimea(outlines);
      for (const country of outlines.objects.countries.geometries) delete country.properties;
      round(outlines);
      return JSON.stringify(outlines);
    },
  };
}

// The sandbox has the regions of ISO 3166-2, where Crimea is UA-43; Natural Earth draws who is in control.
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

/** The number of steps of the atlas in one of the map: 8 km, far below the distance of its points. */
const coarser = 20;

function round({ arcs, transform }: Outlines): void {
  if (transform === undefined) throw new Error("The outlines have no transform.");
  transform.scale = [transform.scale[0] * coarser, transform.scale[1] * coarser];
  for (const arc of arcs) {
    let [x, y, lastX, lastY] = [0, 0, 0, 0];
    const steps = arc.map(([byX = 0, byY = 0]) => {
      [x, y] = [x + byX, y + byY];
      const [nowX, nowY] = [Math.round(x / coarser), Math.round(y / coarser)];
      const step: [number, number] = [nowX - lastX, nowY - lastY];
      [lastX, lastY] = [nowX, nowY];
      return step;
    });
    const kept = steps.filter(([byX, byY], index) => index === 0 || byX !== 0 || byY !== 0);
    // An arc has at least two positions.
    arc.splice(0, arc.length, ...(kept.length > 1 ? kept : steps));
  }
}
