import { getEventListeners } from "node:events";
import { starterOf } from "../library/create-sandbox.js";
import { nodePlatform } from "../node/platform.js";
import type { ApiRequest, Exchange } from "../sandbox/history/exchange.js";
import { createRuntime, type GivenOptions, type Runtime } from "../sandbox/runtime.js";
import { describeRuntime, type RuntimeState } from "../sandbox/state.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { drawKey, type Entry } from "./entries.js";
import { createEventIds } from "./event-ids.js";
import type { Extended } from "./extend-state.js";
import {
  type FollowedSandbox,
  followSandbox,
  type Loaded,
  loadSandbox,
  noSandbox,
  packed,
} from "./followed-sandbox.js";
import {
  defaultInstanceTtl,
  defaultMaxInstances,
  type EndedInstance,
  endedInstance,
  type Instance,
  type InstanceLimits,
  type InstanceState,
  type Instances,
  type ListedInstance,
  newInstanceId,
  noInstance,
  type Tenancy,
  tooMany,
} from "./instances.js";
import { type Caller, type Log, type LogStatus, placeOf, type RunIn } from "./log.js";
import { maskCall, maskRequest } from "./mask.js";
import { createMemoryBudget } from "./memory-budget.js";
import { keysOf, ownId } from "./redis-address.js";
import type { RedisConnection } from "./redis-connection.js";
import { isFullness, reasonOf } from "./redis-problems.js";
import { changeScript, createScript, listScript, removeScript } from "./redis-scripts.js";
import { type OwnPart, type RunCall, shortened } from "./sandbox-copy.js";

export interface RedisLogOptions extends InstanceLimits {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly given: GivenOptions;
  readonly runCall: RunCall;
  /** The server's own sandbox. */
  readonly own: Loaded;
  /** Creates the server's own sandbox again, after the store lost it. */
  readonly recreate: () => Promise<void>;
  /** Called with a failure that no caller waits for. */
  readonly onProblem: (error: unknown) => void;
  readonly onWarning: (message: string) => void;
  readonly onNote: (message: string) => void;
}

export interface RedisLog extends Log {
  /** Adds a scenario's new organizations and keys to the sandbox. Resolves to a message if anything else differs. */
  readonly extend: (from: string, scenario: NamedScenario) => Promise<Extended | string>;
}

/** The settings of an instance in the list, as JSON. */
interface Settings extends Pick<ListedInstance, "tenancy" | "createdAt" | "name" | "seed"> {
  readonly given: GivenOptions;
  readonly idGroup: number;
}

/** An instance that this server has loaded. */
interface Open {
  readonly instance: Instance;
  readonly sandbox: FollowedSandbox;
  /** What the list shows of its scenario. Changed in place. */
  readonly listed: { name: string; seed: number };
  readonly end: () => void;
}

/** The bytes of Redis for one sandbox at most, unless its scenario is large; for the limit of instances. */
const bytesOfSandbox = 200_000;
/** The bytes of the memory budget for one loaded instance. */
const bytesOfLoaded = 250_000;
/** Idle milliseconds before an instance is unloaded, between two readings of the list, and between two attempts to make room. */
const times = { idle: 60_000, list: 5000, room: 1000 };
/** How many requests journals keep when Redis is full, in the order of the attempts. */
const journalsWhenFull = [100, 20, 0];
/** The part of the timeout for what precedes a call: loading an instance, and checking its token. */
const quick = 1 / 4;
/** The first group of request ids of instances: the series before it belong to the server's own sandbox. */
const firstGroup = 2 ** 20;

/**
 * Creates the log of a server whose sandboxes are in Redis. Several servers share them: every change or read of a sandbox goes
 * through its log there, and each server that has loaded the sandbox applies the entries to its own copy.
 */
