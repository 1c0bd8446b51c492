import { type GeoProjection, geoMercator, geoPath } from "d3-geo";
import { feature, mesh } from "topojson-client";
// The build rounds the outlines: see scripts/outlines.ts.
import atlas from "world-atlas/countries-110m.json" with { type: "json" };
import type { Degrees, FarmerRow } from "./population.js";

const topology = atlas as unknown as Parameters<typeof mesh>[0];
const countries = topology.objects.countries as NonNullable<Parameters<typeof mesh>[1]>;
const land = feature(topology, countries);
const borders = mesh(topology, countries, (one, other) => one !== other);

export interface MapPlace {
  readonly center: Degrees;
  /** Pixels for the radius of the Earth. */
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const earthRadius = 6_371_009;

// At this scale, a region fills the map.
const mostScale = 100_000;
const margin = 40;

function projectionOf({ center, scale }: MapPlace, { width, height }: Size): GeoProjection {
  // No resampling: in this projection it would only add invisible points.
  return geoMercator()
    .precision(0)
    .scale(scale)
    .center([...center])
    .translate([width / 2, height / 2])
    .clipExtent([
      [-20, -20],
      [width + 20, height + 20],
    ]);
}

/** The place that shows all of these farmers. */
export function placeOf(farmers: readonly FarmerRow[], { width, height }: Size): MapPlace {
  const inner = [Math.max(width - margin, margin + 1), Math.max(height - margin, margin + 1)] as const;
  const projection = geoMercator().fitExtent([[margin, margin], [...inner]], {
    type: "MultiPoint",
    coordinates:
      farmers.length === 0
        ? [
            [-120, -40],
            [145, 55],
          ]
        : farmers.map(({ position }) => [...position]),
  });
  const scale = projection.scale();
  const first = farmers[0]?.position ?? [0, 0];
  // A single farmer would fit at any scale.
  if (!Number.isFinite(scale)) return { center: first, scale: mostScale };
  return bounded({ center: projection.invert?.([width / 2, height / 2]) ?? first, scale });
}

/** The place after a zoom around a point that does not move. */
export function zoomed(
  place: MapPlace,
  size: Size,
  factor: number,
  around?: readonly [number, number],
): MapPlace {
  const [x, y] = around ?? [size.width / 2, size.height / 2];
  const larger = bounded({ ...place, scale: place.scale * factor });
  const shift = larger.scale / place.scale - 1;
  return moved(larger, size, (x - size.width / 2) * shift, (y - size.height / 2) * shift);
}

/** The place after the map moves left and up by these pixels. */
export function moved(place: MapPlace, size: Size, byX: number, byY: number): MapPlace {
  const center = projectionOf(place, size).invert?.([size.width / 2 + byX, size.height / 2 + byY]);
  return bounded({ ...place, center: center ?? place.center });
}

function bounded({ center: [longitude, latitude], scale }: MapPlace): MapPlace {
  return {
    center: [Math.max(-180, Math.min(180, longitude)), Math.max(-75, Math.min(75, latitude))],
    scale: Math.max(40, Math.min(mostScale, scale)),
  };
}

export function scaleBar(
  { center, scale }: MapPlace,
  most: number,
): { readonly text: string; readonly width: number } {
  const metersPerPixel = (earthRadius * Math.cos((center[1] * Math.PI) / 180)) / scale;
  const power = 10 ** Math.floor(Math.log10(most * metersPerPixel));
  const meters = power * ([5, 2, 1].find((step) => step * power <= most * metersPerPixel) ?? 1);
  const text = meters < 1000 ? `${meters} m` : `${(meters / 1000).toLocaleString("en")} km`;
  return { text, width: meters / metersPerPixel };
}

/** Draws the map; returns the positions of the farmers on it, in order. */
export function drawMap(
  canvas: HTMLCanvasElement,
  place: MapPlace,
  farmers: readonly FarmerRow[],
): readonly (readonly [number, number])[] {
  const size = { width: canvas.clientWidth, height: canvas.clientHeight };
  const density = devicePixelRatio;
  canvas.width = Math.round(size.width * density);
  canvas.height = Math.round(size.height * density);
  const pen = canvas.getContext("2d");
  if (pen === null) return [];
  pen.scale(density, density);
  const colors = getComputedStyle(canvas);
  const color = (name: string) => colors.getPropertyValue(`--${name}`);
  const projection = projectionOf(place, size);
  const path = geoPath(projection, pen);
  pen.beginPath();
  path(land);
  pen.fillStyle = color("raised");
  pen.fill();
  pen.beginPath();
  path(borders);
  pen.strokeStyle = color("muted");
  pen.globalAlpha = 0.4;
  pen.stroke();
  pen.fillStyle = color("accent");
  pen.globalAlpha = 0.7;
  return farmers.map(({ position }) => {
    const [x, y] = projection([...position]) ?? [Number.NaN, Number.NaN];
    pen.beginPath();
    pen.arc(x, y, 2.5, 0, 2 * Math.PI);
    pen.fill();
    return [x, y];
  });
}
