import type { ShownRequest } from "../control/responses.js";

// The axis of the lifelines, as on the plan of a metro: it goes through stations, the instants that have a name, with as much room
// between two of them whether that is a minute or a year. So names never overlap, and stand still until the clock gets to the next
// one. Instants are in epoch milliseconds, positions from 0 (left) to 1 (right).

/** As many stations have room for their names in a narrow window. */
const maxStations = 6;

/** As many dots fit next to each other in a narrow window. */
const maxDots = 40;

/** An axis from the first of some instants to the last: at least two different ones. */
export class TimeAxis {
  /** The instants with a name, earliest first: two or more. */
  readonly stations: readonly number[];

  constructor(instants: readonly number[], now: number) {
    this.stations = chooseStations(instants, now);
  }

  /** The position of an instant; one outside of the axis is at the next side. */
  positionOf(at: number): number {
    const { stations } = this;
    const next = stations.findIndex((station) => station >= at);
    if (next === -1) return 1;
    if (next === 0) return 0;
    const from = stations[next - 1] as number; // there is one before
    const to = stations[next] as number;
    const shareOfGap = (at - from) / (to - from);
    return (next - 1 + shareOfGap) / (stations.length - 1);
  }

  /** The dots of a key's requests, which are oldest first: one for those that are alike and too close to be told apart. */
  dotsOf(requests: readonly ShownRequest[]) {
    const dots: { position: number; outcome: string; count: number; newer: number }[] = [];
    for (const { at, outcome } of requests) {
      const position = this.positionOf(Date.parse(at));
      const near = dots.filter((dot) => Math.abs(dot.position - position) < 1 / maxDots);
      // Alike if the start of the outcome is: a status, or a fault.
      const alike = near.find((dot) => dot.outcome.slice(0, 3) === outcome.slice(0, 3));
      if (alike !== undefined) {
        alike.count += 1;
        continue;
      }
      // The older ones move aside.
      for (const older of near) older.newer += 1;
      dots.push({ position, outcome, count: 1, newer: 0 });
    }
    return dots;
  }
}

/** The first instant, the last one and, if there are too many, the next ones that the clock gets to; then those it got to last. */
function chooseStations(instants: readonly number[], now: number): readonly number[] {
  const sorted = [...new Set(instants)].sort((one, other) => one - other);
  const between = sorted.slice(1, -1);
  const ahead = between.filter((at) => at > now);
  const behind = between.filter((at) => at <= now).reverse();
  const chosen = new Set([sorted[0], sorted.at(-1), ...[...ahead, ...behind].slice(0, maxStations - 2)]);
  return sorted.filter((at) => chosen.has(at));
}
