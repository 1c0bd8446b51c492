import { type AdviceId, adviceIds } from "../../spec/advice.js";
import { outcomeOf, outcomes, type PathId } from "../../spec/outcomes.js";
import type { Exchange } from "./exchange.js";

// Counts requests by path and advice for the report, and the usage of each key for its limits.

/** A key for display: its ref if it is known, and its fingerprint (R46). */
export type ShownKey = Pick<Exchange, "key" | "fingerprint">;

/**
 * A request that caused advice; contains no key (R46). `key` and `fingerprint` identify the key that the advice is about,
 * such as one in the query rather than the one in the header.
 */
export type AdviceExample = Pick<Exchange, "id" | "at" | "method" | "path"> & ShownKey;

/** How often requests caused an advice, and the first of them. */
export interface AdviceCount {
  readonly count: number;
  readonly examples: readonly AdviceExample[];
}

/** The number of requests that ended on a path. */
interface PathCount {
  /** For a promised path, excludes requests to endpoints of the preview. */
  readonly count: number;
  readonly previewCount: number;
  /** Whether a request ended here other than by a misplaced key. */
  readonly isMet: boolean;
}

/** How often a key was resent after a path rejected it, and was rejected there again. */
export interface RepeatCount extends ShownKey {
  readonly pathId: PathId;
  readonly count: number;
}

/** The counts of every path and every advice, zeros included. */
export interface Counts {
  readonly requests: number;
  readonly unread: number;
  readonly paths: Readonly<Record<PathId, PathCount>>;
  readonly advice: Readonly<Record<AdviceId, AdviceCount>>;
  /** By path and key; the first hundred. */
  readonly repeats: readonly RepeatCount[];
}

/** Counts requests by path and by advice. Unlike the journal, it discards none; a reset keeps the counts. */
export interface Counters {
  /**
   * Counts a request; a request delayed by a fault counts for its path and for the fault. `keys` contains the key that an
   * advice is about, if it differs from the presented key.
   */
  readonly count: (exchange: Exchange, keys?: Readonly<Partial<Record<AdviceId, ShownKey>>>) => void;
  /** Counts a response that a fault delayed until its client had gone. */
  readonly countUnread: () => void;
  /** Counts every later request there as well. */
  readonly passOnTo: (others: Pick<Counters, "count" | "countUnread">) => void;
  /** Adds counts from elsewhere, without passing them on. */
  readonly add: (counts: Counts) => void;
  /** Returns the counts since the start or the last `clear`. */
  readonly read: () => Counts;
  /** Starts again from zero; counts that were passed on remain. */
  readonly clear: () => void;
  /** Replaces the counts, without passing them on. */
  readonly restore: (counts: Counts) => void;
  /** Options that curl needs to reach the server, which sets them. Default: none. */
  curlOptions: string;
}

const mostExamples = 5;
const mostRepeats = 100;
const notCounted: PathCount = { count: 0, previewCount: 0, isMet: false };

interface AdviceRow {
  count: number;
  readonly examples: AdviceExample[];
}

export function createCounters(): Counters {
  // Mutable rows, because writing to a map takes longer than reading. Each is created on its first count.
  const paths = new Map<PathId, { count: number; previewCount: number; isMet: boolean }>();
  const advice = new Map<AdviceId, AdviceRow>();
  const repeats = new Map<string, RepeatCount>();
  let requests = 0;
  let unread = 0;
  let others: Pick<Counters, "count" | "countUnread"> | undefined;

  const countPath = (pathId: PathId, isMet: boolean, isPreview: boolean) => {
    let box = paths.get(pathId);
    if (box === undefined) {
      box = { ...notCounted };
      paths.set(pathId, box);
    }
    if (isPreview) {
      box.previewCount += 1;
      if (outcomeOf(pathId).promised) return;
    }
    box.count += 1;
    box.isMet ||= isMet;
  };
  const rowOf = (id: AdviceId) => {
    let row = advice.get(id);
    if (row === undefined) {
      row = { count: 0, examples: [] };
      advice.set(id, row);
    }
    return row;
  };
  const countRepeat = ({ pathId, key, fingerprint, count }: RepeatCount) => {
    const id = `${pathId} ${fingerprint}`;
    const known = repeats.get(id);
    if (known === undefined && repeats.size === mostRepeats) return;
    repeats.set(id, { pathId, key, fingerprint, count: (known?.count ?? 0) + count });
  };
  return {
    curlOptions: "",
    count(exchange, keys) {
      const { pathId, fault, isPreview, advice: earned } = exchange;
      requests += 1;
      countPath(pathId, !isByMistake(exchange), isPreview);
      if (fault !== null && fault !== pathId) countPath(fault, true, isPreview);
      if (exchange.isResent) countRepeat({ ...exchange, count: 1 });
      for (const id of earned) countAdvice(rowOf(id), exchange, keys?.[id]);
      others?.count(exchange, keys);
    },
    countUnread() {
      unread += 1;
      others?.countUnread();
    },
    passOnTo(next) {
      others = next;
    },
    add(counts) {
      requests += counts.requests;
      unread += counts.unread;
      for (const [id, { count, previewCount, isMet }] of Object.entries(counts.paths)) {
        const box = paths.get(id as PathId) ?? { ...notCounted };
        box.count += count;
        box.previewCount += previewCount;
        box.isMet ||= isMet;
        paths.set(id as PathId, box);
      }
      for (const [id, { count, examples }] of Object.entries(counts.advice)) {
        const row = rowOf(id as AdviceId);
        row.count += count;
        row.examples.push(...examples.slice(0, mostExamples - row.examples.length));
      }
      counts.repeats.forEach(countRepeat);
    },
    read: () => ({
      requests,
      unread,
      paths: Object.fromEntries(
        outcomes.map(({ path }) => [path, { ...notCounted, ...paths.get(path) }]),
      ) as Counts["paths"],
      advice: Object.fromEntries(
        adviceIds.map((id) => {
          const { count, examples } = advice.get(id) ?? { count: 0, examples: [] };
          return [id, { count, examples: [...examples] }];
        }),
      ) as unknown as Counts["advice"],
      repeats: [...repeats.values()],
    }),
    clear() {
      requests = 0;
      unread = 0;
      paths.clear();
      advice.clear();
      repeats.clear();
    },
    restore(counts) {
      this.clear();
      this.add(counts);
    },
  };
}

function countAdvice(row: AdviceRow, exchange: Exchange, shown?: ShownKey): void {
  row.count += 1;
  if (row.examples.length === mostExamples) return;
  const { id, at, method, path, key, fingerprint } = exchange;
  row.examples.push({ id, at, method, path, key, fingerprint, ...shown });
}

// A client that sends its key in the wrong header, or with other text, gets 401 by mistake.
function isByMistake({ pathId, advice }: Exchange): boolean {
  const hasNoKey = pathId === "401.missing" || pathId === "401.malformed";
  return hasNoKey && advice.includes("key-in-authorization");
}
