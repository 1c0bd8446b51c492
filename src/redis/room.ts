import { nodePlatform } from "../node/platform.js";
import type { RedisConnection } from "./redis-connection.js";
import { isFullness, reasonOf } from "./redis-problems.js";

/** How many requests journals keep when Redis is full, in the order of the attempts. */
const journalsWhenFull = [100, 20, 0];
/** Milliseconds before the last attempts are repeated. */
const pauseWhenFull = 1000;

export type Room = ReturnType<typeof createRoom>;

/**
 * Makes room in a Redis that rejects entries because it is full, and keeps why it rejects them. `compact` shortens the journals of
 * the loaded sandboxes, or of all.
 */
export function createRoom(
  connection: Pick<RedisConnection, "warn" | "note">,
  compact: (journal: number, which: "loaded" | "all") => Promise<void>,
  stopwatch = nodePlatform.stopwatch,
) {
  let rejection: { readonly reason: string; readonly isFull: boolean } | undefined;
  let attempt = 0;
  let triedAt = 0;
  let making: Promise<void> | undefined;
  return {
    /** Makes room after Redis rejected an entry. Resolves to whether to try again. */
    async onRejected(error: Error): Promise<boolean> {
      const isFull = isFullness(error);
      const journal = journalsWhenFull[attempt];
      if (isFull && (making !== undefined || journal !== undefined)) {
        // Others may already have compacted what this server has loaded.
        making ??= compact(journal as number, attempt === 0 ? "loaded" : "all").then(() => {
          attempt += 1;
          triedAt = stopwatch();
          making = undefined;
        });
        await making;
        return true;
      }
      if (isFull && stopwatch() - triedAt > pauseWhenFull) attempt = 1;
      const reason = reasonOf(error);
      if (rejection === undefined) {
        connection.warn(
          `rejects writes: ${reason}. Requests that it cannot store get 503 until it accepts them`,
        );
      }
      rejection = { reason, isFull };
      return false;
    },
    onStored(): void {
      attempt = 0;
      if (rejection !== undefined) connection.note("accepts writes again");
      rejection = undefined;
    },
    /** Why Redis rejected the last entry; `undefined` if it accepted one. */
    rejection: () => rejection,
  };
}
