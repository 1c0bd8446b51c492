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

/** What an append resolves to if there is no such log: it was erased, or lost by its store. */
export const noLog = Symbol("no log");

/** A totally ordered log of one sandbox that several replicas append to and follow. */
export interface SharedLog {
  /**
   * Drives a replica from now on: each entry once and in order, own ones included. Resolves when it has what was stored when
   * this was called; for the log of an instance when it has started, and to `noLog` if there is none.
   */
  readonly follow: (follower: LogFollower) => Promise<unknown>;
  /**
   * Appends an entry, a text without control characters but for line feeds; resolves to what `apply` returned for it here, or to `noLog`. Entries of one replica keep their order,
   * and those of one turn of the event loop are sent together.
   *
   * A store that is full takes only entries that make room. Rejects with `store_unavailable` when it is not known to be stored; it may be stored nevertheless, and is applied then.
   */
  readonly append: (text: string, how?: "making room") => Promise<unknown>;
  /**
   * Keeps the state at a position for late replicas, and forgets the entries up to the snapshot before it: a replica that
   * is a little behind goes on, and is not started anew in the middle of its requests. `last`: nobody uses the log, and all
   * entries up to this snapshot are forgotten.
   */
  readonly keepSnapshot: (snapshot: LogSnapshot, how?: "last") => Promise<void>;
  readonly status: () => Pick<LogStatus, "latencyMs" | "entries">;
  /** Rejects the appends that are under way, and follows no more. */
  readonly close: () => Promise<void>;
}

/** The first state of an instance. */
export interface FirstState {
  /** The log's time begins here at the earliest (epoch milliseconds). */
  readonly at: number;
  readonly text: string;
}

/**
 * The log of a server, beside which each of its instances has one in the same store. Whoever opens it names its founding: a
 * text that has to be equal for all replicas.
 */
export interface ServerLog extends SharedLog {
  /** The log of an instance, which is begun with `first` if there is none; `undefined`: it has been begun. */
  readonly inside: (id: string, first: () => FirstState | undefined) => SharedLog;
  /** Leaves nothing of the log of an instance. */
  readonly erase: (id: string) => Promise<void>;
  readonly status: () => Pick<LogStatus, "reachable" | "latencyMs" | "entries" | "losses">;
}
