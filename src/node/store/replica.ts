import { type Handled, handle } from "../../api/handle.js";
import type { ApiRequest } from "../../api/messages.js";
import { environments } from "../../domain/api-key.js";
import { base62From, type RandomStream, randomStream } from "../../domain/seed.js";
import type { Connection } from "../../sandbox/behaviour/known-answers.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../sandbox/runtime.js";
import { secretFrom } from "../../sandbox/scenario-keys.js";
import type { Platform, World } from "../../sandbox/world.js";
import type { ControlCall, ControlPlace } from "../control/call.js";
import {
  createInstances,
  type Instance,
  type Instances,
  newInstanceId,
  sweepIdle,
} from "../control/instances.js";
import { clearInterval, nodePlatform, setInterval } from "../platform.js";
import { type Entry, type EntryContent, entryText, readEntry } from "./entries.js";
import type { LogEntry, LogStart, LogStatus, SharedLog } from "./log.js";
import { maskRequest } from "./mask-request.js";
import { describeReplica, type ReplicaState, startersOf } from "./replica-state.js";

/** An answer of the API, and the world that gave it. */
export interface AnsweredRequest extends Handled {
  readonly world: World;
}

/**
 * One of several servers that share their sandboxes by a log: what changes or reads them is appended, and every replica
 * applies each entry to its own copy. Each function here answers with what came of its entry, and rejects with
 * `store_unavailable` when that is not known.
 */
export interface Replica {
  /** The server's own sandbox. Whatever is done to it beside the log, this replica alone does. */
  readonly runtime: Runtime;
  readonly instances: Instances;
  /** Answers a request to the API of the server's own sandbox, or of an instance. */
  readonly answer: (request: ApiRequest, instance?: string) => Promise<AnsweredRequest>;
  /** Runs a call of the control plane on every replica. */
  readonly call: (call: ControlCall, from: Caller) => Promise<unknown>;
  /** Calls `read` once everything is applied that any replica has acknowledged. */
  readonly look: <Result>(read: (place: ControlPlace) => Result, from: Caller) => Promise<Awaited<Result>>;
  /** Counts an answer whose client had gone. */
  readonly countUnread: (instance?: string) => void;
  /** Calls the listener with every instance that there is and that will be. */
  readonly onInstance: (listener: (instance: Instance) => void) => void;
  /** Whether what happens at the moment was asked of this replica, and not of another one. */
  readonly isOwn: () => boolean;
  readonly status: () => LogStatus;
  readonly close: () => Promise<void>;
}

/** Who makes a call: in which instance, and how the caller reaches this replica. */
export interface Caller {
  readonly instance?: string | undefined;
  readonly baseUrl: () => string;
}

export interface ReplicaOptions {
  readonly log: SharedLog;
  /** Returns the first world of the server's own sandbox; it has to be made with this platform alone. */
  readonly start: (platform: Platform) => World;
  readonly given: GivenOptions;
  readonly runCall: (call: ControlCall, place: ControlPlace) => unknown;
  readonly maxInstances: number;
  readonly instanceTtl: number;
  /** The entries after which the log is compacted. Default: 20,000. */
  readonly compactEvery?: number;
  /** Called when an entry could not be appended for which no caller waits. */
  readonly onProblem: (error: unknown) => void;
}

