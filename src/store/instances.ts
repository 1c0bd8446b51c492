import { nodePlatform } from "../node/platform.js";
import { SandboxError } from "../rules/errors.js";
import { base62From } from "../rules/seed.js";
import { isoOf } from "../sandbox/clock.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import type { SavedSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import type { AccountLimits } from "./account.js";

export interface Tenancy {
  readonly label?: string | undefined;
  /** The SHA-256 of the instance's token. Default: only the server's token grants access. */
  readonly tokenHash?: string | undefined;
  /** The SHA-256 of the latest link's code, which can be exchanged once for its token. */
  readonly claimHash?: string | undefined;
  /** When the code was exchanged (epoch milliseconds); `undefined` before. */
  readonly claimedAt?: number | undefined;
  /** When it is removed (epoch milliseconds), even if in use. Default: after its idle time. */
  readonly expiresAt?: number | undefined;
  /** The limit of requests in a minute, over all keys. Default: no limit. */
  readonly requestsPerMinute?: number | undefined;
  /** The SHA-256 of the call with an `Idempotency-Key` that made it. Default: none. */
  readonly madeBy?: string | undefined;
}

/** A list entry for an isolated sandbox of a server, served under `/i/{id}`. */
export interface ListedInstance {
  readonly id: string;
  readonly tenancy: Tenancy;
  /** On the wall clock (epoch milliseconds). */
  readonly createdAt: number;
  /** Milliseconds since its last use. */
  readonly idle: number;
  readonly name: string;
  readonly seed: number;
}

export interface Instance extends ListedInstance {
  readonly sandbox: SandboxState;
  /** Aborted when it is removed or the server stops. */
  readonly gone: AbortSignal;
}

/** An instance that was removed or has expired, and when (epoch milliseconds). */
export interface EndedInstance {
  readonly ended: "removed" | "expired";
  readonly at: number;
}

/** The instances of a server. With a store, the functions about all of them return promises. */
export interface Instances extends Omit<LoadedInstances, "add" | "use" | "remove"> {
  /**
   * Starts an instance from a scenario; `given` applies to every scenario that starts there. Returns the instance with the `id`
   * if there is one. Throws `instance_limit_reached` or `memory_limit_reached`.
   */
  readonly create: (
    source: NamedScenario,
    given: GivenOptions,
    tenancy?: Tenancy,
    id?: string,
  ) => Instance | Promise<Instance>;
  readonly list: () => readonly ListedInstance[] | Promise<readonly ListedInstance[]>;
  /** Returns the instance of an id, loaded or not; `undefined` for an unknown id. */
  readonly get: (id: string) => ListedInstance | undefined | Promise<ListedInstance | undefined>;
  readonly remove: (id: string) => void | Promise<void>;
  /** Changes the hashes of an instance. Throws `not_found`, or what `check` throws for its current settings. */
  readonly changeHashes: (
    id: string,
    hashes: Pick<Tenancy, "tokenHash" | "claimHash" | "claimedAt">,
    check?: (tenancy: Tenancy | undefined) => void,
  ) => ListedInstance | Promise<ListedInstance>;
  /** The number of instances; with a store, as of a few seconds ago. */
  readonly count: () => number;
  /** Calls the listener with each instance that expires. With a store, one of its servers does so. */
  readonly onExpired: (listener: (instance: Pick<ListedInstance, "id" | "tenancy">) => void) => void;
}

export interface InstanceLimits {
  /**
   * The bytes of heap that prevent new instances. Before that, journals of instances are shortened.
   * Default: 70% of the heap's limit or the container's, the lower of the two.
   */
  readonly maxMemory?: number | undefined;
  /** The maximum number of instances. Default: 1000. */
  readonly maxInstances?: number | undefined;
  /** Idle milliseconds before an instance is removed. Default: an hour. */
  readonly instanceTtl?: number | undefined;
  /** The limits of each instance in place of the usual ones: bytes, keys, milliseconds. */
  readonly instanceLimits?: Partial<AccountLimits> | undefined;
}

