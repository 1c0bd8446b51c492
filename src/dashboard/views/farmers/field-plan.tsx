import type { Farmer } from "../../control/answers.js";
import { capitalized } from "../../elements/words.js";

type Parcel = Farmer["parcels"][number];

const metersPerDegree = 111_320;
const width = 640;
const height = 420;
const margin = 24;

/** The outlines of a farm's fields, to scale, with north at the top. */
export function FieldPlan({ parcels }: { readonly parcels: readonly Parcel[] }) {
  const rings = parcels.map(({ geometry }) => geometry.coordinates[0] as unknown as [number, number][]);
  const corners = rings.flat();
  const middle = (corners[0]?.[1] ?? 0) * (Math.PI / 180);
  const meters = ([longitude, latitude]: readonly [number, number]) =>
    [longitude * Math.cos(middle) * metersPerDegree, -latitude * metersPerDegree] as const;
  const all = corners.map(meters);
  const [left, right] = range(all.map(([x]) => x));
  const [top, bottom] = range(all.map(([, y]) => y));
  const scale = Math.min((width - 2 * margin) / (right - left), (height - 3 * margin) / (bottom - top));
  const pathOf = (ring: readonly (readonly [number, number])[]) =>
    ring.map((corner) => {
      const [x, y] = meters(corner);
      return [margin + (x - left) * scale, margin + (y - top) * scale] as const;
    });
  const most = 160 / scale;
  const power = 10 ** Math.floor(Math.log10(most));
  const bar = power * ([5, 2, 1].find((step) => step * power <= most) ?? 1);
  const bottomOf = Math.max(...rings.flatMap(pathOf).map(([, y]) => y)) + 2 * margin;
  const text = parcels
    .map(
      ({ properties }, index) => `field ${index + 1}, ${properties["crop:name"]}, ${properties.area_ha} ha`,
    )
    .join("; ");
  return (
    <svg
      class="field-plan"
      viewBox={`0 0 ${width} ${bottomOf}`}
      role="img"
      aria-label={`Plan of the fields: ${text}.`}
    >
      {rings.map((ring, index) => {
        const points = pathOf(ring);
        const [x, y] = centerOf(points);
        const { id, properties } = parcels[index] as Parcel;
        return (
          <g key={id}>
            <title>{`Field ${index + 1}: ${capitalized(properties["crop:name"])}, ${properties.area_ha} ha`}</title>
            <polygon points={points.map((point) => point.map((one) => one.toFixed(1)).join(",")).join(" ")} />
            <text x={x} y={y} text-anchor="middle" dominant-baseline="central">
              {index + 1}
            </text>
          </g>
        );
      })}
      <path class="plan-scale" d={`M${margin} ${bottomOf - 18}v6h${(bar * scale).toFixed(1)}v-6`} />
      <text class="plan-text" x={margin + bar * scale + 8} y={bottomOf - 10}>
        {bar < 1000 ? `${bar} m` : `${bar / 1000} km`}
      </text>
    </svg>
  );
}

function range(numbers: readonly number[]): readonly [number, number] {
  return [Math.min(...numbers), Math.max(...numbers)];
}

function centerOf(points: readonly (readonly [number, number])[]): readonly [number, number] {
  const mean = (position: 0 | 1) => points.reduce((sum, point) => sum + point[position], 0) / points.length;
  return [mean(0), mean(1)];
}
