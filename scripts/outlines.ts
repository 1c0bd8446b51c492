import type { GeometryCollection, MultiPolygon, Topology } from "topojson-specification";
import type { Plugin } from "vite";

type Outlines = Topology<{ countries: GeometryCollection }>;

/** Leaves of world-atlas what the map of farmers needs: rounded outlines without names. */
export function fewerOutlines(): Plugin {
  return {
    name: "fewer-outlines",
    enforce: "pre",
    transform(code, id) {
      if (!id.endsWith("world-atlas/countries-110m.json")) return null;
      const kept = withoutNames(JSON.parse(code) as Outlines);
      moveCrimea(kept);
      return JSON.stringify(rounded(kept));
    },
  };
}

// Half a pixel of a map of the whole world.
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

/** The outlines of the countries, and no names. */
function withoutNames({ transform, arcs, objects }: Outlines): Outlines {
  const geometries = objects.countries.geometries.map(
    (country) =>
      ({ type: country.type, id: country.id, arcs: (country as MultiPolygon).arcs }) as MultiPolygon,
  );
  return {
    type: "Topology",
    ...(transform !== undefined && { transform }),
    objects: { countries: { type: "GeometryCollection", geometries } },
    arcs,
  };
}
