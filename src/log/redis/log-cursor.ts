import type { LogFollower, LogSnapshot } from "../replica/shared-log.js";
import type { Reply } from "./link.js";

/** Entries that one replica appended together, as Redis keeps them. */
export interface StoredBatch {
  /** `<epoch milliseconds>-<number of its last entry>`. */
  readonly id: string;
  readonly epoch: string;
  /** `<replica> <number of the batch>`. */
  readonly mark: string;
  readonly texts: readonly string[];
}

/** Where a replica is in a log. */
export type LogCursor = ReturnType<typeof createLogCursor>;

/** Makes a cursor. `onOutcome` gets what came of each entry: its batch, and its place there. */
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
    /** The position of the last entry that it has; empty: none, not even a start. */
    at: () => at,
    /** The number of that entry. */
    number: () => number,
    /** Starts the replica from here. */
    start(begun: string, foundedAt: number, snapshot: LogSnapshot | undefined): void {
      [epoch, at] = [begun, snapshot?.position ?? `${foundedAt}-0`];
      number = numberOf(at);
      follower.start({ foundedAt, snapshot });
    },
    /**
     * Applies batches that were found behind a number; those that another connection has brought already are left out.
     *
     * `false`: they do not follow what the replica has, and what it has is not what the log has.
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

/** The number of an entry, from its position or from the id of a batch that ends with it. */
export function numberOf(position: string): number {
  return Number(position.slice(position.indexOf("-") + 1));
}

/** Stands between the texts of a batch, and in none of them. */
export const between = "\u001e";

/** Reads batches as Redis returns them. */
export function batchesOf(found: readonly Reply[]): StoredBatch[] {
  return (found as readonly [string, readonly string[]][]).map(
    ([id, [epoch = "", mark = "", , texts = ""]]) => ({
      ...{ id, epoch, mark },
      texts: texts.split(between),
    }),
  );
}
