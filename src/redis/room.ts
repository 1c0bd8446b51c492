import { nodePlatform } from "../node/platform.js";
import type { RedisConnection } from "./redis-connection.js";
import { isFullness, reasonOf } from "./redis-problems.js";

/** How many requests journals keep when Redis is full. */
const journalWhenFull = 20;
/** Milliseconds before another attempt, if Redis has accepted nothing since the last one. */
const pauseWhenFull = 1000;

export type Room = ReturnType<typeof createRoom>;

/**
 * Makes room in a Redis that rejects entries because it is full, and keeps why it rejects them. `compact` shortens the journals of
 * the loaded sandboxes.
 */
export function createRoom(
  connection: Pick<RedisConnection, "warn" | "note">,
  compact: (journal: number) => Promise<unknown>,
  stopwatch = nodePlatform.stopwatch,
) {
  let rejection: { readonly reason: string; readonly isFull: boolean } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let making: Promise<unknown> | undefined;
  return {
    /** Makes room after Redis rejected an entry. Resolves to whether to try again. */
    async onRejected(error: Error): Promise<boolean> {
      const isFull = isFullness(error);
      if (isFull && (making !== undefined || stopwatch() - triedAt > pauseWhenFull)) {
        making ??= compact(journalWhenFull).then(() => {
          triedAt = stopwatch();
          making = undefined;
        });
        await making;
        return true;
      }
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
      triedAt = Number.NEGATIVE_INFINITY;
      if (rejection !== undefined) connection.note("accepts writes again");
      rejection = undefined;
    },
    /** Why Redis rejected the last entry; `undefined` if it accepted one. */
    rejection: () => rejection,
  };
}
