import type { PathId } from "../../spec/outcomes.js";

/** The bounds of the latency histogram, in milliseconds: from a response out of memory to one that a fault delays. */
export const latencyBounds = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000,
] as const;

/** The counts of one server's responses since it started; nothing clears them. */
export type Traffic = ReturnType<typeof createTraffic>;

/** Makes the counts of a server. They cost little for each request; the journal and the report are made elsewhere. */
export function createTraffic() {
  const paths = new Map<PathId, Map<number, { count: number }>>();
  const latencies = new Float64Array(latencyBounds.length + 1);
  let totalMs = 0;
  let unstored = 0;
  let excess = 0;
  let defects = 0;
  const boxOf = (pathId: PathId, status: number) => {
    const statuses = paths.get(pathId) ?? new Map<number, { count: number }>();
    const box = statuses.get(status) ?? { count: 0 };
    paths.set(pathId, statuses.set(status, box));
    return box;
  };
  return {
    /** Counts a response of the API, and the milliseconds from its request to its last byte; status 0: no response. */
    count(pathId: PathId, status: number, ms: number): void {
      const box = paths.get(pathId)?.get(status) ?? boxOf(pathId, status);
      box.count += 1;
      totalMs += ms;
      let bucket = 0;
      while (bucket < latencyBounds.length && ms > (latencyBounds[bucket] as number)) bucket += 1;
      latencies[bucket] = (latencies[bucket] as number) + 1;
    },
    /** Counts a request that was rejected because the store was away. */
    countUnstored(): void {
      unstored += 1;
    },
    /** Counts a request above the limit of its instance. */
    countExcess(): void {
      excess += 1;
    },
    /** Counts a defect of the sandbox. */
    countDefect(): void {
      defects += 1;
    },
    read: () => ({
      paths: [...paths].flatMap(([pathId, statuses]) =>
        [...statuses].map(([status, { count }]) => ({ pathId, status, count })),
      ),
      /** The number of responses up to each bound and above the one before; the last counts those above all bounds. */
      latencies: [...latencies],
      /** Milliseconds of all responses together. */
      totalMs,
      unstored,
      excess,
      defects,
    }),
  };
}