export function createRedisLog(options: RedisLogOptions): RedisLog {
  const { prefix, given, runCall, onNote, onWarning } = options;
  const connection = inUse(options.connection);
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const now = nodePlatform.stopwatch;
  const keys = keysOf(prefix);
  // An instance that is in use is never removed early, although its expiry is not stored with each use.
  const margin = Math.min(instanceTtl / 50, 60_000);
  const open = new Map<string, Open>();
  const opening = new Map<string, Promise<Open | EndedInstance | undefined>>();
  const listeners = new Set<(instance: Instance) => void>();
  const expiryListeners = new Set<(instance: Pick<ListedInstance, "id" | "tenancy">) => void>();
  let isOwn = false;
  let isClosed = false;
  let losses = 0;
  let stored = { bytes: 0, count: 0, most: Number.POSITIVE_INFINITY };
  let rejection: string | undefined;
  let isFull = false;
  let attempt = 0;
  let triedAt = Number.NEGATIVE_INFINITY;
  let makingRoom: Promise<void> | undefined;

  const report = (error: unknown) => {
    const isAway = error instanceof SandboxError && error.code === "store_unavailable";
    if (!isClosed && !isAway) options.onProblem(error);
  };
  const makeRoom = async (journal: number) => {
    // Others may have made room for the list; instances that nobody uses have logs, too.
    const listed = attempt === 0 ? [] : await list().catch(() => []);
    for (const { id } of listed) await load(id).catch(() => {});
    await Promise.all(sandboxes().map((one) => one.compact(journal)));
    triedAt = now();
  };
  const onRejected = async (error?: Error): Promise<boolean> => {
    if (error === undefined) {
      if (rejection === undefined) return true;
      onNote(`The store ${connection.shown} accepts writes again.`);
      [rejection, isFull, attempt] = [undefined, false, 0];
      return true;
    }
    isFull = isFullness(error);
    const journal = journalsWhenFull[attempt];
    if (isFull && makingRoom !== undefined) return makingRoom.then(() => true);
    if (isFull && journal !== undefined) {
      makingRoom = makeRoom(journal).catch(report);
      await makingRoom;
      makingRoom = undefined;
      attempt += 1;
      return true;
    }
    if (isFull && now() - triedAt > times.room) attempt = 1;
    if (rejection === undefined) {
      rejection = reasonOf(error);
      onWarning(
        `The store ${connection.shown} rejects writes: ${rejection}. Requests that it cannot store get 503 until it accepts them.`,
      );
    }
    return false;
  };
  const shared = {
    ...{ connection, runCall, report, onRejected },
    onOwn: (is: boolean) => {
      isOwn = is;
    },
    onLoss() {
      losses += 1;
      onWarning(
        `The store ${connection.shown} has lost data: the sandbox starts again from the remaining data.`,
      );
    },
  };
  const own = followSandbox(options.own, {
    ...{ ...shared, keys: keys.of(ownId), id: ownId, given },
    async onGone() {
      shared.onLoss();
      await options.recreate();
      return true;
    },
  });
  const sandboxes = () => [own, ...Array.from(open.values(), ({ sandbox }) => sandbox)];
  const budget = createMemoryBudget(options.maxMemory, () => unloadTo(open.size / 2));
  const mostLoaded = Math.max(10, Math.floor(budget.status().most / 2 / bytesOfLoaded));

  // An append that is under way is applied to the copy that appended it, also after that is unloaded.
  const canGo = ({ instance: { gone } }: Open) => getEventListeners(gone, "abort").length === 0;
  const close = (id: string) => {
    open.get(id)?.end();
    open.delete(id);
  };
  /** Unloads the least recently used instances until `number` are left. */
  const unloadTo = (number: number) => {
    const idle = [...open].filter(([, one]) => canGo(one));
    idle.sort(([, one], [, other]) => one.sandbox.usedAt() - other.sandbox.usedAt());
    for (const [id] of idle.slice(0, Math.max(0, open.size - number))) close(id);
  };
  const loadNow = async (id: string): Promise<Open | EndedInstance | undefined> => {
    const loaded = await loadSandbox(connection, keys.of(id), id);
    if (typeof loaded === "string") return endOf(loaded);
    if (loaded.settings === "") return undefined;
    const settings: Settings = JSON.parse(loaded.settings);
    const { expiresAt } = settings.tenancy;
    let expiryStored = Number.NEGATIVE_INFINITY;
    const ending = new AbortController();
    const sandbox = followSandbox(loaded, {
      ...{ ...shared, ...settings, keys: keys.of(id), id },
      expires() {
        if (sandbox.usedAt() < expiryStored || now() - expiryStored < margin) return "";
        if (expiresAt !== undefined && expiryStored > 0) return "";
        expiryStored = now();
        return String(Math.ceil(expiresAt ?? connection.time() + instanceTtl + margin));
      },
      async onGone() {
        close(id);
        return false;
      },
    });
    const { runtime } = sandbox;
    const instance: Instance = {
      ...{ ...settings, id, runtime, gone: ending.signal },
      get idle() {
        return now() - sandbox.usedAt();
      },
      get name() {
        return runtime.world().name;
      },
      get seed() {
        return runtime.world().seed;
      },
    };
    runtime.counters.curlOptions = own.runtime.counters.curlOptions;
    if (open.size >= mostLoaded) unloadTo(mostLoaded * 0.75);
    const { name, seed } = settings;
    const made = { instance, sandbox, listed: { name, seed }, end: () => ending.abort() };
    open.set(id, made);
    for (const listener of listeners) listener(instance);
    return made;
  };
  /** Loads an instance once for all callers. */
  const load = (id: string): Promise<Open | EndedInstance | undefined> => {
    const there = open.get(id);
    if (there !== undefined) return Promise.resolve(there);
    const loading = opening.get(id) ?? loadNow(id).finally(() => opening.delete(id));
    opening.set(id, loading);
    return loading;
  };

  /** Reads the list, and removes what has expired. */
  const readList = async (what: "all" | ""): Promise<ListedInstance[]> => {
    const [, log] = keys.of(ownId);
    const argv = [...keys.parts, what];
    const reply = await connection.run(listScript, [keys.list, keys.of(ownId)[0], log], argv);
    const [at, bytes, count, ended, alive] = reply as unknown as [
      string,
      number,
      number,
      readonly [id: string, settings: string][],
      readonly [id: string, settings: string, head: string, left: number][],
    ];
    stored = { bytes, count, most: stored.most };
    for (const [id, settings] of ended) {
      close(id);
      for (const listener of expiryListeners) listener({ id, ...(JSON.parse(settings) as Settings) });
    }
    return alive.map(([id, text, head, left]) => {
      const settings: Settings = JSON.parse(text);
      const { tenancy, createdAt } = settings;
      const appended = Number(at) - Math.max(createdAt, Number.parseInt(head, 10));
      const used = tenancy.expiresAt === undefined ? instanceTtl + margin - left : appended;
      return { ...settings, id, idle: Math.max(0, Math.min(appended, used)) };
    });
  };
  const list = () => readList("all");
  // How many sandboxes fit into Redis, next to what others keep there.
  const measureRoom = async () => {
    const info = String(await connection.command("INFO", "memory").catch(() => ""));
    const [used, most] = ["used_memory", "maxmemory"].map((name) =>
      Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0),
    ) as [number, number];
    const others = Math.max(0, used - stored.bytes);
    stored.most = most === 0 ? Number.POSITIVE_INFINITY : Math.floor((most - others) / bytesOfSandbox) - 1;
  };
  const textOf = async (id: string) => (await connection.command("HGET", keys.list, id)) as string | null;
  const listedOf = (id: string, text: string): ListedInstance => ({
    ...(JSON.parse(text) as Settings),
    id,
    idle: 0,
  });
  const change = async (id: string, make: (before: Settings | undefined) => Partial<Settings>) => {
    for (;;) {
      const before = await textOf(id);
      const settings: Settings | undefined = before === null ? undefined : JSON.parse(before);
      const after = JSON.stringify({ ...settings, ...make(settings) });
      if (before === null) throw noInstance(id);
      const found = await connection.run(changeScript, [keys.list], [id, before, after]);
      if (found === "") return listedOf(id, after);
    }
  };
  const create = async (source: NamedScenario, from: GivenOptions, tenancy: Tenancy = {}) => {
    budget.requireRoom();
    const [hash] = keys.of(ownId);
    await measureRoom();
    const group = await connection.command("HINCRBY", hash, "groups", "1").catch(notFull);
    const idGroup = firstGroup + Number(group);
    const at = Math.floor(connection.time());
    const runtime = startAt(at, source, from, idGroup);
    const { name, seed } = runtime.world();
    const id = newInstanceId();
    const settings: Settings = { tenancy, createdAt: at, name, seed, given: from, idGroup };
    const most = Math.min(maxInstances, stored.most);
    const state = describeRuntime(runtime);
    const outcome = await createIn(connection, prefix, id, state, {
      listed: {
        ...{ settings: JSON.stringify(settings), most },
        expiresAt: tenancy.expiresAt ?? at + instanceTtl + margin,
      },
    }).catch(notFull);
    if (outcome === "full") throw most < maxInstances ? noRoomInRedis() : tooMany(maxInstances);
    const made = await load(id);
    if (made === undefined || "ended" in made) throw noInstance(id);
    return made.instance;
  };
  const instances: Instances = {
    create,
    list,
    async get(id) {
      const text = await connection.within(quick, textOf(id));
      return text === null ? undefined : listedOf(id, text);
    },
    async remove(id) {
      const removed = await connection.run(removeScript, keys.of(id), [id]);
      close(id);
      stored.count -= 1;
      if (removed === 0) throw noInstance(id);
    },
    changeHashes: (id, hashes, check) =>
      change(id, (settings) => {
        check?.(settings?.tenancy);
        return { tenancy: { ...settings?.tenancy, ...hashes } };
      }),
    count: () => stored.count,
    loaded: () => Array.from(open.values(), ({ instance }) => instance),
    find: (id) => open.get(id)?.instance,
    follow(listener) {
      for (const { instance } of open.values()) listener(instance);
      listeners.add(listener);
    },
    onExpired: (listener) => void expiryListeners.add(listener),
    close() {
      for (const { end } of open.values()) end();
    },
  };

  const use = ({ sandbox }: Open) => {
    sandbox.use();
    return sandbox;
  };
  /** Acts on an instance; resolves to `noSandbox` if it is gone. */
  const inside = async (id: string, act: (sandbox: FollowedSandbox) => Promise<unknown>) => {
    const there = open.get(id) ?? (await load(id));
    if (there === undefined || "ended" in there) return noSandbox;
    return act(use(there));
  };
  const act = async (
    from: Caller,
    run: RunIn,
    on: (sandbox: FollowedSandbox, part: OwnPart) => Promise<unknown>,
  ) => {
    const { instance: id } = from;
    const place = placeOf(from, instances);
    if (id === undefined) return on(own, { place });
    const outcome = await inside(id, (sandbox) =>
      on(sandbox, { place: { ...place, runtime: sandbox.runtime } }),
    );
    return outcome === noSandbox ? run({ ...place, isGone: true }) : outcome;
  };
  const look: Log["look"] = (read, from) =>
    act(from, read, (sandbox, part) => sandbox.look({ ...part, read }));
  const entryOf = (request: ApiRequest): Entry => ({
    ...{ kind: "request", request: maskRequest(request, nodePlatform.sha256) },
  });
  const requestIn = async (id: string, request: ApiRequest): Promise<Exchange> => {
    const outcome = await inside(id, (sandbox) => sandbox.append(entryOf(request)));
    if (outcome !== noSandbox) return outcome as Exchange;
    const found = await load(id);
    if (found !== undefined && "ended" in found) throw endedInstance(found);
    // The path of an unknown instance is an unknown path.
    return own.append(entryOf({ ...request, path: `/i/${id}${request.path}` })) as Promise<Exchange>;
  };
  // An instance may have got another scenario.
  const updateListed = async (id: string) => {
    const { instance, listed } = open.get(id) ?? {};
    if (instance === undefined || listed === undefined) return;
    const { name, seed } = instance;
    if (listed.name === name && listed.seed === seed) return;
    Object.assign(listed, { name, seed });
    await change(id, () => ({ name, seed }));
  };

  let isSettling = false;
  let listedAt = Number.NEGATIVE_INFINITY;
  const settle = async () => {
    // Also shows whether Redis still responds, and brings the entries of other servers to followers of events.
    const followed = Array.from(open.values()).filter((one) => !canGo(one));
    const reads = [own, ...followed.map(({ sandbox }) => sandbox)].map((one) => one.look());
    const due = sandboxes().filter((one) => one.copy.isDue(connection.time()));
    const looks = due.map((one) => one.append({ kind: "look" }, {}, true));
    if (rejection !== undefined) looks.push(own.append({ kind: "look" }));
    await Promise.all([...reads, ...looks]);
    const oldest = now() - times.idle;
    for (const [id, one] of open) if (one.sandbox.usedAt() <= oldest && canGo(one)) close(id);
    if (now() - listedAt < times.list) return;
    listedAt = now();
    await readList("");
  };
  return {
    runtime: own.runtime,
    instances,
    enter(id) {
      const there = open.get(id);
      if (there === undefined) {
        return connection.within(quick, load(id)).then((found) => {
          if (found === undefined || "ended" in found) return found;
          use(found);
          return found.instance;
        });
      }
      use(there);
      return there.instance;
    },
    // Another server may have turned on the preview.
    mayPreview: () => true,
    request: (request, { instance: id }) =>
      id === undefined ? (own.append(entryOf(request)) as Promise<Exchange>) : requestIn(id, request),
    countUnread({ instance: id }, exchange) {
      const append = (sandbox: FollowedSandbox) => sandbox.append({ kind: "unread", id: exchange });
      (id === undefined ? append(own) : inside(id, append)).catch(report);
    },
    async call({ makes, ...call }, run, from) {
      const key = makes === "key" ? drawKey() : undefined;
      const entry: Entry = { kind: "call", call: maskCall(call), ...(key && { newKey: key.newKey }) };
      const outcome = await act(from, run, (sandbox, part) =>
        sandbox.append(entry, { ...part, ...(key && { words: key.words() }) }),
      );
      if (from.instance !== undefined) await connection.within(quick, updateListed(from.instance));
      return outcome;
    },
    manage: (run, from) => connection.within(1, Promise.resolve(look(run, from))),
    look,
    eventIds: createEventIds(distantId).of,
    isOwn: () => isOwn,
    settle() {
      budget.settle();
      if (isSettling) return;
      isSettling = true;
      settle()
        .catch(report)
        .finally(() => {
          isSettling = false;
        });
    },
    begin() {},
    extend: (from, scenario) =>
      own.append({ kind: "extend", from, ...scenario }) as Promise<Extended | string>,
    async describe() {
      const read = (sandbox: FollowedSandbox) => {
        const place = placeOf({ runtime: sandbox.runtime, instance: undefined, baseUrl: () => "" });
        return sandbox.look({ place, read: () => describeRuntime(sandbox.runtime) }) as Promise<RuntimeState>;
      };
      const described: InstanceState[] = [];
      const state = await read(own);
      for (const { id, idle, tenancy, createdAt } of await list()) {
        const found = await load(id);
        // It may have been removed in between.
        if (found === undefined || "ended" in found) continue;
        const { given, idGroup } = found.instance.runtime;
        described.push({
          ...tenancy,
          id,
          createdAt,
          idle,
          given,
          idGroup,
          runtime: await read(found.sandbox),
        });
      }
      return { own: state, idSeries: own.runtime.idSeries.last, instances: described };
    },
    memory: budget.status,
    status(): LogStatus {
      const away = connection.problem();
      const problem =
        away === undefined
          ? rejection && `The store rejects writes: ${rejection}.`
          : "The store cannot be reached.";
      const reachable = away === undefined;
      return {
        in: "store",
        problem,
        isFull,
        reachable,
        latencyMs: connection.latencyMs(),
        bytes: stored.bytes,
        losses,
      };
    },
    async close() {
      isClosed = true;
      connection.close();
    },
  };
}

