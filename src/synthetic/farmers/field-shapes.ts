import type { RandomStream } from "../../domain/seed.js";
import { between, chance, direction } from "./exact-math.js";
import type { Position } from "./farmer.js";
import { positionAt } from "./geodesic.js";

type Point = readonly [number, number];

/**
 * The outlines of a farm's fields, as closed rings that run counter-clockwise and do not meet.
 *
 * They lie on both sides of a track through the middle of the farm and follow its bearing, as fields do.
 */
export function fieldRings(
  draw: RandomStream,
  middle: Position,
  areasM2: readonly number[],
): readonly Position[][] {
  const [cosine, sine] = direction(draw);
  const shapes = areasM2.map((area) => fieldShape(draw, area));
  const breadth = shapes.reduce((sum, shape) => sum + shape.width, 0) / 2;
  const reached = [-breadth / 2, -breadth / 2];
  return shapes.map(({ points, width, height }) => {
    // The side of the track on which there is more room left.
    const side = (reached[0] as number) <= (reached[1] as number) ? 0 : 1;
    const left = (reached[side] as number) + between(draw, 2, 0.2 * width + 8);
    reached[side] = left + width;
    const offset = between(draw, 2, 0.15 * height + 6);
    const bottom = side === 0 ? offset : -offset - height;
    const ring = points.map(([x, y]) => {
      const [along, across] = [left + x, bottom + y];
      return positionAt(middle, along * cosine - across * sine, along * sine + across * cosine);
    });
    return [...ring, ring[0] as Position];
  });
}

interface Shape {
  readonly points: readonly Point[];
  readonly width: number;
  readonly height: number;
}

// Four bent sides in a rectangle. Each side keeps to a strip along its edge of the rectangle and the strips part the
// corners, so that no side can cross another one.
function fieldShape(draw: RandomStream, areaM2: number): Shape {
  const proportion = between(draw, 1, 2.4);
  const depth = () => between(draw, 0, 0.12);
  const corners: readonly Point[] = [
    [depth(), depth()],
    [1 - depth(), depth()],
    [1 - depth(), 1 - depth()],
    [depth(), 1 - depth()],
  ];
  const points: Point[] = [];
  corners.forEach((corner, side) => {
    points.push(corner);
    if (!chance(draw, 0.6)) return;
    const [along, inward] = [between(draw, 0.35, 0.65), between(draw, 0, 0.1)];
    points.push(onSide(side, along, inward));
  });
  const scale = Math.sqrt(areaM2 / (flatArea(points) * proportion));
  const [width, height] = [scale * proportion, scale];
  return { points: points.map(([x, y]) => [x * width, y * height]), width, height };
}

function onSide(side: number, along: number, inward: number): Point {
  if (side === 0) return [along, inward];
  if (side === 1) return [1 - inward, along];
  if (side === 2) return [1 - along, 1 - inward];
  return [inward, 1 - along];
}

function flatArea(points: readonly Point[]): number {
  let sum = 0;
  points.forEach(([x, y], i) => {
    const [nextX, nextY] = points[(i + 1) % points.length] as Point;
    sum += x * nextY - nextX * y;
  });
  return sum / 2;
}
