import { starterOf } from "../library/create-sandbox.js";
import { nodePlatform } from "../node/platform.js";
import { isoOf } from "../sandbox/clock.js";
import { createRuntime, type GivenOptions, type Runtime } from "../sandbox/runtime.js";
import { describeRuntime, type RuntimeState, restoreRuntime } from "../sandbox/state.js";
import type { Platform } from "../sandbox/world.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { base62From } from "../spec/seed.js";
import { createJournals, defaultMostJournals } from "./journals.js";

/** Who an instance is for. */
export interface Tenancy {
  /** Its name, such as a test's or a partner's. */
  readonly label?: string | undefined;
  /** The SHA-256 of the instance's token. Default: only the server's token grants access. */
  readonly tokenHash?: string | undefined;
  /** The SHA-256 of the code that can be exchanged for its token; `undefined` after the exchange. */
  readonly claimHash?: string | undefined;
  /** When it is removed (epoch milliseconds), even if in use. Default: after its idle time. */
  readonly expiresAt?: number | undefined;
  /** The limit of requests in a minute, over all keys. Default: no limit. */
  readonly requestsPerMinute?: number | undefined;
}

/** A list entry for an isolated sandbox of a server, served under `/i/{id}`. */
export interface ListedInstance {
  readonly id: string;
  readonly tenancy: Tenancy;
  /** On the wall clock (epoch milliseconds). */
  readonly createdAt: number;
  /** Milliseconds since its last use. */
  readonly idle: number;
  /** The name of its scenario, and its seed. */
  readonly name: string;
  readonly seed: number;
}

/** An instance whose sandbox is in this process. */
export interface Instance extends ListedInstance {
  readonly runtime: Runtime;
  /** Aborted when it is removed or the server stops. */
  readonly gone: AbortSignal;
}

/** An instance that was removed or has expired, and when (epoch milliseconds). */
export interface EndedInstance {
  readonly ended: "removed" | "expired";
  readonly at: number;
}

/** The instances of a server. With a store, the functions about all of them return promises. */
export interface Instances {
  /**
   * Starts an instance from a scenario; `given` applies to every scenario that starts there. Throws
   * `instance_limit_reached` or `memory_limit_reached`.
   */
  readonly create: (
    source: NamedScenario,
    given: GivenOptions,
    tenancy?: Tenancy,
  ) => Instance | Promise<Instance>;
  readonly list: () => readonly ListedInstance[] | Promise<readonly ListedInstance[]>;
  /** Returns the instance of an id, loaded or not; `undefined` for an unknown id. */
  readonly get: (id: string) => ListedInstance | undefined | Promise<ListedInstance | undefined>;
  /** Throws `not_found`. */
  readonly remove: (id: string) => void | Promise<void>;
  /** Changes the hashes of an instance. Throws `not_found`, or what `check` throws for its current settings. */
  readonly changeHashes: (
    id: string,
    hashes: Pick<Tenancy, "tokenHash" | "claimHash">,
    check?: (tenancy: Tenancy | undefined) => void,
  ) => ListedInstance | Promise<ListedInstance>;
  /** The number of instances; with a store, as of a few seconds ago. */
  readonly count: () => number;
  /** Returns the instances whose sandboxes are in this process. */
  readonly loaded: () => Instance[];
  /** Returns the loaded instance of an id, or `undefined`. */
  readonly find: (id: string) => Instance | undefined;
  /** Calls the listener with each current and later loaded instance. */
  readonly follow: (listener: (instance: Instance) => void) => void;
  /** Calls the listener with each instance that expires. With a store, one of its servers does so. */
  readonly onExpired: (listener: (instance: Pick<ListedInstance, "id" | "tenancy">) => void) => void;
  /** Aborts the `gone` signal of each. */
  readonly close: () => void;
}

/** The instances of a server whose sandboxes are all in this process. */
export interface MemoryInstances extends Instances {
  readonly create: (source: NamedScenario, given: GivenOptions, tenancy?: Tenancy) => Instance;
  readonly list: () => readonly Instance[];
  readonly get: (id: string) => Instance | undefined;
  /** Returns the instance of an id and counts this as a use, or when it ended; `undefined` if there was none. */
  readonly use: (id: string) => Instance | EndedInstance | undefined;
  /** Removes expired instances, and instances without an expiry that were idle for `ttl` milliseconds. */
  readonly sweep: (ttl: number) => void;
  /** Replaces the instances with described ones; an instance with the same id continues as described. */
  readonly restore: (described: readonly InstanceState[]) => void;
  /** Discards the oldest requests of journals that exceed an equal share of `most` bytes. */
  readonly keepJournals: (most: number) => void;
  /** Discards journals of the least recently used instances, about half of all bytes. */
  readonly discardJournals: () => void;
}

