import { SandboxError } from "../domain/errors.js";
import { defaultMaxMemory, type Memory, nodeMemory } from "../node/memory.js";
import { nodePlatform } from "../node/platform.js";

/** The memory of a server. */
export interface MemoryStatus {
  /** The bytes that it may use. */
  readonly most: number;
  /** The bytes that it uses, garbage included as long as they are few. */
  readonly used: number;
  /** Whether it starts no instances. */
  readonly isFull: boolean;
}

/** The part of the budget at which journals are discarded. */
const scarcePart = 0.85;
/** Milliseconds between two collections of garbage, which stop the server: for a new instance, and otherwise. */
const pauses = { asked: 1000, unasked: 5000 };

/**
 * Makes the budget of a server's memory; `discard` is called to discard journals when it is nearly used up.
 *
 * Only what is left after a collection counts, which is made when garbage might be the reason.
 */
export function createMemoryBudget(
  most = defaultMaxMemory(),
  discard: () => void,
  { heapUsed, collect, stopwatch }: Memory = { ...nodeMemory, stopwatch: nodePlatform.stopwatch },
) {
  const scarce = scarcePart * most;
  let measured = Number.POSITIVE_INFINITY;
  let measuredAt = Number.NEGATIVE_INFINITY;
  const check = (pause: number) => {
    if (heapUsed() <= scarce || stopwatch() - measuredAt < pause) return;
    collect();
    measuredAt = stopwatch();
    measured = heapUsed();
    if (measured > scarce) discard();
  };
  const used = () => {
    const now = heapUsed();
    return now <= scarce ? now : Math.min(now, measured);
  };
  return {
    settle: () => check(pauses.unasked),
    /** Throws `memory_limit_reached` when there is no room for another instance. */
    requireRoom(): void {
      check(pauses.asked);
      if (used() > most) throw noRoom(most);
    },
    status(): MemoryStatus {
      const now = used();
      return { most, used: now, isFull: now > most };
    },
  };
}

function noRoom(most: number): SandboxError {
  return new SandboxError(
    "memory_limit_reached",
    `The server uses its ${Math.round(most / 1e6)} MB of memory: remove instances that are no longer used with DELETE /__sandbox/instances/{id}, or start with a higher --max-memory.`,
  );
}
