// Not imported: most processes never need them.
const load = process.getBuiltinModule;

/** The memory of this process. */
export interface Memory {
  /** The bytes of its heap, including garbage. */
  readonly heapUsed: () => number;
  /** Collects garbage; blocks the process. */
  readonly collect: () => void;
  /** Milliseconds of real time. */
  readonly stopwatch: () => number;
}

let gc: (() => void) | undefined;

/** The memory of this Node process. */
export const nodeMemory: Omit<Memory, "stopwatch"> = {
  heapUsed: () => load("node:v8").getHeapStatistics().used_heap_size,
  collect() {
    if (gc === undefined) {
      load("node:v8").setFlagsFromString("--expose-gc");
      gc = load("node:vm").runInNewContext("gc") as () => void;
    }
    gc();
  },
};

/** The share of the process's memory limit that a server uses; the rest is for requests and snapshots. */
const usablePart = 0.7;

/** Returns the bytes that a server may use: a share of the heap's or the container's limit, the lower one. */
export function defaultMaxMemory(): number {
  // 0 if the limit is unknown, and huge without a limit.
  const container = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(usablePart * Math.min(load("node:v8").getHeapStatistics().heap_size_limit, container));
}