/** What the replica that appended an entry keeps of it. */
interface Own {
  readonly read?: (place: ControlPlace) => unknown;
  readonly baseUrl?: () => string;
  /** The random numbers of the key whose hashes are in the entry. */
  readonly keyWords?: number[];
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

const pollInterval = 250;
const mostConnections = 10_000;
const noHashes: Readonly<Record<string, string>> = Object.freeze({});

/** Follows a log as a replica; resolves once it has everything that was stored. */
export async function createReplica(options: ReplicaOptions): Promise<Replica> {
  const { log, start, given, runCall, maxInstances, instanceTtl, compactEvery = 20_000, onProblem } = options;
  const name = base62From(nodePlatform.random, 8);
  const kept = new Map<number, Own>();
  let count = 0;
  const append = async (content: EntryContent, instance?: string, own: Own = {}): Promise<unknown> => {
    count += 1;
    const n = count;
    kept.set(n, own);
    try {
      const outcome = (await log.append(entryText({ ...content, instance, by: name, n }))) as Outcome;
      if ("error" in outcome) throw outcome.error;
      return outcome.value;
    } finally {
      kept.delete(n);
    }
  };
  const appendAlone = (content: EntryContent, instance?: string) =>
    append(content, instance).catch(onProblem);

  // What the worlds see while an entry is applied; between two of them, time stands still.
  const now = { at: 0, since: nodePlatform.stopwatch() };
  let hashes = noHashes;
  let random: RandomStream | undefined;
  let newId: string | undefined;
  let isOwn = false;
  const platform: Platform = {
    ...nodePlatform,
    time: () => now.at,
    steadyTime: () => now.at,
    stopwatch: () => now.at,
    sha256: (text) => (Object.hasOwn(hashes, text) ? (hashes[text] as string) : nodePlatform.sha256(text)),
    random() {
      if (random === undefined) throw new Error("an entry drew randomness that it does not hold");
      return random();
    },
  };
  const goTo = (at: number) => {
    now.at = at;
    now.since = nodePlatform.stopwatch();
  };

  let runtime: Runtime | undefined;
  let instances: Instances | undefined;
  const instanceListeners = new Set<(instance: Instance) => void>();
  const connections = new Map<string, Connection>();
  /** The entries since the last snapshot. */
  let applied = 0;
  let isCompacting = false;

  // Every copy continues from the same, whatever a description leaves out.
  const restore = (state: ReplicaState) => {
    const { start: startOwn, restart } = startersOf(state.own, platform);
    goTo(state.at);
    if (runtime === undefined) runtime = createRuntime(startOwn, { restart, given, goesOn: true });
    else runtime.replace(startOwn(), restart);
    runtime.counters.restore(state.own.counts);
    instances ??= openInstances(runtime);
    const there = new Set(state.instances.map(({ id }) => id));
    for (const { id } of instances.list()) if (!there.has(id)) instances.remove(id);
    for (const { runtime: inside, given: own, ...described } of state.instances) {
      const starters = startersOf(inside, platform);
      const { counters } = instances.restore(described, starters.start, {
        restart: starters.restart,
        given: own,
      }).runtime;
      counters.restore(inside.counts);
    }
    runtime.idSeries.last = state.idSeries;
    connections.clear();
    applied = 0;
  };
  const openInstances = (server: Runtime) =>
    createInstances({
      ...{ most: maxInstances, server, clock: platform },
      newId() {
        if (newId === undefined) throw new Error("an entry made an instance without its id");
        return newId;
      },
      onCreate(instance) {
        for (const listener of instanceListeners) listener(instance);
      },
    });
  const startOver = ({ foundedAt, snapshot }: LogStart) => {
    const isFirst = runtime === undefined;
    if (snapshot === undefined) {
      goTo(foundedAt);
      const first = () => start(platform);
      for (const { id } of instances?.list() ?? []) instances?.remove(id);
      if (runtime === undefined) runtime = createRuntime(first, { given });
      else {
        const world = first();
        runtime.replace(world, first);
        runtime.counters.clear();
        runtime.idSeries.last = world.requestIds.series();
      }
      instances ??= openInstances(runtime);
      connections.clear();
      applied = 0;
    } else restore(JSON.parse(snapshot.text));
    if (isFirst) return;
    // Whoever follows its events has missed some.
    for (const one of [runtime as Runtime, ...(instances as Instances).list().map((each) => each.runtime)]) {
      const { name: scenario, seed, events } = one.world();
      events.announce({ type: "world.started", scenario, seed });
    }
  };

  const connectionOf = (entry: Extract<Entry, { kind: "request" }>): Connection | undefined => {
    if (entry.connection === undefined) return undefined;
    const [id, repeats] = entry.connection;
    const known = connections.get(id);
    if (known !== undefined) return known;
    if (connections.size === mostConnections) connections.delete(connections.keys().next().value as string);
    const connection = { repeatsOfLoop: repeats ?? Number.POSITIVE_INFINITY };
    connections.set(id, connection);
    return connection;
  };
  const drawFor = (entry: Extract<Entry, { kind: "call" }>, own: Own | undefined) => {
    newId = entry.newId;
    const { newKey } = entry;
    if (newKey === undefined) return;
    if (own?.keyWords !== undefined) {
      random = playBack(own.keyWords);
      return;
    }
    const standIn = (environment: (typeof environments)[number]) =>
      secretFrom(standInStream(), { environment, legacy: false });
    random = standInStream();
    hashes = Object.fromEntries(environments.map((each) => [standIn(each), newKey[each]]));
  };
  const run = (entry: Entry, position: string, own: Own | undefined): unknown => {
    const server = runtime as Runtime;
    const all = instances as Instances;
    const inside = entry.instance === undefined ? undefined : all.use(entry.instance);
    const { runtime: here } = inside ?? { runtime: server };
    const place = (): ControlPlace => ({
      runtime: here,
      instances: entry.instance === undefined ? all : undefined,
      isGone: entry.instance !== undefined && inside === undefined,
      baseUrl: own?.baseUrl ?? (() => ""),
    });
    switch (entry.kind) {
      case "request": {
        const { request } = entry;
        hashes = request.hashes;
        const world = here.world();
        const isLost = entry.instance !== undefined && inside === undefined;
        // The instance went meanwhile: its paths are unknown ones.
        const path = isLost ? `/i/${entry.instance}${request.path}` : request.path;
        return { ...handle(world, { ...request, path, connection: connectionOf(entry) }), world };
      }
      case "call":
        drawFor(entry, own);
        return runCall(entry.call, place());
      case "look":
        here.world();
        return own?.read?.(place());
      case "unread":
        here.counters.countUnread();
        return;
      case "sweep":
        all.sweep(entry.ttl);
        return;
      case "compact": {
        if (applied < entry.least) return;
        const text = JSON.stringify(describeReplica(server, all, now.at));
        restore(JSON.parse(text));
        if (own !== undefined) log.keepSnapshot({ position, text }).catch(onProblem);
      }
    }
  };
  const apply = ({ position, at, text }: LogEntry): Outcome => {
    goTo(at);
    applied += 1;
    try {
      const entry = readEntry(text);
      const own = entry.by === name ? (kept.get(entry.n) ?? {}) : undefined;
      isOwn = own !== undefined;
      const value = run(entry, position, own);
      // For others, only what it does at once matters.
      if (own === undefined && value instanceof Promise) value.catch(() => {});
      if (isOwn && applied >= compactEvery && !isCompacting) compact();
      return { value };
    } catch (error) {
      return { error };
    } finally {
      hashes = noHashes;
      random = undefined;
      newId = undefined;
      isOwn = false;
    }
  };
  const compact = () => {
    isCompacting = true;
    appendAlone({ kind: "compact", least: compactEvery }).finally(() => {
      isCompacting = false;
    });
  };
  await log.follow({ start: startOver, apply });
  const followed = { runtime: runtime as unknown as Runtime, instances: instances as unknown as Instances };

  const elapsed = () => nodePlatform.stopwatch() - now.since;
  let isLooking = false;
  const timer = setInterval(() => {
    const runtimes = [followed.runtime, ...followed.instances.list().map((one) => one.runtime)];
    if (isLooking || !runtimes.some((one) => isDue(one, elapsed()))) return;
    isLooking = true;
    appendAlone({ kind: "look" }).finally(() => {
      isLooking = false;
    });
  }, pollInterval);
  timer.unref();
  const stopSweeping = sweepIdle(instanceTtl, () => {
    const oldest = now.at + elapsed() - instanceTtl;
    const isAnyIdle = followed.instances.list().some(({ usedAt }) => usedAt <= oldest);
    if (isAnyIdle) appendAlone({ kind: "sweep", ttl: instanceTtl });
  });

  const names = new WeakMap<Connection, string>();
  let named = 0;
  const nameOf = (connection: Connection): string => {
    let known = names.get(connection);
    if (known === undefined) {
      named += 1;
      known = `${name}.${named}`;
      names.set(connection, known);
    }
    return known;
  };
  return {
    ...followed,
    answer(request, instance) {
      const { connection } = request;
      const repeats =
        connection?.repeatsOfLoop === Number.POSITIVE_INFINITY ? null : connection?.repeatsOfLoop;
      const content: EntryContent = {
        kind: "request",
        request: maskRequest(request, nodePlatform.sha256),
        ...(connection !== undefined && { connection: [nameOf(connection), repeats as number | null] }),
      };
      return append(content, instance) as Promise<AnsweredRequest>;
    },
    call(call, { instance, baseUrl }) {
      const { makes, ...plain } = call;
      if (makes === "instance") {
        return append({ kind: "call", call: plain, newId: newInstanceId() }, instance, { baseUrl });
      }
      if (makes !== "key") return append({ kind: "call", call: plain }, instance, { baseUrl });
      const keyWords: number[] = [];
      const secretIn = (environment: (typeof environments)[number]) =>
        secretFrom(playBack(keyWords), { environment, legacy: false });
      const hashOf = (environment: (typeof environments)[number]) =>
        nodePlatform.sha256(secretIn(environment));
      const newKey = { test: hashOf("test"), live: hashOf("live") };
      return append({ kind: "call", call: plain, newKey }, instance, { baseUrl, keyWords });
    },
    look: (read, { instance, baseUrl }) => append({ kind: "look" }, instance, { read, baseUrl }) as never,
    countUnread: (instance) => void appendAlone({ kind: "unread" }, instance),
    onInstance(listener) {
      for (const instance of followed.instances.list()) listener(instance);
      instanceListeners.add(listener);
    },
    isOwn: () => isOwn,
    status: log.status,
    async close() {
      clearInterval(timer);
      stopSweeping();
      followed.instances.close();
      await log.close();
    },
  };
}

// A fixed stream, which stands for the random numbers that the appender alone knows.
function standInStream(): RandomStream {
  return randomStream(0, "stand-in");
}

// The words from the first one on; draws those that are not there yet.
function playBack(words: number[]): RandomStream {
  let next = 0;
  return () => {
    if (next === words.length) words.push(nodePlatform.random());
    next += 1;
    return words[next - 1] as number;
  };
}

function isDue(runtime: Runtime, elapsed: number): boolean {
  const { timeline, clock } = runtime.world();
  if (timeline.dueAt === Number.POSITIVE_INFINITY) return false;
  return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : elapsed);
}
