import type { Environment } from "../../domain/api-key.js";
import type { ControlCall } from "../log.js";
import type { MaskedRequest } from "./mask.js";

/** What every replica needs to know of a key that a call may make: its SHA-256 in either environment, never the key. */
export type NewKeyHashes = Readonly<Record<Environment, string>>;

/** What one entry of the log is about. */
export type EntryContent =
  | {
      readonly kind: "request";
      readonly request: MaskedRequest;
      /** The name of its connection, and the repeats that show a loop on it; `null` for infinitely many. */
      readonly connection?: readonly [name: string, repeatsOfLoop: number | null];
    }
  | {
      readonly kind: "call";
      readonly call: ControlCall;
      readonly newKey?: NewKeyHashes;
      readonly newId?: string;
      /** The SHA-256 of the secrets that it may make besides a key. */
      readonly newSecrets?: readonly string[];
    }
  /** Somebody looks, for which time goes on; what comes of it concerns the one who looks alone. */
  | { readonly kind: "look" }
  /** An answer that a fault let wait did not find its client any more. */
  | { readonly kind: "unread"; readonly id: string }
  /** Idle instances go. */
  | { readonly kind: "sweep"; readonly ttl: number }
  /** A replica has little memory left: the journals of the least used instances go, half of all. */
  | { readonly kind: "discard" }
  /** Everything goes on from a snapshot, when there were at least so many entries since the last one. */
  | { readonly kind: "compact"; readonly least: number };

/** An entry with the instance that it is for, none being the server's own sandbox, and the replica that appended it. */
export type Entry = EntryContent & {
  readonly instance?: string | undefined;
  readonly by: string;
  /** Its number among the entries of that replica. */
  readonly n: number;
};
