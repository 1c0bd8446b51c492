import { createMemoryBudget } from "../../node/memory.js";
import { nodePlatform } from "../../node/platform.js";
import { describeSandbox } from "../../sandbox/start.js";
import {
  type EndedInstance,
  type Instance,
  type InstanceLimits,
  type Instances,
  keepLoaded,
  type ListedInstance,
  limitsOf,
  newInstanceId,
  noInstance,
  type Tenancy,
  tooMany,
} from "../instances.js";
import { ownId } from "../state-format.js";
import { followSandbox } from "./follow.js";
import { type FollowedSandbox, noSandbox, type Shared } from "./followed-sandbox.js";
import { noRoomInRedis } from "./redis-connection.js";
import { changeScript, listScript, removeScript } from "./redis-scripts.js";
import { createListed, loadSandbox, type Settings, startAt } from "./stored-sandbox.js";

/** The bytes of Redis for one sandbox at most, unless its scenario is large; for the limit of instances. */
const bytesOfSandbox = 300_000;
/** The bytes of the memory budget for one loaded instance. */
const bytesOfLoaded = 250_000;
/** Idle milliseconds before an instance is unloaded, and between two readings of the list. */
const times = { idle: 60_000, list: 5000 };
/** The milliseconds that a request waits, besides the timeout of its own call: for its instance, and for its token. */
export const waits = { load: 700, token: 300 };
/** The first group of request ids of instances: the series before it belong to the server's own sandbox. */
const firstGroup = 2 ** 20;

const now = () => nodePlatform.stopwatch();

type Followed = { readonly followed: FollowedSandbox };
type Open = Instance & Followed;
type Found = Open | EndedInstance | undefined;

const isOpen = (found: Found): found is Open => found !== undefined && "followed" in found;

/** A server whose sandboxes are in Redis: its own, and those of the instances that it has loaded. */
export interface Replica {
  readonly shared: Shared;
  readonly own: FollowedSandbox;
  readonly budget: ReturnType<typeof createMemoryBudget>;
  readonly loaded: ReturnType<typeof keepLoaded<Followed>>;
  readonly loading: Map<string, Promise<Found>>;
  readonly onExpired: Set<(instance: ListedInstance) => void>;
  readonly limits: ReturnType<typeof limitsOf>;
  /** An instance that is in use is never removed early, although its expiry is not stored with each use. */
  readonly margin: number;
  /** All sandboxes in Redis, as of the last reading of the list. */
  stored: { readonly bytes: number; readonly count: number };
  listedAt: number;
  isRunningDue: boolean;
}

export function openServer(shared: Shared, own: FollowedSandbox, given: InstanceLimits): Replica {
  const limits = limitsOf(given);
  const server: Replica = {
    shared,
    own,
    limits,
    loaded: keepLoaded(),
    loading: new Map(),
    onExpired: new Set(),
    margin: Math.min(limits.instanceTtl / 50, 60_000),
    budget: createMemoryBudget(limits.maxMemory, () => unloadTo(server, server.loaded.loaded().length / 2)),
    stored: { bytes: 0, count: 0 },
    listedAt: Number.NEGATIVE_INFINITY,
    isRunningDue: false,
  };
  return server;
}

/** The instances for a call whose outcome is awaited until then (on the stopwatch): later, it changes no link. */
export function instancesUntil(server: Replica, latest?: number): Instances {
  return {
    ...server.loaded,
    create: (...given) => create(server, ...given),
    list: () => listInstances(server),
    get: async (id) => {
      const text = await server.shared.connection.within(() => textOf(server, id), waits.token);
      return text === null ? undefined : listedOf(id, text);
    },
    remove: (id) => remove(server, id),
    changeHashes(id, hashes, check) {
      const make = (tenancy: Tenancy | undefined) => {
        check?.(tenancy);
        return { tenancy: { ...tenancy, ...hashes } };
      };
      return change(server, id, make, latest);
    },
    count: () => server.stored.count,
    onExpired: (listener) => void server.onExpired.add(listener),
  };
}

