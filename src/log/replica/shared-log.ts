import type { LogStatus } from "../log.js";

/** One entry of a shared log, as every replica gets it. */
export interface LogEntry {
  /** Its place; opaque. */
  readonly position: string;
  /** When it was stored, by the store's clock (epoch milliseconds); never before the entry that it follows. */
  readonly at: number;
  readonly text: string;
}

/** The state of a replica at a position, as text. */
export interface LogSnapshot {
  readonly position: string;
  readonly text: string;
}

/** The point from which a replica follows a log. */
export interface LogStart {
  /** When the log was begun, by the store's clock (epoch milliseconds). */
  readonly foundedAt: number;
  /** The newest snapshot; `undefined`: the log has every entry since it was begun. */
  readonly snapshot: LogSnapshot | undefined;
}

/** A replica, as the log drives it. Both functions are synchronous and throw nothing. */
export interface LogFollower {
  /**
   * Starts from here, whatever was applied before: called once before the first entry, and again when the entries that come
   * next are forgotten, or the log was lost and begun anew.
   */
  readonly start: (from: LogStart) => void;
  /** Applies one entry. What it returns for an entry of this replica's own resolves the `append`. */
  readonly apply: (entry: LogEntry) => unknown;
  /** Called while the store is full: a snapshot makes room. */
  readonly makeRoom?: () => void;
}

/**
 * A totally ordered log that several replicas append to and follow. Whoever opens it names its founding: a text that has to
 * be equal for all replicas.
 */
export interface SharedLog {
  /** Drives a replica from now on: each entry once and in order, own ones included. Resolves when it has what was stored when this was called. */
  readonly follow: (follower: LogFollower) => Promise<void>;
  /**
   * Appends an entry; resolves to what `apply` returned for it here. Entries of one replica keep their order, and those of
   * one turn of the event loop are sent together.
   *
   * A store that is full takes only entries that make room. Rejects with `store_unavailable` when it is not known to be stored; it may be stored nevertheless, and is applied then.
   */
  readonly append: (text: string, how?: "making room") => Promise<unknown>;
  /**
   * Keeps the state at a position for late replicas, and forgets the entries up to the snapshot before it: a replica that
   * is a little behind goes on, and is not started anew in the middle of its requests.
   */
  readonly keepSnapshot: (snapshot: LogSnapshot) => Promise<void>;
  readonly status: () => Pick<LogStatus, "reachable" | "latencyMs" | "entries" | "losses">;
  /** Rejects the appends that are under way, and follows no more. */
  readonly close: () => Promise<void>;
}
