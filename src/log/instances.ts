import { SandboxError } from "../domain/errors.js";
import { base62From } from "../domain/seed.js";
import { starterOf } from "../library/create-sandbox.js";
import { nodePlatform } from "../node/platform.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { createRuntime, type GivenOptions, type Runtime } from "../world/runtime.js";
import { describeRuntime, type RuntimeState, restoreRuntime } from "../world/state.js";
import type { Platform } from "../world/world.js";
import { createJournals, defaultMostJournals } from "./journals.js";

/** For whom an instance is. */
export interface Tenancy {
  /** The name that it was given, such as that of a test or a partner. */
  readonly label?: string | undefined;
  /** The SHA-256 of its own token. Default: only the server's token opens it. */
  readonly tokenHash?: string | undefined;
  /** The SHA-256 of the code that its token is exchanged for; `undefined` once that has happened. */
  readonly claimHash?: string | undefined;
  /** When it is removed (epoch milliseconds), whether it is used or not. Default: after its idle time. */
  readonly expiresAt?: number | undefined;
  /** Its requests in a minute, over all keys. Default: no limit. */
  readonly requestsPerMinute?: number | undefined;
  /** Who made it, as a proxy has signed them in. */
  readonly owner?: string | undefined;
}

/** An isolated sandbox of a server, served under `/i/{id}`, as it is listed. */
export interface ListedInstance {
  readonly id: string;
  readonly tenancy: Tenancy;
  /** On the wall clock (epoch milliseconds). */
  readonly createdAt: number;
  /** When it was last used, on the stopwatch. */
  readonly usedAt: number;
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

/** What can be done about the instances of a server, wherever their sandboxes are. */
export interface InstanceList {
  /**
   * Starts one from a scenario; what is `given` holds for every scenario that is started there. Throws
   * `instance_limit_reached`.
   */
  readonly create: (source: NamedScenario, given: GivenOptions, tenancy?: Tenancy) => Instance;
  readonly list: () => ListedInstance[];
  /** Throws `not_found`. */
  readonly remove: (id: string) => void;
  /** Changes the hashes of an instance. Throws `not_found`. */
  readonly changeHashes: (id: string, hashes: Pick<Tenancy, "tokenHash" | "claimHash">) => ListedInstance;
}

/** The instances of a server whose sandboxes are in this process. */
export interface LoadedInstances {
  readonly loaded: () => Instance[];
  /** The instance of an id; `undefined` when there is none. */
  readonly find: (id: string) => Instance | undefined;
  /** Calls the listener with each instance, now and from now on. */
  readonly follow: (listener: (instance: Instance) => void) => void;
  /** Ends what is endless in them. */
  readonly close: () => void;
}

/** The instances of a server that are all in this process. */
export interface Instances extends InstanceList, LoadedInstances {
  /** The instance of an id, and counts as a use of it; `undefined` when there is none. */
  readonly use: (id: string) => Instance | undefined;
  /** Removes those that have expired, and of the others those that nobody has asked for in `ttl` milliseconds. */
  readonly sweep: (ttl: number) => void;
  /** Makes them those that were described: one with the same id continues as described, and others are removed. */
  readonly restore: (described: readonly InstanceState[]) => void;
  /** Discards the oldest requests of journals that take more than an equal share of so many bytes. */
  readonly keepJournals: (most: number) => void;
  /** Discards the journals of the least used instances: half of the bytes of all. */
  readonly discardJournals: () => void;
}

/** A server's own sandbox, and those of its instances that are in this process. */
export interface ServerSandboxes {
  readonly runtime: Runtime;
  readonly instances: LoadedInstances;
}

/** An instance as plain data. */
export interface InstanceState extends Pick<Instance, "id" | "createdAt">, Tenancy {
  /** Milliseconds since it was last used. */
  readonly idle: number;
  readonly given: GivenOptions;
  readonly idGroup?: number | undefined;
  readonly runtime: RuntimeState;
}

interface InstancesOptions {
  /** The most that there are at one time. */
  readonly most: number;
  /** Of the server: counts their requests, too, as a client's coverage outlives its instance, and numbers their worlds. */
  readonly server: Pick<Runtime, "counters" | "idSeries">;
  readonly platform: Platform;
  /** Returns a new id. */
  readonly newId: () => string;
  /** The most bytes of all journals together. Default: 16 MB. */
  readonly mostJournals?: number | undefined;
}

/** How many instances there may be, and for how long. */
export interface InstanceLimits {
  /**
   * The bytes of heap above which no instance is started; journals of the least used instances are discarded before.
   * Default: 70% of the heap's limit or of the container's, whichever is less.
   */
  readonly maxMemory?: number | undefined;
  /** The most instances at one time. Default: 1000. */
  readonly maxInstances?: number | undefined;
  /** Milliseconds without a request after which an instance is removed. Default: an hour. */
  readonly instanceTtl?: number | undefined;
}

/** The default time that an idle instance stays: an hour. */
export const defaultInstanceTtl = 60 * 60_000;

/** The default number of instances at one time. */
export const defaultMaxInstances = 1000;

/** An id of an instance, which cannot be guessed. */
export function newInstanceId(): string {
  return base62From(nodePlatform.random, 12);
}

/** Makes the place where instances live. */
export function createInstances({
  most,
  server,
  platform,
  newId,
  mostJournals = defaultMostJournals,
}: InstancesOptions): Instances {
  const instances = new Map<
    string,
    Instance & { usedAt: number; tenancy: Tenancy; readonly end: () => void }
  >();
  const listeners = new Set<(instance: Instance) => void>();
  const discard = (id: string): boolean => {
    const instance = instances.get(id);
    instances.delete(id);
    instance?.end();
    return instance !== undefined;
  };
  const keepJournals = (most: number) => {
    const { long, share } = journals.share(instances.values(), most);
    for (const { runtime } of long) runtime.history.keep(share);
  };
  const journals = createJournals(mostJournals, keepJournals);
  const add = (
    described: Pick<Instance, "id" | "tenancy" | "createdAt" | "usedAt">,
    runtime: Runtime,
  ): Instance => {
    const ending = new AbortController();
    const instance = {
      ...described,
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
      if (instances.size >= most) throw tooMany(most);
      const start = starterOf(platform, scenario, { ...given, name, text });
      server.idSeries.last += 1;
      const made = { id: newId(), tenancy, createdAt: platform.time(), usedAt: platform.stopwatch() };
      return add(made, createRuntime(start, { given, idGroup: server.idSeries.last }));
    },
    list: () => [...instances.values()],
    loaded: () => [...instances.values()],
    find: (id) => instances.get(id),
    use(id) {
      const instance = instances.get(id);
      if (instance !== undefined) instance.usedAt = platform.stopwatch();
      return instance;
    },
    remove(id) {
      if (!discard(id)) throw noInstance(id);
    },
    changeHashes(id, hashes) {
      const instance = instances.get(id);
      if (instance === undefined) throw noInstance(id);
      instance.tenancy = { ...instance.tenancy, ...hashes };
      return instance;
    },
    sweep(ttl) {
      for (const instance of instances.values()) if (isOver(instance, ttl, platform)) discard(instance.id);
    },
    restore(described) {
      const ids = new Set(described.map(({ id }) => id));
      for (const id of instances.keys()) if (!ids.has(id)) discard(id);
      for (const { id, createdAt, idle, given, idGroup, runtime: state, ...tenancy } of described) {
        const there = instances.get(id);
        const usedAt = platform.stopwatch() - idle;
        const options = { given, idGroup };
        const runtime = restoreRuntime(state, platform, options, there?.runtime);
        if (there === undefined) add({ id, tenancy, createdAt, usedAt }, runtime);
        else Object.assign(there, { tenancy, usedAt });
        // What the journal had before is not in the description.
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
    close() {
      for (const { end } of instances.values()) end();
    },
  };
}

/** Whether an instance is to be removed: it has expired or, if it cannot, was idle for `ttl` milliseconds. */
export function isOver(
  { tenancy: { expiresAt }, usedAt }: Pick<Instance, "tenancy" | "usedAt">,
  ttl: number,
  { time, stopwatch }: Pick<Platform, "time" | "stopwatch">,
): boolean {
  return expiresAt === undefined ? usedAt <= stopwatch() - ttl : expiresAt <= time();
}

export function noInstance(id: string): SandboxError {
  const message = `There is no instance ${JSON.stringify(id)}; it may have been idle for too long, or has expired.`;
  return new SandboxError("not_found", message);
}

export function tooMany(most: number): SandboxError {
  return new SandboxError(
    "instance_limit_reached",
    `There are ${most} instances already: remove those that are no longer used with DELETE /__sandbox/instances/{id}, or start with a higher --max-instances.`,
  );
}

/** The sandboxes of a server: its own, and those of its instances. */
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

/** Describes a server all of whose instances are in this process; `describe` describes each of its sandboxes. */
export function describeServer(
  { runtime, instances }: ServerSandboxes,
  describe: (runtime: Runtime) => RuntimeState = describeRuntime,
): ServerState {
  const now = runtime.world().platform.stopwatch();
  return {
    idSeries: runtime.idSeries.last,
    own: describe(runtime),
    instances: instances.loaded().map(({ id, tenancy, createdAt, usedAt, runtime: inside }) => ({
      ...{ ...tenancy, id, createdAt, idle: now - usedAt, given: inside.given, idGroup: inside.idGroup },
      runtime: describe(inside),
    })),
  };
}