/** Starts a sandbox at an instant (epoch milliseconds), equal on every server. */
export function startAt(at: number, source: NamedScenario, given: GivenOptions, idGroup?: number): Runtime {
  const { scenario, name, text } = source;
  const time = () => at;
  const platform = { ...nodePlatform, time, steadyTime: time, stopwatch: time };
  return createRuntime(starterOf(platform, scenario, { ...given, name, text }), { given, idGroup });
}

interface Listed {
  readonly settings: string;
  readonly most: number;
  readonly expiresAt: number;
}

/** Creates a sandbox in Redis unless it exists; resolves to `created`, `exists` or `full`. */
export async function createIn(
  { run }: RedisConnection,
  prefix: string,
  id: string,
  state: RuntimeState,
  { founding = "", listed }: { readonly founding?: string; readonly listed?: Listed },
) {
  const [hash, log, list] = keysOf(prefix).of(id);
  // No two sandboxes share a position.
  const position = `0-${nodePlatform.random()}`;
  const { settings = "", most = 0, expiresAt } = listed ?? {};
  return run(
    createScript,
    [hash, log, list],
    [
      ...[await packed(JSON.stringify(shortened(state))), position, founding],
      ...[listed === undefined ? "" : id, settings, String(most)],
      expiresAt === undefined ? "" : String(Math.ceil(expiresAt)),
    ],
  );
}

