import type { LogStatus } from "../log.js";

/** An entry of a shared log, equal for every replica. */
export interface LogEntry {
  /** Its position, an opaque text. */
  readonly position: string;
  /** When it was stored, by the store's clock (epoch milliseconds); never before the previous entry. */
  readonly at: number;
  readonly text: string;
}

/** A replica's state at a position, as text. */
export interface LogSnapshot {
  readonly position: string;
  readonly text: string;
}

/** A replica, driven by the log. Its functions are synchronous and never throw. */
export interface LogFollower {
  /**
   * Starts from here, discarding earlier state. Called before the first entry, and again if the next entries were discarded or
   * the log was lost and founded again.
   */
  readonly start: (from: LogSnapshot) => void;
  /** Applies an entry. For this replica's own entries, the returned value resolves `append`. */
  readonly apply: (entry: LogEntry) => unknown;
  /** Called while the store is full, to make room with a snapshot. */
  readonly makeRoom?: () => void;
}

/** The result of an append to a log that was erased, or lost by its store. */
export const noLog = Symbol("no log");

/** A totally ordered log of one sandbox. Several replicas append to it and follow it. */
export interface SharedLog {
  /**
   * Starts to drive a replica: it gets each entry once and in order, including its own. Resolves when the replica has every
   * entry that was stored before the call. An instance's log resolves when the replica has started, or to `noLog`.
   */
  readonly follow: (follower: LogFollower) => Promise<unknown>;
  /**
   * Appends an entry, a text without control characters except line feeds. Resolves to the value that `apply` returned here, or
   * to `noLog`. Entries of one replica keep their order. Entries from the same event loop iteration are sent together.
   *
   * A full store accepts only entries that make room. Rejects with `store_unavailable` if the outcome is unknown: the entry may
   * still be stored, and is then applied.
   */
  readonly append: (text: string, how?: "making room") => Promise<unknown>;
  /**
   * Resolves once the replica has every entry that was stored before the call, or to `noLog`. Appends nothing, and rejects as
   * `append` does.
   */
  readonly sync: () => Promise<unknown>;
  /**
   * Stores the state at a position for late replicas, and discards entries up to the previous snapshot, so that a slightly
   * slower replica continues without a new start. With `last`, nobody uses the log, and all entries up to this snapshot are
   * discarded.
   */
  readonly keepSnapshot: (snapshot: LogSnapshot, how?: "last") => Promise<void>;
  readonly status: () => Pick<LogStatus, "latencyMs" | "entries">;
  /** Rejects the appends in progress, and stops following. */
  readonly close: () => Promise<void>;
}

/** The first state of a log. */
export interface FirstState {
  /** The earliest start of the log's time (epoch milliseconds). */
  readonly at: number;
  readonly text: string;
}

/** The log of a server. Each instance has its own log in the same store. */
export interface ServerLog extends SharedLog {
  /** Returns the log of an instance. Without a log yet, `first` returns its first state, or `undefined` if there was a log. */
  readonly inside: (id: string, first: () => FirstState | undefined) => SharedLog;
  /** Erases the log of an instance. */
  readonly erase: (id: string) => Promise<void>;
  readonly status: () => Pick<LogStatus, "reachable" | "latencyMs" | "entries" | "losses">;
}