/** Returns the own sandbox and those of loaded instances. */
export function sandboxesOf({ own, loaded }: Replica) {
  return [own, ...loaded.loaded().map(({ followed }) => followed)];
}

/** Returns the instance of an id and counts this as a use, or when it ended; `undefined` if there is none. */
export function enterInstance(server: Replica, id: string, max = waits.load): Found | Promise<Found> {
  const { loaded, shared } = server;
  return loaded.use(id) ?? shared.connection.within(() => useInstance(server, id), max);
}

async function useInstance(server: Replica, id: string): Promise<Found> {
  const loadedInstance = await loadInstance(server, id);
  return server.loaded.use(id) ?? loadedInstance;
}

/** Acts on the own sandbox or that of an instance, and counts this as a use; resolves to `noSandbox` if it is gone. */
export async function inside(
  server: Replica,
  id: string | undefined,
  act: (sandbox: FollowedSandbox) => Promise<unknown>,
): Promise<unknown> {
  if (id === undefined) return act(server.own);
  const instance = server.loaded.use(id) ?? (await useInstance(server, id));
  return isOpen(instance) ? act(instance.followed) : noSandbox;
}

export async function loadInstance(server: Replica, id: string): Promise<Found> {
  const { loaded, loading } = server;
  const there = loaded.find(id);
  if (there !== undefined) return there;
  const found = loading.get(id) ?? load(server, id).finally(() => loading.delete(id));
  loading.set(id, found);
  return found;
}

export async function listInstances(server: Replica): Promise<ListedInstance[]> {
  const { limits, margin } = server;
  const { at, alive } = await readList(server);
  return alive.map(([id, text, head, left]) => {
    const listed = listedOf(id, text);
    const appended = Number(at) - Math.max(listed.createdAt, Number.parseInt(head, 10));
    const ofExpiry = limits.instanceTtl + margin - left;
    const used = listed.tenancy.expiresAt === undefined ? ofExpiry : appended;
    return { ...listed, idle: Math.max(0, Math.min(appended, used)) };
  });
}

/** Updates the list after a call, which may have given the instance another scenario. */
export async function relistInstance(server: Replica, id: string): Promise<void> {
  const instance = server.loaded.find(id);
  if (instance !== undefined) await change(server, id, () => ({ name: instance.name, seed: instance.seed }));
}

/** Unloads instances that nobody uses, and removes from the list what has expired. */
export async function unloadUnused(server: Replica): Promise<void> {
  for (const instance of server.loaded.loaded()) {
    if (instance.idle >= times.idle) server.loaded.remove(instance.id);
  }
  if (now() - server.listedAt >= times.list) await readList(server);
}

/** Unloads the least recently used instances until `max` are left. */
function unloadTo({ loaded }: Replica, max: number): void {
  const all = loaded.loaded();
  const idle = all.sort((one, other) => other.idle - one.idle);
  // An append that is in progress is applied to the copy that appended it, also after that is unloaded.
  for (const { id } of idle.slice(0, Math.max(0, all.length - max))) loaded.remove(id);
}

async function load(server: Replica, id: string): Promise<Found> {
  const { shared, loaded, margin, limits, budget } = server;
  const loadedAt = now();
  const content = await loadSandbox(shared.connection, id);
  if (content === undefined || "ended" in content) return content;
  if (content.settings === undefined) return undefined;
  const { tenancy, createdAt } = content.settings;
  /** The use that the stored expiry covers. */
  let covered = Number.NEGATIVE_INFINITY;
  const expires = () => {
    const { usedAt } = instance;
    if (usedAt === loadedAt || usedAt - covered < margin) return "";
    covered = usedAt;
    const idleEnd = shared.connection.time(usedAt) + limits.instanceTtl + margin;
    return String(Math.ceil(tenancy.expiresAt ?? idleEnd));
  };
  const onGone = async () => {
    loaded.remove(id);
    return false;
  };
  const { given, idGroup } = content.settings;
  const followed = followSandbox(content, { id, given, idGroup, expires, onGone }, shared);
  const maxLoaded = Math.max(10, Math.floor(budget.status().max / 2 / bytesOfLoaded));
  if (loaded.loaded().length >= maxLoaded) unloadTo(server, maxLoaded * 0.75);
  const instance = loaded.add({ id, tenancy, createdAt, followed }, followed.state, loadedAt);
  return instance;
}