/** A server's own sandbox, and its instances in this process. */
export interface ServerSandboxes {
  readonly runtime: Runtime;
  readonly instances: Pick<Instances, "loaded">;
}

/** An instance as plain data. */
export interface InstanceState extends Pick<Instance, "id" | "createdAt">, Tenancy {
  /** Milliseconds since its last use. */
  readonly idle: number;
  readonly given: GivenOptions;
  readonly idGroup?: number | undefined;
  readonly runtime: RuntimeState;
}

interface InstancesOptions {
  /** The maximum number of instances. */
  readonly most: number;
  /** The server's part: counts their requests as well, since coverage outlives an instance, and numbers their series of ids. */
  readonly server: Pick<Runtime, "counters" | "idSeries">;
  readonly platform: Platform;
  /** Returns a new id. */
  readonly newId: () => string;
  /** Throws if there is no room for another instance. Default: there is. */
  readonly requireRoom?: () => void;
  /** The limit of all journals together, in bytes. Default: 16 MB. */
  readonly mostJournals?: number | undefined;
}

/** The limits of instances. */
export interface InstanceLimits {
  /**
   * The bytes of heap that prevent new instances. Before that, journals of the least recently used instances are discarded.
   * Default: 70% of the heap's limit or the container's, the lower of the two.
   */
  readonly maxMemory?: number | undefined;
  /** The maximum number of instances. Default: 1000. */
  readonly maxInstances?: number | undefined;
  /** Idle milliseconds before an instance is removed. Default: an hour. */
  readonly instanceTtl?: number | undefined;
}

/** The default idle time before an instance is removed: an hour. */
export const defaultInstanceTtl = 60 * 60_000;

/** The default maximum number of instances. */
export const defaultMaxInstances = 1000;

/** How many ended instances are remembered. */
const mostEnded = 1000;

/** Creates an instance id that cannot be guessed. */
export function newInstanceId(): string {
  return base62From(nodePlatform.random, 12);
}

type Kept = Instance & { tenancy: Tenancy; usedAt: number; readonly end: () => void };

