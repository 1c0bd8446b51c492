import type { Shown } from "../../control/responses.js";

type Parcels = Shown<"Farmer">["parcels"];

/** The outlines of a farm's fields, north up, each with the number that it has in the table. */
export function ParcelPicture({ parcels }: { readonly parcels: Parcels }) {
  const { rings, width, height } = drawing(parcels);
  const letter = Math.max(width, height) / 20;
  return (
    <figure class="parcel-picture">
      <svg
        viewBox={`${-letter} ${-letter} ${width + 2 * letter} ${height + 2 * letter}`}
        role="img"
        aria-label={`Outlines of ${parcels.length === 1 ? "one field" : `${parcels.length} fields`}`}
      >
        {rings.map((ring, index) => (
          <g key={parcels[index]?.id}>
            <polygon points={ring.map((point) => point.join(",")).join(" ")} />
            <text x={middle(ring, 0)} y={middle(ring, 1)} font-size={letter}>
              {index + 1}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}

type Point = readonly [x: number, y: number];

function middle(ring: readonly Point[], axis: 0 | 1): number {
  const corners = ring.slice(1);
  return corners.reduce((sum, point) => sum + point[axis], 0) / corners.length;
}

const metersPerDegree = 111_320;

/** The rings in meters from the north-western corner of all fields, with y to the south as in SVG. */
function drawing(parcels: Parcels) {
  const outlines = parcels.map(({ geometry }) =>
    (geometry.coordinates[0] ?? []).map(([longitude = 0, latitude = 0]) => [longitude, latitude] as const),
  );
  const west = Math.min(...outlines.flat().map(([longitude]) => longitude));
  const north = Math.max(...outlines.flat().map(([, latitude]) => latitude));
  const narrowing = Math.cos((north * Math.PI) / 180);
  const rings = outlines.map((ring) =>
    ring.map(
      ([longitude, latitude]): Point => [
        (longitude - west) * metersPerDegree * narrowing,
        (north - latitude) * metersPerDegree,
      ],
    ),
  );
  const most = (axis: 0 | 1) => Math.max(...rings.flat().map((point) => point[axis]));
  return { rings, width: most(0), height: most(1) };
}
