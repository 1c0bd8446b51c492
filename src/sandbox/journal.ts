import type { PathId } from "../domain/outcomes.js";

/** One request as the journal remembers it. Holds no key: a ref and a fingerprint instead (R46). */
export interface JournalEntry {
  /** The request id, whether or not the answer carried it. */
  readonly id: string;
  /** Epoch milliseconds on the sandbox's clock. */
  readonly at: number;
  readonly method: string;
  /** Without its query, and with everything that looks like a key cut short. */
  readonly path: string;
  /** The ref of the key, when it is one of this world. */
  readonly key: string | null;
  /** The first 12 hex digits of the SHA-256 of what was presented as the key. */
  readonly fingerprint: string | null;
  readonly status: number;
  /** The API's error code. */
  readonly code: string | null;
  readonly pathId: PathId;
  /** Milliseconds that the answer took. */
  readonly durationMs: number;
}

/** Which entries to list. */
export interface JournalQuery {
  /** At most this many, the latest ones. Default: all. */
  readonly limit?: number;
  readonly pathId?: string;
  /** A key's ref. */
  readonly key?: string;
}

/** What happened, request by request; keeps the last `capacity` of them. */
export interface Journal {
  readonly record: (entry: JournalEntry) => void;
  /** Oldest first; copies. */
  readonly list: (query?: JournalQuery) => JournalEntry[];
  /** How many requests were recorded since the start or the last `clear`, those that fell out included. */
  readonly total: () => number;
  readonly clear: () => void;
}

export const defaultJournalCapacity = 1000;

/** Makes an empty journal: a ring, so that memory stays flat however long the sandbox runs. */
export function createJournal(capacity: number = defaultJournalCapacity): Journal {
  let ring: JournalEntry[] = [];
  let next = 0;
  let total = 0;
  return {
    record(entry) {
      ring[next] = entry;
      next = next + 1 === capacity ? 0 : next + 1;
      total += 1;
    },
    list({ limit, pathId, key } = {}) {
      const inOrder = total > capacity ? [...ring.slice(next), ...ring.slice(0, next)] : ring;
      const matching = inOrder.filter(
        (entry) =>
          (pathId === undefined || entry.pathId === pathId) && (key === undefined || entry.key === key),
      );
      const chosen = limit === undefined ? matching : matching.slice(Math.max(0, matching.length - limit));
      return chosen.map((entry) => ({ ...entry }));
    },
    total: () => total,
    clear() {
      ring = [];
      next = 0;
      total = 0;
    },
  };
}
