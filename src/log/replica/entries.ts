import type { Environment } from "../../domain/api-key.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { Counts } from "../../world/counters.js";
import type { ListedInstance } from "../instances.js";
import type { ControlCall } from "../log.js";
import type { MaskedRequest } from "./mask.js";

/** The SHA-256 of a key that a call may create, for each environment; never the key. */
export type NewKeyHashes = Readonly<Record<Environment, string>>;

/** A replica's report on the instances that it served, at most once a second. */
export interface InstanceReport {
  readonly kind: "report";
  /** The replica and its report number: a report is sent again if it is unknown whether it was stored. */
  readonly from: string;
  readonly number: number;
  /** The used instances, with their scenario if it changed. */
  readonly used: Readonly<Record<string, Pick<ListedInstance, "name" | "seed"> | null>>;
  /** Their requests, for the server's report. */
  readonly counts?: Counts | undefined;
  /** The instances whose logs were founded, and those whose logs were erased. */
  readonly begun: readonly string[];
  readonly erased: readonly string[];
}

/** An entry that only the server's log contains: about its instances, or its scenario. */
export type ServerContent =
  | InstancesContent
  /** Adds new organizations and keys to the scenario with the hash `from`. */
  | ({ readonly kind: "extend"; readonly from: string } & NamedScenario);

/** An entry about the list of instances. */
export type InstancesContent =
  | InstanceReport
  /** Removes expired and idle instances. */
  | { readonly kind: "sweep"; readonly ttl: number }
  /** The store lost the log of an instance. */
  | { readonly kind: "lost"; readonly id: string };

/** The content of an entry in a sandbox's log. */
export type EntryContent =
  | { readonly kind: "request"; readonly request: MaskedRequest }
  | {
      readonly kind: "call";
      readonly call: ControlCall;
      readonly newKey?: NewKeyHashes;
      readonly newId?: string;
      /** The SHA-256 of secrets that it may create, other than keys. */
      readonly newSecrets?: readonly string[];
    }
  /** A read, which advances time. Only its own replica uses the result. */
  | { readonly kind: "look" }
  /** A client did not wait for a response that a fault delayed. */
  | { readonly kind: "unread"; readonly id: string }
  /** Shortens the journal to `most` bytes, because a replica's loaded instances have too much in total. */
  | { readonly kind: "discard"; readonly most: number }
  /** Continues from a snapshot, if there were at least `least` entries since the last one. */
  | { readonly kind: "compact"; readonly least: number }
  | ServerContent;

/** An entry with the replica that appended it. */
export type Entry = EntryContent & {
  readonly by: string;
  /** Its number among the replica's entries. */
  readonly n: number;
};
