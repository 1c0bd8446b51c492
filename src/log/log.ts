import { base62From } from "../domain/seed.js";
import type { ApiRequest, Exchange } from "../history/exchange.js";
import { nodePlatform } from "../node/platform.js";
import type { Actor } from "../world/operations/initiator.js";
import type { Runtime } from "../world/runtime.js";
import type { World } from "../world/world.js";
import type { EventIds } from "./event-ids.js";
import type { Instance, InstanceList, LoadedInstances, ServerSandboxes, ServerState } from "./instances.js";
import type { MemoryStatus } from "./memory-budget.js";

/** The sandbox that a request or a call is about: the server's own, or one of its instances. */
export interface Place {
  readonly runtime: Runtime;
  /** The id of the instance; `undefined` for the server's own sandbox. */
  readonly instance: string | undefined;
}

/** Who makes a call: in which sandbox, and by which base URL the caller reaches this server. */
export interface Caller extends Place {
  readonly baseUrl: () => string;
}

/** A call to the control plane as plain data, checked by its route. */
export interface ControlCall {
  /** Method and path of its route: `POST /keys/{ref}/rotate`. */
  readonly route: string;
  readonly actor: Actor;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** A text where it was sent as YAML. */
  readonly body: unknown;
  readonly isYaml: boolean;
  /** The name of the caller, where a trusted proxy has signed them in. */
  readonly owner?: string | undefined;
  /** What it may make that is random. Default: nothing. */
  readonly makes?: "key" | "instance" | "token" | undefined;
}

/** A secret that a call makes, of which only the hash is kept. */
export interface NewSecret {
  /** Empty on a replica other than the caller's. */
  readonly text: string;
  readonly sha256: string;
}

/** The sandbox that a call runs in. */
export interface ControlPlace {
  readonly runtime: Runtime;
  /** The server's instances; `undefined` inside an instance. */
  readonly instances: InstanceList | undefined;
  /** Whether the call is about an instance that was removed in between. */
  readonly isGone: boolean;
  /** Returns the base URL by which the caller reaches the server. */
  readonly baseUrl: () => string;
  /** Makes the token of an instance, or the code for a token. */
  readonly newSecret: () => NewSecret;
}

/** Makes a secret of 190 bits. */
export function newSecret(): NewSecret {
  const text = base62From(nodePlatform.random, 32);
  return { text, sha256: nodePlatform.sha256(text) };
}

/** The place of a caller in this process, with the server's instances. */
export function placeOf({ runtime, instance, baseUrl }: Caller, instances: InstanceList): ControlPlace {
  return {
    runtime,
    instances: instance === undefined ? instances : undefined,
    isGone: false,
    baseUrl,
    newSecret,
  };
}

/** Runs a call of the control plane, or reads for one. */
export type RunIn = (place: ControlPlace) => unknown;

/** The state of a shared store, for health checks and metrics. */
export interface LogStatus {
  /** Whether the store answered the last time. */
  readonly reachable: boolean;
  /** Milliseconds that the last append took. */
  readonly latencyMs: number;
  /** The entries applied since the snapshot that a late replica starts from. */
  readonly entries: number;
  /** How often the store has lost data since this server was started. */
  readonly losses: number;
  /** The characters of those entries. */
  readonly characters: number;
  /** The characters of the newest snapshot that was made here, and the milliseconds for which nothing else was done; 0: none. */
  readonly snapshotCharacters: number;
  readonly snapshotMs: number;
}

/**
 * The order in which everything happens to the sandboxes of a server, and where it is kept: in memory, in a file, or in a
 * store that several servers share. With a store each function returns a promise that rejects with `store_unavailable`
 * when the outcome is not known.
 */
export interface Log extends ServerSandboxes {
  /** For reading. With a store, nothing else may change it. */
  readonly runtime: Runtime;
  readonly instances: InstanceList & LoadedInstances;
  /** The instance of an id, which counts as a use of it; `undefined` when there is none. */
  readonly enter: (id: string) => Instance | undefined | Promise<Instance | undefined>;
  /** Whether a request to a world may meet the preview by the time it is handled. */
  readonly mayPreview: (world: World) => boolean;
  /** Handles a request to the API. */
  readonly request: (request: ApiRequest, place: Place) => Exchange | Promise<Exchange>;
  /** Counts a response, by its request id, whose client had gone. */
  readonly countUnread: (place: Place, id: string) => void;
  /**
   * Runs a call of the control plane that may change something. `run` is what the route does. Throws `memory_limit_reached`
   * when there is no room for what it makes.
   */
  readonly call: (call: ControlCall, run: RunIn, from: Caller) => unknown;
  /** Calls `read` when everything has happened that any server has acknowledged. */
  readonly look: (read: RunIn, from: Caller) => unknown;
  /** The ids of a sandbox's events, from its first follower on. */
  readonly eventIds: (runtime: Runtime) => EventIds;
  /** Whether what happens at the moment was requested from this server, and not from another one with the same store. */
  readonly isOwn: () => boolean;
  /** Lets everything happen that is due: steps of timelines, the end of idle instances. */
  readonly settle: () => void;
  /** Requests are accepted from now on: what happens is kept. Throws `state_unwritable`. */
  readonly begin: () => void;
  /** The state of the store; `undefined` without one. */
  readonly status: () => LogStatus | undefined;
  /** Everything as plain data: the server's own sandbox and all instances, wherever they are. It is no use of them. */
  readonly describe: () => ServerState | Promise<ServerState>;
  /** The memory of this server. */
  readonly memory: () => MemoryStatus;
  /** Keeps what is not kept yet, and nothing after that. Throws `state_unwritable`. */
  readonly close: () => void | Promise<void>;
}
