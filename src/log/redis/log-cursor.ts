import type { LogFollower, LogSnapshot } from "../replica/shared-log.js";
import type { Reply } from "./link.js";

/** Entries that one replica appended together, as stored in Redis. */
export interface StoredBatch {
  /** `<epoch milliseconds>-<number of its last entry>`. */
  readonly id: string;
  readonly epoch: string;
  /** `<replica> <number of the batch>`. */
  readonly mark: string;
  readonly texts: readonly string[];
}

/** The position of a replica in a log. */
export type LogCursor = ReturnType<typeof createLogCursor>;

/** Creates a cursor. `onOutcome` gets the outcome of each entry, with its batch and its index there. */
export function createLogCursor(
  follower: LogFollower,
  onOutcome: (mark: string, index: number, outcome: unknown, isLast: boolean) => void,
) {
  let [epoch, at] = ["", ""];
  let number = 0;

  const applyBatch = ({ id, mark, texts }: StoredBatch) => {
    const first = numberOf(id) - texts.length + 1;
    const time = Number.parseInt(id, 10);
    for (let index = number + 1 - first; index < texts.length; index += 1) {
      const position = `${time}-${first + index}`;
      const outcome = follower.apply({ position, at: time, text: texts[index] as string });
      [at, number] = [position, first + index];
      onOutcome(mark, index, outcome, index === texts.length - 1);
    }
  };

  return {
    /** Returns the position of the last applied entry; empty before the start. */
    at: () => at,
    /** Returns the number of the last applied entry. */
    number: () => number,
    /** Starts the replica from here. */
    start(begun: string, snapshot: LogSnapshot): void {
      [epoch, at] = [begun, snapshot.position];
      number = numberOf(at);
      follower.start(snapshot);
    },
    /**
     * Applies batches that were found after the entry with the number `behind`. Skips batches that already arrived on another
     * connection.
     *
     * Returns `false` if the batches do not continue the replica's entries: the log is no longer the same.
     */
    apply(found: readonly StoredBatch[], behind: number): boolean {
      for (const one of found) {
        const last = numberOf(one.id);
        if (one.epoch !== epoch || last <= behind || last - one.texts.length > number) return false;
        if (last > number) applyBatch(one);
      }
      return true;
    },
  };
}

/** Returns the number of an entry, from its position or from the id of a batch that ends with it. */
export function numberOf(position: string): number {
  return Number(position.slice(position.indexOf("-") + 1));
}

/** Separates the texts of a batch, which never contain it. */
export const between = "\u001e";

/** Reads batches from a reply of Redis. */
export function batchesOf(found: readonly Reply[]): StoredBatch[] {
  return (found as readonly [string, readonly string[]][]).map(
    ([id, [epoch = "", mark = "", , texts = ""]]) => ({
      ...{ id, epoch, mark },
      texts: texts.split(between),
    }),
  );
}
