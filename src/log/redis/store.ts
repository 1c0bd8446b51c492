import { randomBytes } from "node:crypto";
import type { SandboxError } from "../../domain/errors.js";
import type { FirstState } from "../replica/shared-log.js";
import type { RedisLink, Reply } from "./link.js";

/** Two connections for all logs of a replica, of which one asks, and one listens; they break together. */
export interface Link {
  readonly asking: RedisLink;
  readonly listening: RedisLink;
}

/** The store as each of a replica's logs there uses it. */
export interface Store {
  readonly shown: string;
  /** Milliseconds after which an append is refused. */
  readonly timeout: number;
  /** `undefined` while the store is away. */
  readonly link: () => Link | undefined;
  /** Why an append is refused at once; `undefined`: it is not. */
  readonly refusal: () => SandboxError | undefined;
  readonly unavailable: (reason?: string) => SandboxError;
  /** Breaks the link off, and connects again. */
  readonly fail: (error: unknown, using: Link) => void;
  /** Called when a log finds no room, with the error, or room again. */
  readonly onRoom: (error?: unknown) => void;
  /** Called when the store has lost entries. */
  readonly onLoss: () => void;
  /** Runs something over a connection of its own: others are not to wait behind it, or lose their connection with it. */
  readonly aside: (run: (link: RedisLink) => Promise<Reply>) => Promise<Reply>;
}

/** What the script said that opens a log, and whether it has begun it. */
export interface Said {
  readonly said: readonly string[];
  readonly isBegun: boolean;
}

/** Which log it is. */
export interface LogPlace {
  /** The names of its keys: meta, log, snapshot. */
  readonly keys: readonly [string, string, string];
  /** Opens it; `open` begins it where there is none and a first state is given. */
  readonly begin: (open: (first?: FirstState) => Promise<Said>, using: Link) => Promise<Said>;
  /** Returns what has to be equal for all replicas. */
  readonly founding: () => string;
  /** Whether it is that of an instance, which may be erased. */
  readonly isInside: boolean;
}

/** A name that no other log or replica has. */
export function newEpoch(): string {
  return randomBytes(6).toString("base64url");
}
