import { type AdviceId, adviceIds } from "../domain/advice.js";
import { outcomes, type PathId } from "../domain/outcomes.js";
import { entryOf, type JournalEntry, type RequestNote } from "./journal.js";

/** A key as it may be shown: its ref, when it is one of the world, and its fingerprint (R46). */
export type ShownKey = Pick<JournalEntry, "key" | "fingerprint">;

/**
 * A request that earned an advice; holds no key (R46). Its `key` and `fingerprint` are those of the key that the advice is
 * about: of one in the query, that one rather than what came in the header.
 */
export type AdviceExample = Pick<JournalEntry, "id" | "at" | "method" | "path"> & ShownKey;

/** The number of times that an advice was earned, and the first requests that earned it. */
export interface AdviceCount {
  readonly count: number;
  readonly examples: readonly AdviceExample[];
}

/** The counts of every path and every advice, zeros included. */
export interface Counts {
  readonly requests: number;
  readonly paths: Readonly<Record<PathId, number>>;
  readonly advice: Readonly<Record<AdviceId, AdviceCount>>;
}

/** Counts requests by path and by advice; unlike the journal it forgets none. It is about the client, not the world. */
export interface Counters {
  /**
   * Counts a request; one that a fault let wait counts for its path and for the fault. `idOf` gives its id, and `keys` the
   * key that an advice is about where it is not the one that was presented.
   */
  readonly count: (
    note: RequestNote,
    idOf: (number: number) => string,
    keys?: Readonly<Partial<Record<AdviceId, ShownKey>>>,
  ) => void;
  /** Counts everything there, too. */
  readonly passOnTo: (others: Counters) => void;
  /** A copy of the counts since the start or the last `clear`. */
  readonly read: () => Counts;
  /** Starts anew; what was passed on stays counted there. */
  readonly clear: () => void;
  /** The options that curl needs to reach the server, set by the server. Default: none. */
  curlOptions: string;
}

const mostExamples = 5;

export function createCounters(): Counters {
  // Boxes, because writing into a map takes longer than reading from it.
  const paths = new Map<PathId, { count: number }>(outcomes.map(({ path }) => [path, { count: 0 }]));
  const advice = new Map(adviceIds.map((id) => [id, { count: 0, examples: [] as AdviceExample[] }]));
  let requests = 0;
  let others: Counters | undefined;

  const countPath = (pathId: PathId) => {
    const box = paths.get(pathId);
    if (box !== undefined) box.count += 1;
  };
  return {
    curlOptions: "",
    count(note, idOf, keys) {
      requests += 1;
      countPath(note.pathId);
      if (note.fault !== null && note.fault !== note.pathId) countPath(note.fault);
      for (const id of note.advice) {
        const row = advice.get(id) as { count: number; examples: AdviceExample[] };
        row.count += 1;
        if (row.examples.length === mostExamples) continue;
        const { id: requestId, at, method, path, key, fingerprint } = entryOf(note, idOf);
        row.examples.push({ id: requestId, at, method, path, key, fingerprint, ...keys?.[id] });
      }
      others?.count(note, idOf, keys);
    },
    passOnTo(next) {
      others = next;
    },
    read: () => ({
      requests,
      paths: Object.fromEntries([...paths].map(([id, { count }]) => [id, count])) as Counts["paths"],
      advice: Object.fromEntries(
        [...advice].map(([id, { count, examples }]) => [id, { count, examples: [...examples] }]),
      ) as unknown as Counts["advice"],
    }),
    clear() {
      requests = 0;
      for (const box of paths.values()) box.count = 0;
      for (const row of advice.values()) Object.assign(row, { count: 0, examples: [] });
    },
  };
}
