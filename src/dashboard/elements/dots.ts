import type { ShownRequest } from "../control/responses.js";
import type { TimeAxis } from "./axis.js";

/** As many dots fit next to each other in a narrow window. */
const maxDots = 40;

/** Requests of one key that are alike, and too close to be told apart. */
interface Dot {
  readonly position: number;
  readonly outcome: string;
  count: number;
  /** How many dots have come since, too close to be told apart from this one. */
  newer: number;
}

/** The dots of a key's requests, which are oldest first. */
export function groupIntoDots(
  requests: readonly ShownRequest[],
  { positionOf }: TimeAxis,
): readonly Readonly<Dot>[] {
  const dots: Dot[] = [];
  for (const { at, outcome } of requests) {
    const position = positionOf(Date.parse(at));
    const near = dots.filter((dot) => Math.abs(dot.position - position) < 1 / maxDots);
    // Alike if the start of the outcome is: a status, or a fault.
    const alike = near.find((dot) => dot.outcome.slice(0, 3) === outcome.slice(0, 3));
    if (alike !== undefined) {
      alike.count += 1;
      continue;
    }
    for (const older of near) older.newer += 1;
    dots.push({ position, outcome, count: 1, newer: 0 });
  }
  return dots;
}
