import type { RandomStream } from "../rules/seed.js";
import type { Position } from "../sandbox/farmer-records/farmer-shape.js";
import * as exact from "./exact-math.js";

/** A point on a plane, in meters or in a square of 1. */
type Point = readonly [x: number, y: number];

/** A field of a farm. */
export interface DrawnField {
  /** Counterclockwise; the last position is the first one. */
  readonly ring: Position[];
  /** In square meters. */
  readonly area: number;
  /** In meters. */
  readonly perimeter: number;
}

/**
 * Draws the fields of a farm, which do not touch. Like real fields, they are on both sides of a track and follow its bearing:
 *
 *     +--------+  +-----+
 *     |   0    |  |  3  |      above
 *     +--------+  +-----+
 *     ==================== the track
 *     +-----+  +-----+
 *     |  1  |  |  2  |         below
 *     +-----+  +-----+
 *
 * Each field is placed in meters along the track and across it, then turned around the middle of the farm.
 */
export function drawFields(
  draw: RandomStream,
  middle: Position,
  areasM2: readonly number[],
): readonly DrawnField[] {
  const [cosine, sine] = exact.direction(draw);
  const outlines = areasM2.map((area) => ({ area, ...drawOutline(draw, area) }));

  // The track is about as long as the fields of one side: half of all widths. Its middle is that of the farm.
  let widths = 0;
  for (const { width } of outlines) widths += width;
  const trackLength = widths / 2;

  /** The end of the last field on each side, along the track. */
  const ends = { above: -trackLength / 2, below: -trackLength / 2 };

  const fields: DrawnField[] = [];
  for (const { area, points, width, height } of outlines) {
    // Along the track: on the side with more room left, some meters behind the last field there.
    const side = ends.above <= ends.below ? "above" : "below";
    const startAlong = ends[side] + exact.between(draw, 2, 0.2 * width + 8);
    ends[side] = startAlong + width;

    // Across the track: some meters away from it.
    const gap = exact.between(draw, 2, 0.15 * height + 6);
    const startAcross = side === "above" ? gap : -gap - height;

    // Turned by the bearing of the track.
    const ring: Position[] = [];
    for (const [x, y] of points) {
      const along = startAlong + x;
      const across = startAcross + y;
      const east = along * cosine - across * sine;
      const north = along * sine + across * cosine;
      ring.push(positionAt(middle, east, north));
    }
    fields.push({ ring: [...ring, ring[0] as Position], area, perimeter: perimeterOf(points) });
  }
  return fields;
}

/**
 * Draws a field of an area: a rectangle, each corner of which is moved inward by up to a fifth of both sides. In meters from its
 * lower left corner.
 */
function drawOutline(draw: RandomStream, areaM2: number) {
  const proportion = exact.between(draw, 1, 2.4);
  // First in a square of 1, counterclockwise from the lower left corner.
  const depth = () => exact.between(draw, 0, 0.2);
  const corners: readonly Point[] = [
    [depth(), depth()],
    [1 - depth(), depth()],
    [1 - depth(), 1 - depth()],
    [depth(), 1 - depth()],
  ];

  // The square becomes the rectangle in which the outline has its area.
  const height = Math.sqrt(areaM2 / (flatArea(corners) * proportion));
  const width = height * proportion;
  const points = corners.map(([x, y]): Point => [x * width, y * height]);
  return { points, width, height };
}

/** The area within a line of points on a plane, by the shoelace formula: positive if they are counterclockwise. */
function flatArea(points: readonly Point[]): number {
  let sum = 0;
  for (const [index, [x, y]] of points.entries()) {
    const [nextX, nextY] = points[(index + 1) % points.length] as Point;
    sum += x * nextY - nextX * y;
  }
  return sum / 2;
}

/** The length of a closed line of points. */
function perimeterOf(points: readonly Point[]): number {
  let length = 0;
  for (const [index, [x, y]] of points.entries()) {
    const [nextX, nextY] = points[(index + 1) % points.length] as Point;
    const alongX = nextX - x;
    const alongY = nextY - y;
    length += Math.sqrt(alongX * alongX + alongY * alongY);
  }
  return length;
}

/** The position some meters east and north of another, with seven decimal places (a centimeter). */
export function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const sine = sineOfDegrees(latitude);
  const metersPerDegreeEast = metersPerDegree * Math.sqrt(1 - sine * sine);
  const eastDegrees = east / metersPerDegreeEast;
  const northDegrees = north / metersPerDegree;
  return [exact.rounded(longitude + eastDegrees, 7), exact.rounded(latitude + northDegrees, 7)];
}

/** The length of a degree of latitude, in meters: on a sphere with the mean radius of the earth, as GeoJSON tools measure. */
const metersPerDegree = 111_195.08;

const radiansPerDegree = 0.017453292519943295;

/** The sine of an angle in degrees, by its Taylor series: `Math.sin` may differ between engines. */
function sineOfDegrees(degrees: number): number {
  const angle = degrees * radiansPerDegree;
  const square = angle * angle;
  let term = angle;
  let sum = angle;
  for (let n = 2; Math.abs(term) > 1e-17; n += 2) {
    term *= -square / (n * (n + 1));
    sum += term;
  }
  return sum;
}
