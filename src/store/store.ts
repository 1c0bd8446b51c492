import type { MemoryStatus } from "../node/memory.js";
import type { ApiRequest } from "../rules/request.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { EndedInstance, Instance, Instances, ServerState } from "./instances.js";

/** The target of a request or a call: the server's own sandbox, or an instance. */
export interface SandboxPlace {
  readonly sandbox: SandboxState;
  readonly instance?: string | undefined;
}

export interface CallOrigin extends SandboxPlace {
  readonly baseUrl: () => string;
}

export interface ControlPlace {
  readonly sandbox: SandboxState;
  /** The server's instances; `undefined` inside an instance. */
  readonly instances: Instances | undefined;
  readonly baseUrl: () => string;
}

export function controlPlace({ instance, ...place }: CallOrigin, instances?: Instances): ControlPlace {
  return { ...place, instances: instance === undefined ? instances : undefined };
}

export type RunIn = (place: ControlPlace) => unknown;

/** What a call may do: only read, also change its sandbox, or also change the list of instances. */
export type CallKind = "read" | "change" | "list";

/** The state of the place where sandboxes are stored, for health checks and metrics. */
export interface StoreStatus {
  readonly in: "store" | "file";
  /** Why changes cannot be stored now, as a sentence; `undefined` if they can. */
  readonly problem: string | undefined;
  /** Whether another server has taken over the file: this one's changes are lost. */
  readonly isTaken?: boolean;
  /** The instances whose file cannot be read: each request to them gets 500 with the reason. */
  readonly broken?: readonly { readonly id: string; readonly reason: string }[];
  /** The milliseconds since the oldest request or change that is not in its file. */
  readonly unsavedFor?: number;
  readonly isFull: boolean;
  readonly reachable: boolean;
  /** The bytes of all sandboxes there, as of a few seconds ago. */
  readonly bytes: number;
  /** How often a store lost data since this server started. */
  readonly losses: number;
}

/**
 * Orders and stores everything that happens to the sandboxes of a server: in memory, in a file, or in a store that several
 * servers share. With a store, functions return promises, which reject with `store_unavailable` if the outcome is unknown.
 */
export interface Store {
  /** The server's own sandbox, for reading. With Redis, only the store may change it. */
  readonly sandbox: SandboxState;
  readonly instances: Instances;
  /** Returns the instance of an id and counts this as a use, or when it ended; `undefined` if there was none. */
  readonly enter: (id: string) => Entered | Promise<Entered>;
  readonly request: (request: ApiRequest, place: SandboxPlace) => Exchange | Promise<Exchange>;
  /** Counts a response whose client had gone, by its request id. */
  readonly countUnread: (place: SandboxPlace, id: string) => void;
  /** Runs a call after applying everything that any server has acknowledged. A change may run more than once until it is stored. */
  readonly run: (kind: CallKind, act: RunIn, from: CallOrigin) => unknown;
  /** Runs everything that is due: timeline steps, and the removal of idle instances. */
  readonly runDue: () => void;
  /** Starts storing what happens, before the server accepts requests. Throws `state_unwritable`. */
  readonly begin: () => void | Promise<void>;
  readonly status: () => StoreStatus | undefined;
  /** Describes the server's own sandbox and all instances, loaded or not. Does not count as a use. */
  readonly describe: () => ServerState | Promise<ServerState>;
  readonly memory: () => MemoryStatus;
  /** Stores everything that is not stored yet, and nothing after that. Throws `state_unwritable`. */
  readonly close: () => void | Promise<void>;
}

export type Entered = Instance | EndedInstance | undefined;

export function statesOf({ sandbox, instances }: Pick<Store, "sandbox" | "instances">): SandboxState[] {
  return [sandbox, ...instances.loaded().map((one) => one.sandbox)];
}