async function readList(server: Replica) {
  server.listedAt = now();
  const { connection } = server.shared;
  const { list, parts, of } = connection.keys;
  const [hash, log] = of(ownId);
  const reply = await connection.runScript(listScript, [list, hash, log], parts);
  const [at, bytes, ended, alive] = reply as unknown as [
    at: string,
    bytes: number,
    ended: readonly [id: string, settings: string][],
    alive: readonly [id: string, settings: string, head: string, left: number][],
  ];
  server.stored = { bytes, count: alive.length };
  for (const [id, text] of ended) {
    server.loaded.remove(id);
    for (const listener of server.onExpired) listener(listedOf(id, text));
  }
  return { at, alive };
}

async function textOf({ shared: { connection } }: Replica, id: string): Promise<string | null> {
  return (await connection.command("HGET", connection.keys.list, id)) as string | null;
}

/**
 * Changes the settings of an instance, unless another server has changed them in between: then it tries again. Changes nothing
 * after `latest` (on the stopwatch).
 */
async function change(
  server: Replica,
  id: string,
  make: (before: Tenancy | undefined) => Partial<Settings>,
  latest?: number,
): Promise<ListedInstance> {
  const { connection } = server.shared;
  const until = latest === undefined ? "" : String(connection.time(latest));
  for (;;) {
    const before = await textOf(server, id);
    const settings: Settings | undefined = before === null ? undefined : JSON.parse(before);
    const after = JSON.stringify({ ...settings, ...make(settings?.tenancy) });
    if (before === null) throw noInstance(id);
    const argv = [id, before, after, until];
    const reply = await connection.runScript(changeScript, [connection.keys.list], argv);
    if (reply === "late") throw connection.unavailable();
    if (reply === "") return listedOf(id, after);
  }
}

/** Returns how many instances fit into Redis, next to what others keep there. */
async function roomInRedis({ shared, stored }: Replica): Promise<number> {
  const info = String(await shared.connection.command("INFO", "memory").catch(() => ""));
  const numberOf = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  const max = numberOf("maxmemory");
  const others = Math.max(0, numberOf("used_memory") - stored.bytes);
  return max === 0 ? Number.POSITIVE_INFINITY : Math.floor((max - others) / bytesOfSandbox) - 1;
}

async function create(server: Replica, ...asked: Parameters<Instances["create"]>): Promise<Open> {
  const [source, given, tenancy = {}, id = newInstanceId()] = asked;
  const { limits, budget, margin } = server;
  const { connection } = server.shared;
  const there = tenancy.madeBy === undefined ? undefined : await loadInstance(server, id);
  if (isOpen(there)) return there;
  budget.requireRoom();
  const max = Math.min(limits.maxInstances, await roomInRedis(server));
  const group = await connection.command("HINCRBY", connection.keys.of(ownId)[0], "groups", "1");
  const idGroup = firstGroup + Number(group);
  const createdAt = Math.floor(connection.time());
  const state = describeSandbox(startAt(createdAt, source, given, idGroup));
  const about = { tenancy, createdAt, given, idGroup };
  const usedUntil = createdAt + limits.instanceTtl + margin;
  const outcome = await createListed(connection, id, state, about, usedUntil, max);
  if (outcome === "full") throw max < limits.maxInstances ? noRoomInRedis() : tooMany(limits.maxInstances);
  const instance = await loadInstance(server, id);
  if (!isOpen(instance)) throw noInstance(id);
  return instance;
}

async function remove(server: Replica, id: string): Promise<void> {
  const { connection } = server.shared;
  const removed = await connection.runScript(removeScript, connection.keys.of(id), [id]);
  server.loaded.remove(id);
  server.stored = { ...server.stored, count: server.stored.count - 1 };
  if (removed === 0) throw noInstance(id);
}

function listedOf(id: string, text: string): ListedInstance {
  return { ...(JSON.parse(text) as Settings), id, idle: 0 };
}