/** Creates the instances of a server in this process. */
export function createInstances({
  most,
  server,
  platform,
  newId,
  requireRoom = () => {},
  mostJournals = defaultMostJournals,
}: InstancesOptions): MemoryInstances {
  const instances = new Map<string, Kept>();
  const ended = new Map<string, EndedInstance>();
  const listeners = new Set<(instance: Instance) => void>();
  const onExpired = new Set<(instance: Instance) => void>();
  const find = (id: string): Kept => {
    const instance = instances.get(id);
    if (instance === undefined) throw noInstance(id);
    return instance;
  };
  const discard = ({ id, end }: Kept, how: EndedInstance["ended"]) => {
    instances.delete(id);
    ended.set(id, { ended: how, at: platform.time() });
    if (ended.size > mostEnded) ended.delete(ended.keys().next().value as string);
    end();
  };
  const keepJournals = (most: number) => {
    const { long, share } = journals.share(instances.values(), most);
    for (const { runtime } of long) runtime.history.keep(share);
  };
  const journals = createJournals(mostJournals, keepJournals);
  const add = (
    described: Pick<Kept, "id" | "tenancy" | "createdAt" | "usedAt">,
    runtime: Runtime,
  ): Instance => {
    const ending = new AbortController();
    const instance: Kept = {
      ...described,
      get idle() {
        return platform.stopwatch() - this.usedAt;
      },
      get name() {
        return runtime.world().name;
      },
      get seed() {
        return runtime.world().seed;
      },
      ...{ runtime, gone: ending.signal, end: () => ending.abort() },
    };
    runtime.counters.passOnTo(server.counters);
    runtime.counters.curlOptions = server.counters.curlOptions;
    instances.set(described.id, instance);
    journals.watch(runtime);
    for (const listener of listeners) listener(instance);
    return instance;
  };

  return {
    create({ scenario, name, text }, given, tenancy = {}) {
      requireRoom();
      if (instances.size >= most) throw tooMany(most);
      const start = starterOf(platform, scenario, { ...given, name, text });
      server.idSeries.last += 1;
      const made = { id: newId(), tenancy, createdAt: platform.time(), usedAt: platform.stopwatch() };
      return add(made, createRuntime(start, { given, idGroup: server.idSeries.last }));
    },
    list: () => [...instances.values()],
    get: (id) => instances.get(id),
    count: () => instances.size,
    loaded: () => [...instances.values()],
    find: (id) => instances.get(id),
    use(id) {
      const instance = instances.get(id);
      if (instance !== undefined) instance.usedAt = platform.stopwatch();
      return instance ?? ended.get(id);
    },
    remove: (id) => discard(find(id), "removed"),
    changeHashes(id, hashes, check) {
      check?.(instances.get(id)?.tenancy);
      const instance = find(id);
      instance.tenancy = { ...instance.tenancy, ...hashes };
      return instance;
    },
    sweep(ttl) {
      for (const instance of instances.values()) {
        const { expiresAt } = instance.tenancy;
        const isOver = expiresAt === undefined ? instance.idle >= ttl : expiresAt <= platform.time();
        if (!isOver) continue;
        discard(instance, "expired");
        for (const listener of onExpired) listener(instance);
      }
    },
    restore(described) {
      const ids = new Set(described.map(({ id }) => id));
      for (const instance of instances.values()) if (!ids.has(instance.id)) discard(instance, "removed");
      for (const { id, createdAt, idle, given, idGroup, runtime: state, ...tenancy } of described) {
        const there = instances.get(id);
        const usedAt = platform.stopwatch() - idle;
        const options = { given, idGroup };
        const runtime = restoreRuntime(state, platform, options, there?.runtime);
        if (there === undefined) add({ id, tenancy, createdAt, usedAt }, runtime);
        else Object.assign(there, { tenancy, usedAt });
        // The description does not contain earlier requests.
        runtime.history.keep(Number.POSITIVE_INFINITY);
      }
      keepJournals(mostJournals);
    },
    keepJournals,
    discardJournals() {
      const histories = [...instances.values()]
        .sort((one, other) => one.usedAt - other.usedAt)
        .map(({ runtime: { history } }) => history);
      let left = histories.reduce((sum, history) => sum + history.bytes(), 0) / 2;
      for (const history of histories) {
        if (left <= 0) return;
        left -= history.bytes();
        history.keep(0);
      }
    },
    follow(listener) {
      for (const instance of instances.values()) listener(instance);
      listeners.add(listener);
    },
    onExpired: (listener) => void onExpired.add(listener),
    close() {
      for (const { end } of instances.values()) end();
    },
  };
}

export function noInstance(id: string): SandboxError {
  const message = `Failed to find the instance ${JSON.stringify(id)}: it may have expired or been idle for too long.`;
  return new SandboxError("not_found", message);
}

/** The error for a request to an instance that has ended. */
export function endedInstance({ ended, at }: EndedInstance): SandboxError {
  const how = ended === "expired" ? "expired" : "was removed";
  return new SandboxError(
    "instance_ended",
    `This sandbox ${how} at ${isoOf(at)}. Ask whoever runs this server for another one.`,
  );
}

export function tooMany(most: number): SandboxError {
  return new SandboxError(
    "instance_limit_reached",
    `There are ${most} instances already: remove unused instances with DELETE /__sandbox/instances/{id}, or start with a higher --max-instances.`,
  );
}

/** Returns the sandboxes of a server: its own, and its instances'. */
export function runtimesOf({ runtime, instances }: ServerSandboxes): Runtime[] {
  return [runtime, ...instances.loaded().map((one) => one.runtime)];
}

/** A server's own sandbox and its instances as plain data. */
export interface ServerState {
  /** The last series of request ids. */
  readonly idSeries: number;
  readonly own: RuntimeState;
  readonly instances: readonly InstanceState[];
}

/** Describes a server whose instances are all in this process; calls `describe` for each sandbox. */
export function describeServer(
  { runtime, instances }: ServerSandboxes,
  describe: (runtime: Runtime) => RuntimeState = describeRuntime,
): ServerState {
  return {
    idSeries: runtime.idSeries.last,
    own: describe(runtime),
    instances: instances.loaded().map(({ id, tenancy, createdAt, idle, runtime: inside }) => ({
      ...{ ...tenancy, id, createdAt, idle, given: inside.given, idGroup: inside.idGroup },
      runtime: describe(inside),
    })),
  };
}