export function limitsOf({ maxInstances = 1000, instanceTtl = 60 * 60_000, maxMemory }: InstanceLimits) {
  return { maxInstances, instanceTtl, maxMemory };
}

export function newInstanceId(): string {
  return base62From(nodePlatform.random, 12);
}

export interface InstanceState extends Pick<Instance, "id" | "createdAt">, Tenancy {
  /** Its last use, on the wall clock (epoch milliseconds). */
  readonly usedAt: number;
  readonly given: GivenOptions;
  readonly idGroup?: number | undefined;
  readonly sandbox: SavedSandbox;
}

export interface ServerState {
  readonly own: SavedSandbox;
  readonly instances: readonly InstanceState[];
  /** The instances that it lacks, because what is stored of them cannot be read. Default: none. */
  readonly without?: readonly string[] | undefined;
}

export function instanceState(
  { id, tenancy, createdAt, idle, sandbox: { given, idGroup } }: Omit<Instance, "gone">,
  sandbox: SavedSandbox,
): InstanceState {
  const usedAt = Math.round(sandbox.at - idle);
  return { ...tenancy, id, createdAt, usedAt, given, idGroup, sandbox };
}

type Kept = Instance & { tenancy: Tenancy; usedAt: number; readonly end: () => void };

type LoadedInstances = ReturnType<typeof keepLoaded<object>>;

/** Keeps the instances whose sandboxes are in this process, each with `More`. */
export function keepLoaded<More extends object>(now = nodePlatform.stopwatch) {
  const instances = new Map<string, Kept & More>();
  const listeners = new Set<(instance: Instance) => void>();
  return {
    /** Adds an instance, as used at a time on the stopwatch. */
    add(
      described: Pick<Kept, "id" | "tenancy" | "createdAt"> & More,
      sandbox: SandboxState,
      usedAt = now(),
    ): Kept & More {
      const removal = new AbortController();
      const instance: Kept & More = {
        ...described,
        usedAt,
        sandbox,
        gone: removal.signal,
        end: () => removal.abort(),
        get idle() {
          return now() - this.usedAt;
        },
        get name() {
          runDue(sandbox);
          return sandbox.name;
        },
        get seed() {
          runDue(sandbox);
          return sandbox.seed;
        },
      };
      instances.set(described.id, instance);
      for (const listener of listeners) listener(instance);
      return instance;
    },
    /** Returns the instance of an id and counts this as a use; `undefined` if it is not in this process. */
    use(id: string): (Kept & More) | undefined {
      const instance = instances.get(id);
      if (instance !== undefined) instance.usedAt = now();
      return instance;
    },
    remove(id: string): void {
      const instance = instances.get(id);
      instances.delete(id);
      instance?.end();
    },
    loaded: (): (Kept & More)[] => [...instances.values()],
    find: (id: string): (Kept & More) | undefined => instances.get(id),
    /** Calls the listener with each current and later loaded instance. */
    follow(listener: (instance: Instance) => void): void {
      for (const instance of instances.values()) listener(instance);
      listeners.add(listener);
    },
    close(): void {
      for (const { end } of instances.values()) end();
    },
  };
}

export function noInstance(id: string): SandboxError {
  const message = `Failed to find the instance ${JSON.stringify(id)}: it may have expired or been idle for too long.`;
  return new SandboxError("not_found", message);
}

export function endedInstance({ ended, at }: EndedInstance): SandboxError {
  const how = ended === "expired" ? "expired" : "was removed";
  return new SandboxError(
    "instance_ended",
    `This sandbox ${how} at ${isoOf(at).replace(/\.\d+Z$/, "Z")}. Ask whoever runs this server for another one.`,
    { ended, at: isoOf(at) },
  );
}

export function tooMany(max: number): SandboxError {
  return new SandboxError(
    "instance_limit_reached",
    `There are ${max} instances already: remove unused instances with DELETE /__sandbox/instances/{id}, or start with a higher --max-instances.`,
  );
}
