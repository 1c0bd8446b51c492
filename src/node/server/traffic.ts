import type { PathId } from "../../domain/outcomes.js";

/** The bounds of the histogram of latencies, in milliseconds: from an answer out of memory to one that a fault holds back. */
export const latencyBounds = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000,
] as const;

/** The requests that ended on a path with a status. */
export interface PathTraffic {
  readonly pathId: PathId;
  /** 0 where a fault left the request without an answer. */
  readonly status: number;
  readonly count: number;
}

/** What the sockets of one server have answered since it started; nothing clears it. */
export interface Traffic {
  /** Counts an answer of the API, and the milliseconds from its request to its last byte. */
  readonly count: (pathId: PathId, status: number, ms: number) => void;
  /** Counts a request that was refused because the store was away. */
  readonly countUnstored: () => void;
  /** Counts a defect of the sandbox. */
  readonly countDefect: () => void;
  readonly read: () => {
    readonly paths: readonly PathTraffic[];
    /** The number of answers up to each bound and above the one before; the last is of those above all bounds. */
    readonly latencies: readonly number[];
    /** Milliseconds that all answers took together. */
    readonly totalMs: number;
    readonly unstored: number;
    readonly defects: number;
  };
}

/** Makes the counts of a server, with little to do for each request: the journal and the report are made elsewhere. */
export function createTraffic(): Traffic {
  const paths = new Map<PathId, Map<number, { count: number }>>();
  const latencies = new Float64Array(latencyBounds.length + 1);
  let totalMs = 0;
  let unstored = 0;
  let defects = 0;
  const boxOf = (pathId: PathId, status: number) => {
    const statuses = paths.get(pathId) ?? new Map<number, { count: number }>();
    const box = statuses.get(status) ?? { count: 0 };
    paths.set(pathId, statuses.set(status, box));
    return box;
  };
  return {
    count(pathId, status, ms) {
      const box = paths.get(pathId)?.get(status) ?? boxOf(pathId, status);
      box.count += 1;
      totalMs += ms;
      let bucket = 0;
      while (bucket < latencyBounds.length && ms > (latencyBounds[bucket] as number)) bucket += 1;
      latencies[bucket] = (latencies[bucket] as number) + 1;
    },
    countUnstored() {
      unstored += 1;
    },
    countDefect() {
      defects += 1;
    },
    read: () => ({
      paths: [...paths].flatMap(([pathId, statuses]) =>
        [...statuses].map(([status, { count }]) => ({ pathId, status, count })),
      ),
      latencies: [...latencies],
      totalMs,
      unstored,
      defects,
    }),
  };
}
