// The axis of the lifelines. Instants are in epoch milliseconds, positions from 0 (left) to 1 (right).
//
// A minute and a year can both be read on it, as on the plan of a metro, because it is not even. It goes through stations:
// the instants that have a name. Three things must be so:
//
// 1. Names do not overlap. Each gap between two stations has a part of the width that depends only on the number of gaps;
//    what is left of the width is shared out by how long the gaps look.
// 2. What is near to now has room. A time looks as long as the logarithm of its length: a day is longer than a minute, but
//    not 1,440 times as long. Within a gap, an instant is where it looks to be, as seen from now.
// 3. As long as all instants have room, names stand still while the clock moves from one station to the next. So the width of
//    a gap depends on its own length, and not on how far it is from now.

/** As many stations have room for their names in a narrow window. */
const maxStations = 6;

/** The part of the width that all gaps share equally, so that no names overlap. */
const evenPart = 0.75;

/** Times that are much shorter than this one look as long as they are. */
const shortMs = 10_000;

/** How long a time looks. */
const apparentLength = (milliseconds: number) => Math.log1p(milliseconds / shortMs);

/** How far from now an instant looks to be; negative before it. */
function apparentDistance(now: number, at: number): number {
  return Math.sign(at - now) * apparentLength(Math.abs(at - now));
}

export interface TimeAxis {
  /** The instants with a name, earliest first: two or more. */
  readonly stations: readonly number[];
  /** The position of an instant; one outside of the axis is at the next side. */
  readonly positionOf: (at: number) => number;
}

/** What is between two stations. */
interface Gap {
  readonly from: number;
  readonly to: number;
  /** The position of its start. */
  readonly left: number;
  readonly width: number;
}

/** Makes an axis from the first of these instants to the last: at least two different ones. */
export function createAxis(named: readonly number[], now: number): TimeAxis {
  const stations = chooseStations(named, now);
  const gaps = layOutGaps(stations);

  const positionOf = (at: number) => {
    if (at <= (stations[0] as number)) return 0;
    if (at >= (stations.at(-1) as number)) return 1;

    const gap = gaps.find(({ to }) => at <= to) as Gap; // the gaps fill the axis
    return gap.left + gap.width * shareOfGap(gap, at, now);
  };
  return { stations, positionOf };
}

/** How much of a gap is before an instant, from 0 to 1, as seen from now (2). */
function shareOfGap({ from, to }: Gap, at: number, now: number): number {
  const start = apparentDistance(now, from);
  const end = apparentDistance(now, to);
  return (apparentDistance(now, at) - start) / (end - start);
}

/** Shares out the width to the gaps. It does not depend on now (3). */
function layOutGaps(stations: readonly number[]): readonly Gap[] {
  const pairs = stations.slice(1).map((to, index) => ({ from: stations[index] as number, to }));
  let allLengths = 0;
  for (const { from, to } of pairs) allLengths += apparentLength(to - from);

  const gaps: Gap[] = [];
  let left = 0;
  for (const { from, to } of pairs) {
    const share = apparentLength(to - from) / allLengths;
    const width = evenPart / pairs.length + (1 - evenPart) * share;
    gaps.push({ from, to, left, width });
    left += width;
  }
  return gaps;
}

/** Each instant once, earliest first. If there are too many, of those that look close together only the first. */
function chooseStations(named: readonly number[], now: number): readonly number[] {
  const sorted = [...new Set(named)].sort((one, other) => one - other);
  let chosen: readonly number[] = sorted;
  for (let spacing = 0.1; chosen.length > maxStations; spacing *= 1.3) {
    chosen = thinOut(sorted, now, spacing);
  }
  return chosen;
}

/** Leaves out each instant that looks closer to the one before it than this. The last one is always there. */
function thinOut(sorted: readonly number[], now: number, spacing: number): readonly number[] {
  const last = sorted.at(-1) as number;
  const chosen: number[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const at of sorted) {
    const distance = apparentDistance(now, at);
    if (distance - before < spacing || at === last) continue;
    chosen.push(at);
    before = distance;
  }
  chosen.push(last);
  return chosen;
}
