import type { RandomStream } from "../rules/seed.js";
import type { Position } from "../sandbox/farmer-records/farmer-shape.js";
import * as exact from "./exact-math.js";

/** A point on a plane, in meters or in a square of 1. */
type Point = readonly [x: number, y: number];

/** A field in meters from its lower left corner, in a rectangle of this size. */
interface Outline {
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

/**
 * Draws the outlines of a farm's fields: counterclockwise rings that do not touch. Like real fields, they are on both sides of
 * a track and follow its bearing:
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
export function drawFieldRings(
  draw: RandomStream,
  middle: Position,
  areasM2: readonly number[],
): readonly Position[][] {
  const [cosine, sine] = exact.direction(draw);
  const outlines = areasM2.map((area) => drawOutline(draw, area));

  // The track is about as long as the fields of one side: half of all widths. Its middle is that of the farm.
  let widths = 0;
  for (const { width } of outlines) widths += width;
  const trackLength = widths / 2;

  /** The end of the last field on each side, along the track. */
  let endAbove = -trackLength / 2;
  let endBelow = -trackLength / 2;

  const rings: Position[][] = [];
  for (const { points, width, height } of outlines) {
    // Along the track: on the side with more room left, some meters behind the last field there.
    const isAbove = endAbove <= endBelow;
    const endOnSide = isAbove ? endAbove : endBelow;
    const startAlong = endOnSide + exact.between(draw, 2, 0.2 * width + 8);
    if (isAbove) endAbove = startAlong + width;
    else endBelow = startAlong + width;

    // Across the track: some meters away from it.
    const gap = exact.between(draw, 2, 0.15 * height + 6);
    const startAcross = isAbove ? gap : -gap - height;

    const ring: Position[] = [];
    for (const [x, y] of points) {
      const along = startAlong + x;
      const across = startAcross + y;
      const east = along * cosine - across * sine;
      const north = along * sine + across * cosine;
      ring.push(positionAt(middle, east, north));
    }
    // The last position of a ring is the first one.
    rings.push([...ring, ring[0] as Position]);
  }
  return rings;
}

/**
 * Draws a field of an area, first in a square of 1: each corner is moved inward by up to 0.12 in both directions, and most sides
 * have a bend near their middle, up to 0.1 inward. The moved corners and bends leave each side near its edge, so that no sides
 * cross.
 */
function drawOutline(draw: RandomStream, areaM2: number): Outline {
  const proportion = exact.between(draw, 1, 2.4);
  const depth = () => exact.between(draw, 0, 0.12);
  const corners: readonly Point[] = [
    [depth(), depth()],
    [1 - depth(), depth()],
    [1 - depth(), 1 - depth()],
    [depth(), 1 - depth()],
  ];

  const points: Point[] = [];
  for (const [side, corner] of corners.entries()) {
    points.push(corner);
    if (!exact.happens(draw, 0.6)) continue;
    const along = exact.between(draw, 0.35, 0.65);
    const inward = exact.between(draw, 0, 0.1);
    // A point near each side of the square, counterclockwise from the lower one, as `along` goes.
    const bends: readonly Point[] = [
      [along, inward],
      [1 - inward, along],
      [1 - along, 1 - inward],
      [inward, 1 - along],
    ];
    points.push(bends[side] as Point);
  }

  // The square becomes the rectangle in which the outline has its area.
  const height = Math.sqrt(areaM2 / (flatArea(points) * proportion));
  const width = height * proportion;
  return { points: points.map(([x, y]) => [x * width, y * height]), width, height };
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

/**
 * Measures a ring in square meters and meters, on a plane with the scale at its middle latitude. The area of a field differs by
 * less than 0.1% from the real one.
 */
export function measureRing(ring: readonly Position[]): { readonly area: number; readonly length: number } {
  const [origin] = ring as readonly [Position, ...Position[]];
  const latitudes = ring.map(([, latitude]) => latitude);
  const middle = (Math.min(...latitudes) + Math.max(...latitudes)) / 2;
  const [metersEast, metersNorth] = metersPerDegree(middle);
  const points: Point[] = [];
  for (const [longitude, latitude] of ring) {
    points.push([(longitude - origin[0]) * metersEast, (latitude - origin[1]) * metersNorth]);
  }

  let length = 0;
  for (let index = 1; index < points.length; index++) {
    const [fromX, fromY] = points[index - 1] as Point;
    const [toX, toY] = points[index] as Point;
    const east = toX - fromX;
    const north = toY - fromY;
    length += Math.sqrt(east * east + north * north);
  }
  return { area: flatArea(points), length };
}

/** The position some meters east and north of another, with seven decimal places (a centimeter). */
export function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const [metersEast, metersNorth] = metersPerDegree(latitude);
  return [exact.rounded(longitude + east / metersEast, 7), exact.rounded(latitude + north / metersNorth, 7)];
}

// The WGS 84 ellipsoid: its semi-major axis in meters, and the square of its eccentricity.
const equatorRadius = 6_378_137;
const eccentricity2 = 0.0066943799901413165;

const radiansPerDegree = 0.017453292519943295;

/**
 * The length of a degree of longitude (east) and of latitude (north), at a latitude φ. With w = 1 - e² sin² φ, the radius of
 * curvature is a / √w across the meridian, and a (1 - e²) / w^1.5 along it.
 */
function metersPerDegree(latitude: number): readonly [east: number, north: number] {
  const sine = sineOfDegrees(latitude);
  const cosine = Math.sqrt(1 - sine * sine);
  const w = 1 - eccentricity2 * sine * sine;

  // A degree of the circle with each radius, in meters.
  const acrossMeridian = (equatorRadius * radiansPerDegree) / Math.sqrt(w);
  const alongMeridian = (acrossMeridian * (1 - eccentricity2)) / w;
  // The circle of a latitude is as much smaller as the cosine of the latitude.
  return [acrossMeridian * cosine, alongMeridian];
}

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
