// What a running clock shows: the slow way, from all readings of the wall clock and of a stopwatch, in milliseconds.

export interface Reading {
  readonly wall: number;
  readonly stopwatch: number;
}

/** The time after the last of these readings: the first one starts it. It is never earlier than the time before. */
export function shownAfter(readings: readonly Reading[]): number {
  let shown = Number.NEGATIVE_INFINITY;
  let last = 0;
  for (const { wall, stopwatch } of readings) {
    const passed = stopwatch - last;
    shown = Math.max(shown + passed, wall);
    last = stopwatch;
  }
  return shown;
}
