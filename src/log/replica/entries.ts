import type { Environment } from "../../domain/api-key.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { Counts } from "../../world/counters.js";
import type { ListedInstance } from "../instances.js";
import type { ControlCall } from "../log.js";
import type { MaskedRequest } from "./mask.js";

/** What every replica needs to know of a key that a call may make: its SHA-256 in either environment, never the key. */
export type NewKeyHashes = Readonly<Record<Environment, string>>;

/** What a replica reports of the instances that it has served, at most once a second. */
export interface InstanceReport {
  readonly kind: "report";
  /** The replica and its number there: a report is sent again when it is not known whether it was stored. */
  readonly from: string;
  readonly number: number;
  /** The instances that were used, with their scenario if it has changed. */
  readonly used: Readonly<Record<string, Pick<ListedInstance, "name" | "seed"> | null>>;
  /** The requests to them, for the server's report. */
  readonly counts?: Counts | undefined;
  /** Those whose log has been begun, and those whose log is erased. */
  readonly begun: readonly string[];
  readonly erased: readonly string[];
}

/** What an entry of the server's log may be about besides its own sandbox: its instances, or its scenario. */
export type ServerContent =
  | InstancesContent
  /** The server's scenario has more organizations and keys now than the one with the hash `from`. */
  | ({ readonly kind: "extend"; readonly from: string } & NamedScenario);

/** What an entry may be about the list of instances. */
export type InstancesContent =
  | InstanceReport
  /** Instances that are over go. */
  | { readonly kind: "sweep"; readonly ttl: number }
  /** The store has lost the log of an instance. */
  | { readonly kind: "lost"; readonly id: string };

/** What one entry of the log of a sandbox is about. */
export type EntryContent =
  | {
      readonly kind: "request";
      readonly request: MaskedRequest;
      /** The name of its connection, and the repeats that show a loop on it; `null` for infinitely many. */
      readonly connection?: readonly [name: string, repeatsOfLoop: number | null] | undefined;
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
  /** The journal has at most so many bytes from here on: those of all instances that a replica has loaded are too many. */
  | { readonly kind: "discard"; readonly most: number }
  /** Everything goes on from a snapshot, when there were at least so many entries since the last one. */
  | { readonly kind: "compact"; readonly least: number }
  | ServerContent;

/** An entry with the replica that appended it. */
export type Entry = EntryContent & {
  readonly by: string;
  /** Its number among the entries of that replica. */
  readonly n: number;
};
