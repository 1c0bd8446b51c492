import { SandboxError } from "../rules/errors.js";
import { nodePlatform } from "./platform.js";

// Not imported: most processes never need them.
const load = process.getBuiltinModule;

let gc: (() => void) | undefined;

const nodeMemory = {
  stopwatch: nodePlatform.stopwatch,
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

function defaultMaxMemory(): number {
  // 0 if the limit is unknown, and huge without a limit.
  const container = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(usablePart * Math.min(load("node:v8").getHeapStatistics().heap_size_limit, container));
}

export interface MemoryStatus {
  readonly max: number;
  /** The bytes in use; includes garbage while they are far below the limit. */
  readonly used: number;
  readonly isFull: boolean;
}

/** The part of the budget that, once exceeded, causes journals to be discarded. */
const scarcePart = 0.85;
/** Milliseconds between two garbage collections, which block the server: for a new instance, and otherwise. */
const pauses = { asked: 1000, unasked: 5000 };

export function fullMemory(max: number): SandboxError {
  return new SandboxError(
    "memory_limit_reached",
    `The server uses its ${Math.round(max / 1e6)} MB of memory: remove unused instances with DELETE /__sandbox/instances/{id}, or start with a higher --max-memory.`,
  );
}

/** Only memory that survives a garbage collection counts. `discard` discards journals when little memory is left. */
export function createMemoryBudget(
  given: number | undefined,
  discard: () => void,
  { heapUsed, collect, stopwatch } = nodeMemory,
) {
  let known = given;
  // Read when first needed, which is after the start.
  const max = () => {
    known ??= defaultMaxMemory();
    return known;
  };
  const scarce = () => scarcePart * max();
  let measured = Number.POSITIVE_INFINITY;
  let measuredAt = Number.NEGATIVE_INFINITY;
  const collectAfter = (pause: number) => {
    if (heapUsed() <= scarce() || stopwatch() - measuredAt < pause) return;
    collect();
    measuredAt = stopwatch();
    measured = heapUsed();
    if (measured > scarce()) discard();
  };
  const used = () => {
    const now = heapUsed();
    return now <= scarce() ? now : Math.min(now, measured);
  };
  return {
    check: () => collectAfter(heapUsed() > max() ? pauses.asked : pauses.unasked),
    requireRoom(): void {
      collectAfter(pauses.asked);
      if (used() <= max()) return;
      throw fullMemory(max());
    },
    status(): MemoryStatus {
      const now = used();
      return { max: max(), used: now, isFull: now > max() };
    },
  };
}
