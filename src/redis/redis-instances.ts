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
import { loadToReplay } from "./careful-replay.js";
import { type FollowedSandbox, followSandbox, noSandbox, type Shared } from "./followed-sandbox.js";
import { noRoomInRedis } from "./redis-connection.js";
import { changeScript, listScript, ownId, removeScript } from "./redis-scripts.js";
import { createIn, type Loaded, startAt } from "./stored-sandbox.js";

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

/** Creates the instances of a store. This server loads an instance when it is used. */
export function createRedisInstances(shared: Shared, limits: InstanceLimits) {
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = limits;
  const now = nodePlatform.stopwatch;
  const { connection } = shared;
  const { keys } = connection;
  // An instance that is in use is never removed early, although its expiry is not stored with each use.
  const margin = Math.min(instanceTtl / 50, 60_000);
  const loaded = keepLoaded<{ readonly sandbox: FollowedSandbox }>();
  type Open = ReturnType<typeof loaded.add>;
  const loading = new Map<string, Promise<Open | EndedInstance | undefined>>();
  const expiryListeners = new Set<(instance: Pick<ListedInstance, "id" | "tenancy">) => void>();
  let stored = { bytes: 0, count: 0 };
  let listedAt = Number.NEGATIVE_INFINITY;

  const isFollowed = ({ gone }: Open) => getEventListeners(gone, "abort").length > 0;
  /** Unloads the least recently used instances until `most` are left, except those whose events are followed. */
  const unloadTo = (most: number) => {
    const all = loaded.loaded();
    const idle = all.filter((one) => !isFollowed(one)).sort((one, other) => other.idle - one.idle);
    // An append that is in progress is applied to the copy that appended it, also after that is unloaded.
    for (const { id } of idle.slice(0, Math.max(0, all.length - most))) loaded.remove(id);
  };
  const budget = createMemoryBudget(limits.maxMemory, () => unloadTo(loaded.loaded().length / 2));
  const mostLoaded = Math.max(10, Math.floor(budget.status().most / 2 / bytesOfLoaded));

  const loadNow = async (id: string): Promise<Open | EndedInstance | undefined> => {
    const loadedAt = now();
    const optionsOf = ({ settings }: Loaded): Settings => JSON.parse(settings || "{}");
    const found = await loadToReplay(connection, id, optionsOf, shared.runCall);
    if (found === undefined || "ended" in found) return found;
    if (found.settings === "") return undefined;
    const settings: Settings = JSON.parse(found.settings);
    /** The use that the stored expiry covers. */
    let covered = Number.NEGATIVE_INFINITY;
    const expires = () => {
      const { usedAt } = instance;
      if (usedAt === loadedAt || usedAt - covered < margin) return "";
      covered = usedAt;
      const idleEnd = connection.time() - now() + usedAt + instanceTtl + margin;
      return String(Math.ceil(settings.tenancy.expiresAt ?? idleEnd));
    };
    const onGone = async () => {
      loaded.remove(id);
      return false;
    };
    const sandbox = followSandbox(found, { ...settings, id, expires, onGone }, shared);
    if (loaded.loaded().length >= mostLoaded) unloadTo(mostLoaded * 0.75);
    const { tenancy, createdAt } = settings;
    const instance = loaded.add({ id, tenancy, createdAt, sandbox }, sandbox.runtime, loadedAt);
    return instance;
  };
  const load = async (id: string): Promise<Open | EndedInstance | undefined> => {
    const there = loaded.find(id);
    if (there !== undefined) return there;
    const found = loading.get(id) ?? loadNow(id).finally(() => loading.delete(id));
    loading.set(id, found);
    return found;
  };
  const readList = async () => {
    listedAt = now();
    const [hash, log] = keys.of(ownId);
    const reply = await connection.run(listScript, [keys.list, hash, log], keys.parts);
    const [at, bytes, ended, alive] = reply as unknown as [
      at: string,
      bytes: number,
      ended: readonly [id: string, settings: string][],
      alive: readonly [id: string, settings: string, head: string, left: number][],
    ];
    stored = { bytes, count: alive.length };
    for (const [id, text] of ended) {
      loaded.remove(id);
      for (const listener of expiryListeners) listener(listedOf(id, text));
    }
    return { at, alive };
  };
  const list = async (): Promise<ListedInstance[]> => {
    const { at, alive } = await readList();
    return alive.map(([id, text, head, left]) => {
      const listed = listedOf(id, text);
      const appended = Number(at) - Math.max(listed.createdAt, Number.parseInt(head, 10));
      const used = listed.tenancy.expiresAt === undefined ? instanceTtl + margin - left : appended;
      return { ...listed, idle: Math.max(0, Math.min(appended, used)) };
    });
  };
  const textOf = async (id: string) => (await connection.command("HGET", keys.list, id)) as string | null;
  /**
   * Changes the settings of an instance, unless another server has changed them in between: then it tries again. Changes nothing
   * after `latest` (on the stopwatch).
   */
  const change = async (
    id: string,
    make: (before: Settings | undefined) => Partial<Settings>,
    latest?: number,
  ) => {
    const until = latest === undefined ? "" : String(connection.time() - now() + latest);
    for (;;) {
      const before = await textOf(id);
      const settings: Settings | undefined = before === null ? undefined : JSON.parse(before);
      const after = JSON.stringify({ ...settings, ...make(settings) });
      if (before === null) throw noInstance(id);
      const found = await connection.run(changeScript, [keys.list], [id, before, after, until]);
      if (found === "late") throw connection.unavailable();
      if (found === "") return listedOf(id, after);
    }
  };
  /** Returns how many instances fit into Redis, next to what others keep there. */
  const roomInRedis = async (): Promise<number> => {
    const info = String(await connection.command("INFO", "memory").catch(() => ""));
    const [used, most] = ["used_memory", "maxmemory"].map((name) =>
      Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0),
    ) as [number, number];
    const others = Math.max(0, used - stored.bytes);
    return most === 0 ? Number.POSITIVE_INFINITY : Math.floor((most - others) / bytesOfSandbox) - 1;
  };
  const create = async (
    source: NamedScenario,
    given: GivenOptions,
    tenancy: Tenancy = {},
    id = newInstanceId(),
  ) => {
    const there = tenancy.madeBy === undefined ? undefined : await load(id);
    if (there !== undefined && !("ended" in there)) return there;
    budget.requireRoom();
    const most = Math.min(maxInstances, await roomInRedis());
    const group = await connection.command("HINCRBY", keys.of(ownId)[0], "groups", "1");
    const idGroup = firstGroup + Number(group);
    const createdAt = Math.floor(connection.time());
    const runtime = startAt(createdAt, source, given, idGroup);
    const { name, seed } = settled(runtime);
    const settings: Settings = { tenancy, createdAt, name, seed, given, idGroup };
    const expiresAt = tenancy.expiresAt ?? createdAt + instanceTtl + margin;
    const listed = { settings: JSON.stringify(settings), most, expiresAt };
    const outcome = await createIn(connection, id, describeSandbox(runtime), listed);
    if (outcome === "full") throw most < maxInstances ? noRoomInRedis() : tooMany(maxInstances);
    const made = await load(id);
    if (made === undefined || "ended" in made) throw noInstance(id);
    return made;
  };

  const instancesUntil = (latest?: number): Instances => ({
    ...loaded,
    create,
    list,
    async get(id) {
      const text = await connection.within(() => textOf(id), waits.token);
      return text === null ? undefined : listedOf(id, text);
    },
    async remove(id) {
      const removed = await connection.run(removeScript, keys.of(id), [id]);
      loaded.remove(id);
      stored = { ...stored, count: stored.count - 1 };
      if (removed === 0) throw noInstance(id);
    },
    changeHashes: (id, hashes, check) =>
      change(
        id,
        (settings) => {
          check?.(settings?.tenancy);
          return { tenancy: { ...settings?.tenancy, ...hashes } };
        },
        latest,
      ),
    count: () => stored.count,
    onExpired: (listener) => void expiryListeners.add(listener),
  });
  return {
    instances: instancesUntil(),
    /** The instances for a call whose outcome is awaited until then (on the stopwatch): later, it changes no link. */
    instancesUntil,
    budget,
    list,
    load,
    bytes: () => stored.bytes,
    /** Returns the sandboxes of the loaded instances, or only of those whose events somebody follows. */
    sandboxes: (which = (_: Open) => true) =>
      loaded
        .loaded()
        .filter(which)
        .map(({ sandbox }) => sandbox),
    isFollowed,
    enter: (id: string): Entered | Promise<Entered> =>
      loaded.use(id) ??
      connection
        .within(() => load(id), waits.load)
        .then((found) => (found !== undefined && "ended" in found ? found : loaded.use(id))),
    /** Acts on the sandbox of an instance, and counts this as a use; resolves to `noSandbox` if it is gone. */
    async inside(id: string, act: (sandbox: FollowedSandbox) => Promise<unknown>): Promise<unknown> {
      const found = loaded.find(id) ?? (await load(id));
      if (found === undefined || "ended" in found) return noSandbox;
      loaded.use(id);
      return act(found.sandbox);
    },
    /** Updates the list after a call, which may have given the instance another scenario. */
    async refresh(id: string): Promise<void> {
      const one = loaded.find(id);
      if (one !== undefined) await change(id, () => ({ name: one.name, seed: one.seed }));
    },
    /** Unloads instances that nobody uses, and removes from the list what has expired. */
    async unloadUnused(): Promise<void> {
      for (const one of loaded.loaded()) {
        if (one.idle >= times.idle && !isFollowed(one)) loaded.remove(one.id);
      }
      if (now() - listedAt >= times.list) await readList();
    },
  };
}

function listedOf(id: string, text: string): ListedInstance {
  return { ...(JSON.parse(text) as Settings), id, idle: 0 };
}
