import { handle } from "../api/handle.js";
import type { MaskedRequest } from "../api/mask.js";
import { checkedOptions } from "../library/create-sandbox.js";
import { createMemoryBudget } from "../node/memory.js";
import { nodePlatform } from "../node/platform.js";
import { type ApiRequest, bytesOf, type Exchange } from "../sandbox/journal/exchange.js";
import { settled } from "../sandbox/operations/operations.js";
import type { GivenOptions, Platform, SandboxState } from "../sandbox/sandbox.js";
import { describeSandbox, restoreSandbox, type SavedSandbox, startSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { secretFrom } from "../scenario/population.js";
import { type Environment, environments } from "../spec/api-key.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import type { RandomStream } from "../spec/seed.js";
import {
  defaultInstanceTtl,
  defaultMaxInstances,
  type EndedInstance,
  type Instance,
  type InstanceLimits,
  type InstanceState,
  type Instances,
  instanceState,
  keepLoaded,
  newInstanceId,
  noInstance,
  runtimesOf,
  type ServerSandboxes,
  type ServerState,
  type Tenancy,
  tooMany,
} from "./instances.js";
import { type ControlCall, controlPlace, type Log } from "./log.js";

/** A log whose sandboxes are all in this process. */
export interface MemoryLog extends Log {
  readonly instances: MemoryInstances;
}

/** Creates the log of a single server. It ends with the process. */
export function createMemoryLog(runtime: SandboxState, options: InstanceLimits = {}): MemoryLog {
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const instances = createInstances({
    ...{ most: maxInstances, server: runtime, platform: nodePlatform },
    requireRoom: () => budget.requireRoom(),
  });
  const budget = createMemoryBudget(options.maxMemory, instances.discardJournals);
  return {
    runtime,
    instances,
    enter: instances.use,
    mayPreview: ({ preview }) => preview,
    request: (request, { runtime: here }) => applyEntry({ kind: "request", request }, here) as Exchange,
    countUnread: ({ runtime: here }, id) => void applyEntry({ kind: "unread", id }, here),
    call: (call, run, from) =>
      applyEntry({ kind: "call", call }, from.runtime, () => run(controlPlace(from, instances))),
    manage: (run, from) => run(controlPlace(from, instances)),
    look: (read, from) =>
      applyEntry({ kind: "look" }, from.runtime, () => read(controlPlace(from, instances))),
    describe: () => describeServer({ runtime, instances }),
    firstEvent: () => 0,
    isOwn: () => true,
    settle() {
      instances.sweep(instanceTtl);
      budget.settle();
      for (const one of runtimesOf({ runtime, instances })) {
        try {
          settled(one);
        } catch {
          // The next request reports the error. A failed save is retried and reported there.
        }
      }
    },
    begin() {},
    status: () => undefined,
    memory: budget.status,
    close() {},
  };
}

/** Describes a server whose instances are all in this process; calls `describe` for each sandbox. */
export function describeServer(
  { runtime, instances }: ServerSandboxes,
  describe: (runtime: SandboxState) => SavedSandbox = describeSandbox,
): ServerState {
  return {
    idSeries: runtime.idSeries.last,
    own: describe(runtime),
    instances: instances.loaded().map((one) => instanceState(one, describe(one.runtime))),
  };
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
  /** Replaces the instances with described ones. */
  readonly restore: (described: readonly InstanceState[]) => void;
  /** Discards the oldest requests of the least recently used instances, half of all bytes. */
  readonly discardJournals: () => void;
}

interface InstancesOptions {
  /** The maximum number of instances. */
  readonly most: number;
  /** The server's part: counts their requests as well, since coverage outlives an instance, and numbers their series of ids. */
  readonly server: Pick<SandboxState, "counters" | "idSeries">;
  readonly platform: Platform;
  /** Throws if there is no room for another instance. Default: there is. */
  readonly requireRoom?: () => void;
  /** The limit of all journals together, in bytes. Default: 16 MB. */
  readonly mostJournals?: number | undefined;
}

/** How many ended instances are remembered. */
const mostEnded = 1000;

/** Creates the instances of a server in this process. */
export function createInstances({
  most,
  server,
  platform,
  requireRoom = () => {},
  mostJournals = 16e6,
}: InstancesOptions): MemoryInstances {
  const loaded = keepLoaded<object>(server, platform.stopwatch);
  const ended = new Map<string, EndedInstance>();
  const onExpired = new Set<(instance: Instance) => void>();
  /** At least the bytes of all journals. */
  let bytes = 0;
  const find = (id: string) => {
    const instance = loaded.find(id);
    if (instance === undefined) throw noInstance(id);
    return instance;
  };
  const discard = (id: string, how: EndedInstance["ended"]) => {
    ended.set(id, { ended: how, at: platform.time() });
    if (ended.size > mostEnded) ended.delete(ended.keys().next().value as string);
    loaded.remove(id);
  };
  const discardJournals = () => {
    const histories = loaded
      .loaded()
      .sort((one, other) => other.idle - one.idle)
      .map(({ runtime: { history } }) => history);
    const sizes = histories.map((history) => history.bytes());
    bytes = sizes.reduce((sum, size) => sum + size, 0) / 2;
    let excess = bytes;
    for (const [index, history] of histories.entries()) {
      if (excess <= 0) return;
      const size = sizes[index] as number;
      history.keep(Math.max(0, size - excess));
      excess -= size;
    }
  };
  const add = (
    described: Pick<Instance, "id" | "tenancy" | "createdAt">,
    runtime: SandboxState,
    usedAt?: number,
  ) => {
    runtime.counters.passOnTo(server.counters);
    bytes += runtime.history.bytes();
    runtime.history.subscribe((event) => {
      if (event.type !== "request") return;
      bytes += bytesOf(event.exchange);
      if (bytes > mostJournals) discardJournals();
    });
    return loaded.add(described, runtime, usedAt);
  };

  return {
    ...loaded,
    create({ scenario, name, text }, given, tenancy = {}) {
      requireRoom();
      if (loaded.loaded().length >= most) throw tooMany(most);
      const options = { platform, name, text, ...checkedOptions(given), given };
      const idGroup = server.idSeries.last + 1;
      const runtime = startSandbox(scenario, { ...options, idGroup });
      server.idSeries.last = idGroup;
      return add({ id: newInstanceId(), tenancy, createdAt: platform.time() }, runtime);
    },
    list: loaded.loaded,
    get: loaded.find,
    count: () => loaded.loaded().length,
    use: (id) => loaded.use(id) ?? ended.get(id),
    remove: (id) => discard(find(id).id, "removed"),
    changeHashes(id, hashes, check) {
      check?.(loaded.find(id)?.tenancy);
      const instance = find(id);
      instance.tenancy = { ...instance.tenancy, ...hashes };
      return instance;
    },
    sweep(ttl) {
      for (const instance of loaded.loaded()) {
        const { expiresAt } = instance.tenancy;
        const isOver = expiresAt === undefined ? instance.idle >= ttl : expiresAt <= platform.time();
        if (!isOver) continue;
        discard(instance.id, "expired");
        for (const listener of onExpired) listener(instance);
      }
    },
    restore(described) {
      for (const { id, createdAt, idle, given, idGroup, runtime: state, ...tenancy } of described) {
        const runtime = restoreSandbox(state, platform, { given, idGroup });
        add({ id, tenancy, createdAt }, runtime, platform.stopwatch() - idle);
      }
      if (bytes > mostJournals) discardJournals();
    },
    discardJournals,
    onExpired: (listener) => void onExpired.add(listener),
  };
}

/** The SHA-256 of a key that a call may create, for each environment; never the key. */
export type NewKeyHashes = Readonly<Record<Environment, string>>;

/** An event of a sandbox, in the order that its log keeps. In a store, requests are masked. */
export type Entry =
  | { readonly kind: "request"; readonly request: ApiRequest | MaskedRequest }
  | { readonly kind: "call"; readonly call: ControlCall; readonly newKey?: NewKeyHashes }
  /** A read that advances time. Only its own server uses the result. */
  | { readonly kind: "look" }
  /** A client did not wait for a response that a fault delayed. */
  | { readonly kind: "unread"; readonly id: string }
  /** Shortens the journal, and continues from the state's description. Ignored after fewer than `least` entries. */
  | { readonly kind: "compact"; readonly least: number; readonly journal: number }
  /** Adds new organizations and keys to the scenario with the hash `from`. */
  | ({ readonly kind: "extend"; readonly from: string } & NamedScenario);

/** Applies an entry to a sandbox. `run` is the call's route, or the read of a look. */
export function applyEntry(
  entry: Exclude<Entry, { readonly kind: "compact" | "extend" }>,
  runtime: SandboxState,
  run?: () => unknown,
): unknown {
  switch (entry.kind) {
    case "request":
      return handle(settled(runtime), entry.request as ApiRequest);
    case "unread": {
      const { counters, history } = runtime;
      counters.countUnread();
      // The journal may have discarded the request.
      const exchange = history.find(entry.id);
      if (exchange !== undefined) exchange.isUnread = true;
      return undefined;
    }
    case "call":
    case "look":
      // Runs what is due first.
      settled(runtime);
      return run?.();
  }
}

/** Draws the random numbers of a key. The hashes are for both environments, since the call decides later. */
export function drawKey(): { readonly newKey: NewKeyHashes; readonly words: () => RandomStream } {
  const drawn: number[] = [];
  const words = (): RandomStream => {
    let next = 0;
    return () => {
      if (next === drawn.length) drawn.push(nodePlatform.random());
      next += 1;
      return drawn[next - 1] as number;
    };
  };
  const hashIn = (environment: Environment) =>
    nodePlatform.sha256(secretFrom(words(), { environment, legacy: false }));
  const hashes = environments.map((environment) => [environment, hashIn(environment)]);
  return { newKey: Object.fromEntries(hashes), words };
}

/**
 * Shortens every key in a call to the control plane, where no key belongs. A scenario's pinned keys stay: the sandbox and
 * state files also contain them.
 */
export function maskCall({ params, body, ...call }: ControlCall): ControlCall {
  const isScenario = (name: string, member: unknown) => name === "scenario" && typeof member !== "string";
  const shown = call.isYaml ? body : redactValue(body, redactEncoded, isScenario);
  return { ...call, params: redactValue(params, redactEncoded, isScenario), body: shown };
}
