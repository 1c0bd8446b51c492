import { nodePlatform } from "../node/platform.js";
import { isFullness, reasonOf } from "./redis-problems.js";

/** How many requests journals keep when Redis is full, in the order of the attempts. */
const journalsWhenFull = [100, 20, 0];
/** Milliseconds before the last attempts are repeated. */
const pause = 1000;

interface RoomOptions {
  /** The store, for messages. */
  readonly shown: string;
  /** Compacts the loaded sandboxes, or all. */
  readonly compact: (journal: number, which: "loaded" | "all") => Promise<void>;
  readonly onWarning: (message: string) => void;
  readonly onNote: (message: string) => void;
  /** Milliseconds of real time. */
  readonly stopwatch?: () => number;
}

/** Makes room in a Redis that rejects entries because it is full, and keeps why it rejects them. */
export function createRoom({
  shown,
  compact,
  onWarning,
  onNote,
  stopwatch = nodePlatform.stopwatch,
}: RoomOptions) {
  let rejection: { readonly reason: string; readonly isFull: boolean } | undefined;
  let attempt = 0;
  let triedAt = 0;
  let making: Promise<void> | undefined;
  const make = async (journal: number) => {
    // Others may already have compacted what this server has loaded.
    await compact(journal, attempt === 0 ? "loaded" : "all");
    attempt += 1;
    triedAt = stopwatch();
    making = undefined;
  };
  return {
    /** Makes room after Redis rejected an entry. Resolves to whether to try again. */
    async onRejected(error: Error): Promise<boolean> {
      const isFull = isFullness(error);
      const journal = journalsWhenFull[attempt];
      if (isFull && (making !== undefined || journal !== undefined)) {
        making ??= make(journal as number);
        await making;
        return true;
      }
      if (isFull && stopwatch() - triedAt > pause) attempt = 1;
      if (rejection === undefined) {
        onWarning(
          `The store ${shown} rejects writes: ${reasonOf(error)}. Requests that it cannot store get 503 until it accepts them.`,
        );
      }
      rejection = { reason: reasonOf(error), isFull };
      return false;
    },
    /** Called when Redis accepts entries. */
    onStored(): void {
      attempt = 0;
      if (rejection === undefined) return;
      rejection = undefined;
      onNote(`The store ${shown} accepts writes again.`);
    },
    /** Why Redis rejected the last entry; `undefined` if it accepted one. */
    rejection: () => rejection,
  };
}
