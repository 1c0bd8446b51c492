import { cosine, radians, rounded, sine } from "./exact-math.js";
import type { Position } from "./farmer.js";

/** The mean radius of the earth in metres, which GeoJSON tools reckon with. */
export const earthRadius = 6_371_008.8;

/** The area of a closed ring on the sphere, in m²; positive when it runs counter-clockwise. */
export function ringArea(ring: readonly Position[]): number {
  const corners = ring.slice(0, -1);
  let sum = 0;
  for (let i = 0; i < corners.length; i++) {
    const [before] = corners[(i + corners.length - 1) % corners.length] as Position;
    const [, latitude] = corners[i] as Position;
    const [after] = corners[(i + 1) % corners.length] as Position;
    sum += radians(before - after) * sine(radians(latitude));
  }
  return (sum * earthRadius * earthRadius) / 2;
}

/** The length of a closed ring of a few kilometres at most, in metres. */
export function ringLength(ring: readonly Position[]): number {
  let length = 0;
  for (let i = 1; i < ring.length; i++) {
    const [fromEast, fromNorth] = ring[i - 1] as Position;
    const [east, north] = ring[i] as Position;
    const x = radians(east - fromEast) * cosine(radians((north + fromNorth) / 2));
    const y = radians(north - fromNorth);
    length += earthRadius * Math.sqrt(x * x + y * y);
  }
  return length;
}

/** Metres east and north of a position, as a position of seven digits: a centimetre. */
export function positionAt([longitude, latitude]: Position, east: number, north: number): Position {
  const degreesPerMetre = 1 / (earthRadius * radians(1));
  return [
    rounded(longitude + (east * degreesPerMetre) / cosine(radians(latitude)), 7),
    rounded(latitude + north * degreesPerMetre, 7),
  ];
}