/** A connection whose calls reject with `store_unavailable`, also if Redis rejects them, such as while it loads its data. */
function inUse(connection: RedisConnection): RedisConnection {
  const reject = (error: unknown): never => {
    if (error instanceof SandboxError) throw error;
    throw Object.assign(connection.unavailable(reasonOf(error)), { cause: error });
  };
  return {
    ...connection,
    command: (...argv) => connection.command(...argv).catch(reject),
    run: (...call) => connection.run(...call).catch(reject),
  };
}

/** Reads why and when an instance ended. */
function endOf(text: string): EndedInstance | undefined {
  const [ended, at] = text.split(" ");
  return ended === "removed" || ended === "expired" ? { ended, at: Number(at) } : undefined;
}

function notFull(error: unknown): never {
  throw isFullness((error as Error).cause) ? noRoomInRedis() : error;
}

function noRoomInRedis(): SandboxError {
  return new SandboxError(
    "memory_limit_reached",
    "Redis has no room for another instance: remove unused instances with DELETE /__sandbox/instances/{id}, or increase its maxmemory.",
  );
}

// Each server numbers its own events. Another server's ids must be unknown here, so that its clients detect a gap.
function distantId(): number {
  return (1 + (nodePlatform.random() % 900_000)) * 1e9;
}
