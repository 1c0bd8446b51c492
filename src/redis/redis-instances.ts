import { getEventListeners } from "node:events";
import {
  defaultInstanceTtl,
  defaultMaxInstances,
  type EndedInstance,
  type InstanceLimits,
  type Instances,
  keepLoaded,
  type ListedInstance,
  newInstanceId,
  noInstance,
  type Tenancy,
  tooMany,
} from "../log/instances.js";
import type { Entered } from "../log/log.js";
import { createMemoryBudget } from "../node/memory.js";
import { nodePlatform } from "../node/platform.js";
import { settled } from "../sandbox/operations/operations.js";
import type { GivenOptions } from "../sandbox/sandbox.js";
import { describeSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { type FollowedSandbox, followSandbox, noSandbox, type Shared } from "./followed-sandbox.js";
import { commandRedis, redisTime, runScript, storeUnavailable, withinTimeout } from "./redis-connection.js";
import { noRoomInRedis } from "./redis-problems.js";
import { changeScript, listScript, ownId, removeScript } from "./redis-scripts.js";
import { createIn, type Loaded, loadToReplay, startAt } from "./stored-sandbox.js";

interface Settings extends Pick<ListedInstance, "tenancy" | "createdAt" | "name" | "seed"> {
  readonly given: GivenOptions;
  readonly idGroup: number;
}

/** The bytes of Redis for one sandbox at most, unless its scenario is large; for the limit of instances. */
const bytesOfSandbox = 200_000;
/** The bytes of the memory budget for one loaded instance. */
const bytesOfLoaded = 250_000;
/** Idle milliseconds before an instance is unloaded, and between two readings of the list. */
const times = { idle: 60_000, list: 5000 };
/** The milliseconds that a request waits, besides the timeout of its own call: for its instance, and for its token. */
const waits = { load: 700, token: 300 };
/** The first group of request ids of instances: the series before it belong to the server's own sandbox. */
const firstGroup = 2 ** 20;

const now = () => nodePlatform.stopwatch();

type Open = ReturnType<ReturnType<typeof keepLoaded<{ readonly sandbox: FollowedSandbox }>>["add"]>;
type Found = Open | EndedInstance | undefined;

const isOpen = (found: Found): found is Open => found !== undefined && !("ended" in found);
const isFollowed = ({ gone }: Open) => getEventListeners(gone, "abort").length > 0;

/** The instances of a store. This server loads an instance when it is used. */
export interface RedisInstances {
  readonly shared: Shared;
  readonly budget: ReturnType<typeof createMemoryBudget>;
  readonly loaded: ReturnType<typeof keepLoaded<{ readonly sandbox: FollowedSandbox }>>;
  readonly loading: Map<string, Promise<Found>>;
  readonly expiryListeners: Set<(instance: Pick<ListedInstance, "id" | "tenancy">) => void>;
  readonly maxInstances: number;
  readonly instanceTtl: number;
  /** An instance that is in use is never removed early, although its expiry is not stored with each use. */
  readonly margin: number;
  /** All sandboxes in Redis, as of the last reading of the list. */
  stored: { readonly bytes: number; readonly count: number };
  listedAt: number;
}

export function openInstances(
  shared: Shared,
  { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl, maxMemory }: InstanceLimits,
): RedisInstances {
  const all: RedisInstances = {
    ...{ shared, loaded: keepLoaded(), loading: new Map(), expiryListeners: new Set() },
    ...{ maxInstances, instanceTtl, margin: Math.min(instanceTtl / 50, 60_000) },
    budget: createMemoryBudget(maxMemory, () => unloadTo(all, all.loaded.loaded().length / 2)),
    ...{ stored: { bytes: 0, count: 0 }, listedAt: Number.NEGATIVE_INFINITY },
  };
  return all;
}

/** The instances for a call whose outcome is awaited until then (on the stopwatch): later, it changes no link. */
export function instancesUntil(all: RedisInstances, latest?: number): Instances {
  const { connection } = all.shared;
  return {
    ...all.loaded,
    create: (...given) => create(all, ...given),
    list: () => listInstances(all),
    get: async (id) => {
      const text = await withinTimeout(connection, () => textOf(all, id), waits.token);
      return text === null ? undefined : listedOf(id, text);
    },
    remove: (id) => remove(all, id),
    changeHashes(id, hashes, check) {
      const make = (settings: Settings | undefined) => {
        check?.(settings?.tenancy);
        return { tenancy: { ...settings?.tenancy, ...hashes } };
      };
      return change(all, id, make, latest);
    },
    count: () => all.stored.count,
    onExpired: (listener) => void all.expiryListeners.add(listener),
  };
}

/** Returns the sandboxes of the loaded instances, or only of those whose events somebody follows. */
export function loadedSandboxes({ loaded }: RedisInstances, which: "loaded" | "followed" = "loaded") {
  const all = loaded.loaded();
  return (which === "loaded" ? all : all.filter(isFollowed)).map(({ sandbox }) => sandbox);
}

export function enterInstance(all: RedisInstances, id: string): Entered | Promise<Entered> {
  const entered = async () => {
    const found = await withinTimeout(all.shared.connection, () => loadInstance(all, id), waits.load);
    return isOpen(found) ? all.loaded.use(id) : found;
  };
  return all.loaded.use(id) ?? entered();
}

/** Acts on the sandbox of an instance, and counts this as a use; resolves to `noSandbox` if it is gone. */
export async function insideInstance(
  all: RedisInstances,
  id: string,
  act: (sandbox: FollowedSandbox) => Promise<unknown>,
): Promise<unknown> {
  const found = all.loaded.find(id) ?? (await loadInstance(all, id));
  if (!isOpen(found)) return noSandbox;
  all.loaded.use(id);
  return act(found.sandbox);
}

export async function loadInstance(all: RedisInstances, id: string): Promise<Found> {
  const there = all.loaded.find(id);
  if (there !== undefined) return there;
  const found = all.loading.get(id) ?? load(all, id).finally(() => all.loading.delete(id));
  all.loading.set(id, found);
  return found;
}

export async function listInstances(all: RedisInstances): Promise<ListedInstance[]> {
  const { at, alive } = await readList(all);
  return alive.map(([id, text, head, left]) => {
    const listed = listedOf(id, text);
    const appended = Number(at) - Math.max(listed.createdAt, Number.parseInt(head, 10));
    const ofExpiry = all.instanceTtl + all.margin - left;
    const used = listed.tenancy.expiresAt === undefined ? ofExpiry : appended;
    return { ...listed, idle: Math.max(0, Math.min(appended, used)) };
  });
}

/** Updates the list after a call, which may have given the instance another scenario. */
export async function relistInstance(all: RedisInstances, id: string): Promise<void> {
  const one = all.loaded.find(id);
  if (one !== undefined) await change(all, id, () => ({ name: one.name, seed: one.seed }));
}

/** Unloads instances that nobody uses, and removes from the list what has expired. */
export async function unloadUnused(all: RedisInstances): Promise<void> {
  for (const one of all.loaded.loaded()) {
    if (one.idle >= times.idle && !isFollowed(one)) all.loaded.remove(one.id);
  }
  if (now() - all.listedAt >= times.list) await readList(all);
}

/** Unloads the least recently used instances until `most` are left, except those whose events are followed. */
function unloadTo({ loaded }: RedisInstances, most: number): void {
  const all = loaded.loaded();
  const idle = all.filter((one) => !isFollowed(one)).sort((one, other) => other.idle - one.idle);
  // An append that is in progress is applied to the copy that appended it, also after that is unloaded.
  for (const { id } of idle.slice(0, Math.max(0, all.length - most))) loaded.remove(id);
}

async function load(all: RedisInstances, id: string): Promise<Found> {
  const { shared, loaded, margin, instanceTtl } = all;
  const loadedAt = now();
  const optionsOf = ({ settings }: Loaded): Settings => JSON.parse(settings || "{}");
  const found = await loadToReplay(shared.connection, id, optionsOf, shared.runCall);
  if (found === undefined || "ended" in found) return found;
  if (found.settings === "") return undefined;
  const { tenancy, createdAt, given, idGroup } = optionsOf(found);
  /** The use that the stored expiry covers. */
  let covered = Number.NEGATIVE_INFINITY;
  const expires = () => {
    const { usedAt } = instance;
    if (usedAt === loadedAt || usedAt - covered < margin) return "";
    covered = usedAt;
    const idleEnd = redisTime(shared.connection, usedAt) + instanceTtl + margin;
    return String(Math.ceil(tenancy.expiresAt ?? idleEnd));
  };
  const onGone = async () => {
    loaded.remove(id);
    return false;
  };
  const sandbox = followSandbox(found, { id, given, idGroup, expires, onGone }, shared);
  const mostLoaded = Math.max(10, Math.floor(all.budget.status().most / 2 / bytesOfLoaded));
  if (loaded.loaded().length >= mostLoaded) unloadTo(all, mostLoaded * 0.75);
  const instance = loaded.add({ id, tenancy, createdAt, sandbox }, sandbox.copy.runtime, loadedAt);
  return instance;
}

async function readList(all: RedisInstances) {
  all.listedAt = now();
  const { connection } = all.shared;
  const { list, parts, of } = connection.keys;
  const [hash, log] = of(ownId);
  const reply = await runScript(connection, listScript, [list, hash, log], parts);
  const [at, bytes, ended, alive] = reply as unknown as [
    at: string,
    bytes: number,
    ended: readonly [id: string, settings: string][],
    alive: readonly [id: string, settings: string, head: string, left: number][],
  ];
  all.stored = { bytes, count: alive.length };
  for (const [id, text] of ended) {
    all.loaded.remove(id);
    for (const listener of all.expiryListeners) listener(listedOf(id, text));
  }
  return { at, alive };
}

async function textOf({ shared: { connection } }: RedisInstances, id: string): Promise<string | null> {
  return (await commandRedis(connection, "HGET", connection.keys.list, id)) as string | null;
}

/**
 * Changes the settings of an instance, unless another server has changed them in between: then it tries again. Changes nothing
 * after `latest` (on the stopwatch).
 */
async function change(
  all: RedisInstances,
  id: string,
  make: (before: Settings | undefined) => Partial<Settings>,
  latest?: number,
): Promise<ListedInstance> {
  const { connection } = all.shared;
  const until = latest === undefined ? "" : String(redisTime(connection, latest));
  for (;;) {
    const before = await textOf(all, id);
    const settings: Settings | undefined = before === null ? undefined : JSON.parse(before);
    const after = JSON.stringify({ ...settings, ...make(settings) });
    if (before === null) throw noInstance(id);
    const found = await runScript(
      connection,
      changeScript,
      [connection.keys.list],
      [id, before, after, until],
    );
    if (found === "late") throw storeUnavailable(connection);
    if (found === "") return listedOf(id, after);
  }
}

/** Returns how many instances fit into Redis, next to what others keep there. */
async function roomInRedis(all: RedisInstances): Promise<number> {
  const info = String(await commandRedis(all.shared.connection, "INFO", "memory").catch(() => ""));
  const numberOf = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  const most = numberOf("maxmemory");
  const others = Math.max(0, numberOf("used_memory") - all.stored.bytes);
  return most === 0 ? Number.POSITIVE_INFINITY : Math.floor((most - others) / bytesOfSandbox) - 1;
}

async function create(
  all: RedisInstances,
  source: NamedScenario,
  given: GivenOptions,
  tenancy: Tenancy = {},
  id = newInstanceId(),
): Promise<Open> {
  const { shared, maxInstances } = all;
  const { connection } = shared;
  const there = tenancy.madeBy === undefined ? undefined : await loadInstance(all, id);
  if (isOpen(there)) return there;
  all.budget.requireRoom();
  const most = Math.min(maxInstances, await roomInRedis(all));
  const group = await commandRedis(connection, "HINCRBY", connection.keys.of(ownId)[0], "groups", "1");
  const idGroup = firstGroup + Number(group);
  const createdAt = Math.floor(redisTime(connection));
  const runtime = startAt(createdAt, source, given, idGroup);
  const { name, seed } = settled(runtime);
  const settings: Settings = { tenancy, createdAt, name, seed, given, idGroup };
  const expiresAt = tenancy.expiresAt ?? createdAt + all.instanceTtl + all.margin;
  const listed = { settings: JSON.stringify(settings), most, expiresAt };
  const outcome = await createIn(connection, id, describeSandbox(runtime), listed);
  if (outcome === "full") throw most < maxInstances ? noRoomInRedis() : tooMany(maxInstances);
  const made = await loadInstance(all, id);
  if (!isOpen(made)) throw noInstance(id);
  return made;
}

async function remove(all: RedisInstances, id: string): Promise<void> {
  const { connection } = all.shared;
  const removed = await runScript(connection, removeScript, connection.keys.of(id), [id]);
  all.loaded.remove(id);
  all.stored = { ...all.stored, count: all.stored.count - 1 };
  if (removed === 0) throw noInstance(id);
}

function listedOf(id: string, text: string): ListedInstance {
  return { ...(JSON.parse(text) as Settings), id, idle: 0 };
}
