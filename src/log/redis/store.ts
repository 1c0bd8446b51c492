import { randomBytes } from "node:crypto";
import type { SandboxError } from "../../domain/errors.js";
import type { FirstState } from "../replica/shared-log.js";
import type { RedisLink, Reply } from "./link.js";

/** Two connections for all logs of a replica: one sends calls, the other listens. If one breaks, both close. */
export interface Link {
  readonly asking: RedisLink;
  readonly listening: RedisLink;
}

/** The store, for each log of a replica. */
export interface Store {
  readonly shown: string;
  /** Milliseconds before an append is rejected. */
  readonly timeout: number;
  /** `undefined` while the store is away. */
  readonly link: () => Link | undefined;
  /** Returns the error that immediately rejects every append; `undefined` if appends are possible. */
  readonly refusal: () => SandboxError | undefined;
  readonly unavailable: (reason?: string) => SandboxError;
  /** Closes the link, and connects again. */
  readonly fail: (error: unknown, using: Link) => void;
  /** Called with the error if a log has no room, and without an error once it has room again. */
  readonly onRoom: (error?: unknown) => void;
  /** Called if the store lost entries. */
  readonly onLoss: () => void;
  /** Runs a slow command over its own connection, so that it delays or breaks no others. */
  readonly aside: (run: (link: RedisLink) => Promise<Reply>) => Promise<Reply>;
}

/** The reply of the script that opens a log, and whether it founded the log. */
export interface Said {
  readonly said: readonly string[];
  readonly isBegun: boolean;
}

/** Identifies a log. */
export interface LogPlace {
  /** Its key names: meta, log, snapshot. */
  readonly keys: readonly [string, string, string];
  /** Opens the log; `open` founds it if it is missing and gets a first state. */
  readonly begin: (open: (first?: FirstState) => Promise<Said>, using: Link) => Promise<Said>;
  /** Returns what must be equal for all replicas. */
  readonly founding: () => string;
  /** Whether it is an instance's log, which may be erased. */
  readonly isInside: boolean;
}

/** Creates a unique name for a log or a replica. */
export function newEpoch(): string {
  return randomBytes(6).toString("base64url");
}
