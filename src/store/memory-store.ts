import { handle } from "../api/handle.js";
import { createMemoryBudget } from "../node/memory.js";
import type { ApiRequest } from "../rules/request.js";
import { bytesOf, type Exchange } from "../sandbox/journal/exchange.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { GivenOptions, Platform, SandboxState } from "../sandbox/sandbox.js";
import { checkedOptions, describeSandbox, restoreSandbox, startSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import {
  type EndedInstance,
  type Instance,
  type InstanceLimits,
  type InstanceState,
  type Instances,
  instanceState,
  keepLoaded,
  limitsOf,
  newInstanceId,
  noInstance,
  type ServerState,
  type Tenancy,
  tooMany,
} from "./instances.js";
import { controlPlace, type SandboxPlace, type Store, statesOf } from "./store.js";

export interface MemoryStore extends Store {
  readonly request: (request: ApiRequest, place: SandboxPlace) => Exchange;
  readonly instances: ReturnType<typeof createInstances>;
}

/** Creates the store of a single server. It ends with the process. */
export function createMemoryStore(sandbox: SandboxState, options: InstanceLimits = {}): MemoryStore {
  const { maxInstances, instanceTtl } = limitsOf(options);
  const instances = createInstances({
    max: maxInstances,
    server: sandbox,
    platform: sandbox.platform,
    requireRoom: () => budget.requireRoom(),
  });
  const budget = createMemoryBudget(options.maxMemory, instances.discardJournals);
  return {
    sandbox,
    instances,
    enter: instances.use,
    request: (request, { sandbox: here }) => handle(here, request),
    countUnread: ({ sandbox: here }, id) => markUnread(here, id),
    run(_kind, act, from) {
      // Runs what is due first.
      runDue(from.sandbox);
      return act(controlPlace(from, instances));
    },
    describe: () => describeServer({ sandbox, instances }),
    runDue() {
      instances.sweep(instanceTtl);
      budget.check();
      for (const state of statesOf({ sandbox, instances })) {
        try {
          runDue(state);
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

/** Records that a client did not wait for a response that a fault delayed. */
export function markUnread({ counters, history }: SandboxState, id: string): void {
  counters.countUnread();
  // The journal may have discarded the request.
  const exchange = history.find(id);
  if (exchange !== undefined) exchange.isUnread = true;
}

function describeServer({ sandbox, instances }: Pick<Store, "sandbox" | "instances">): ServerState {
  return {
    own: describeSandbox(sandbox),
    instances: instances.loaded().map((one) => instanceState(one, describeSandbox(one.sandbox))),
  };
}

interface InstancesOptions {
  readonly max: number;
  /** The server's part: counts their requests as well, since coverage outlives an instance, and numbers their series of ids. */
  readonly server: Pick<SandboxState, "counters" | "idSeries" | "renewIds">;
  readonly platform: Platform;
  readonly requireRoom?: () => void;
  /** The limit of all journals together, in bytes. Default: 16 MB. */
  readonly maxJournals?: number | undefined;
}

export function createInstances({
  max,
  server,
  platform,
  requireRoom = () => {},
  maxJournals = 16e6,
}: InstancesOptions) {
  const loaded = keepLoaded<object>(platform.stopwatch);
  const journals = limitJournals(loaded.loaded, maxJournals);
  const ended = new Map<string, EndedInstance>();
  const onExpired = new Set<(instance: Instance) => void>();
  const find = (id: string) => {
    const instance = loaded.find(id);
    if (instance === undefined) throw noInstance(id);
    return instance;
  };
  const discard = (id: string, how: EndedInstance["ended"]) => {
    ended.set(id, { ended: how, at: platform.time() });
    if (ended.size > 1000) ended.delete(ended.keys().next().value as string);
    loaded.remove(id);
  };
  const add = (described: Pick<Instance, "id" | "tenancy" | "createdAt">, sandbox: SandboxState) => {
    sandbox.counters.passOnTo(server.counters);
    sandbox.renewIds = server.renewIds;
    const instance = loaded.add(described, sandbox);
    journals.add(sandbox);
    return instance;
  };
  return {
    ...loaded,
    create(
      source: NamedScenario,
      given: GivenOptions,
      tenancy: Tenancy = {},
      id = newInstanceId(),
    ): Instance {
      const there = loaded.find(id);
      if (there !== undefined) return there;
      const { scenario, name, text } = source;
      requireRoom();
      if (loaded.loaded().length >= max) throw tooMany(max);
      const idGroup = server.idSeries.last + 1;
      const options = { platform, name, text, ...checkedOptions(given), given, idGroup };
      const sandbox = startSandbox(scenario, options);
      server.idSeries.last = idGroup;
      return add({ id, tenancy, createdAt: platform.time() }, sandbox);
    },
    list: loaded.loaded,
    get: loaded.find,
    count: () => loaded.loaded().length,
    /** Returns the instance of an id and counts this as a use, or when it ended; `undefined` if there was none. */
    use: (id: string) => loaded.use(id) ?? ended.get(id),
    remove: (id: string) => discard(find(id).id, "removed"),
    changeHashes(...[id, hashes, check]: Parameters<Instances["changeHashes"]>): Instance {
      check?.(loaded.find(id)?.tenancy);
      const instance = find(id);
      instance.tenancy = { ...instance.tenancy, ...hashes };
      return instance;
    },
    /** Removes expired instances, and instances without an expiry that were idle for `ttl` milliseconds. */
    sweep(ttl: number): void {
      for (const instance of loaded.loaded()) {
        if (!isOver(instance, ttl, platform.time())) continue;
        discard(instance.id, "expired");
        for (const listener of onExpired) listener(instance);
      }
    },
    /** Continues an instance that was idle for some milliseconds, with its own series of request ids. */
    restore(described: InstanceState, idle: number): void {
      const { id, createdAt, usedAt: _, given, idGroup: __, sandbox: state, ...tenancy } = described;
      server.idSeries.last += 1;
      const sandbox = restoreSandbox(state, platform, { given, idGroup: server.idSeries.last });
      add({ id, tenancy, createdAt }, sandbox).usedAt -= Math.max(0, idle);
    },
    discardJournals: journals.discard,
    onExpired: (listener: (instance: Instance) => void) => void onExpired.add(listener),
  };
}

function isOver({ tenancy: { expiresAt }, idle }: Instance, ttl: number, now: number): boolean {
  return expiresAt === undefined ? idle >= ttl : expiresAt <= now;
}

/** What one journal may have: a thousand usual requests. */
const maxJournal = 2e6;

/** Limits each journal of an instance, and all together: the longest ones lose their oldest requests. */
function limitJournals(instances: () => readonly Pick<Instance, "sandbox">[], max: number) {
  /** At least the bytes of all journals. */
  let bytes = 0;
  const discard = (target = bytes / 2) => {
    const journals = instances().map(({ sandbox }) => sandbox.history);
    const level = levelFor(
      journals.map((history) => history.bytes()),
      target,
    );
    bytes = 0;
    for (const history of journals) {
      if (history.bytes() > level) history.keep(level);
      bytes += history.bytes();
    }
  };
  const count = (more: number) => {
    bytes += more;
    if (bytes > max) discard(max / 2);
  };
  return {
    discard: () => discard(),
    add({ history }: Pick<SandboxState, "history">): void {
      let size = history.bytes();
      count(size);
      history.subscribe((event) => {
        if (event.type !== "request") return;
        const more = bytesOf(event.exchange);
        size += more;
        count(more);
        if (size <= maxJournal) return;
        history.keep(maxJournal / 2);
        size = history.bytes();
      });
    },
  };
}

/** The most that each may have so that all together fit: who has less loses nothing. */
function levelFor(sizes: readonly number[], target: number): number {
  let left = target;
  const sorted = [...sizes].sort((a, b) => a - b);
  for (const [index, size] of sorted.entries()) {
    const level = left / (sorted.length - index);
    if (size > level) return level;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
