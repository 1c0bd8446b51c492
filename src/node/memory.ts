// Not imported: most processes never need them.
const load = process.getBuiltinModule;

/** The memory of this process. */
export interface Memory {
  /** The bytes of its heap, garbage included. */
  readonly heapUsed: () => number;
  /** Collects the garbage, during which nothing else runs. */
  readonly collect: () => void;
  /** Milliseconds of real time. */
  readonly stopwatch: () => number;
}

let gc: (() => void) | undefined;

/** The memory of a process of Node. */
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

/** The part of the limits of a process that a server fills: the rest is for requests and snapshots. */
const usablePart = 0.7;

/** The bytes that a server may use: a part of the limit of the heap or of the container, whichever is less. */
export function defaultMaxMemory(): number {
  // 0 if no limit is known, and astronomic if there is none.
  const container = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(usablePart * Math.min(load("node:v8").getHeapStatistics().heap_size_limit, container));
}
