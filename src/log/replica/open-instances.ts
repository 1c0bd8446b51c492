import { getEventListeners } from "node:events";
import { nodePlatform } from "../../node/platform.js";
import type { Counters } from "../../world/counters.js";
import type { Instance, LoadedInstances } from "../instances.js";
import { createJournals, defaultMostJournals, keptPart } from "../journals.js";
import { copyInstance } from "./copies.js";
import { type DrivenCopy, type Driver, driveCopy } from "./driven-copy.js";
import { firstStateOf, type Registered, type Registry } from "./registry.js";
import type { RunCall } from "./sandbox-copy.js";
import { noLog, type ServerLog } from "./shared-log.js";

/** A loaded instance: this replica follows its log. */
export interface OpenInstance {
  readonly instance: Instance;
  readonly driven: DrivenCopy;
}

interface OpenInstancesOptions {
  readonly log: ServerLog;
  readonly registry: Registry;
  readonly runCall: RunCall;
  readonly driver: Driver;
  /** Counts the requests that this replica appended. */
  readonly counters: Pick<Counters, "count" | "countUnread">;
  readonly curlOptions: () => string;
  /** Resolves when the list of instances is up to date. */
  readonly catchUp: () => Promise<unknown>;
  /** The maximum number of loaded instances, unless more are in use. */
  readonly most: number;
}

/** An instance's log is compacted after this many characters. */
const compactCharacters = 1e6;
/** Idle milliseconds before an instance is unloaded. */
const idleTime = 60_000;

/** Creates the set of instances that this replica uses. Each is loaded for its first request, and unloaded when idle. */
export function createOpenInstances(options: OpenInstancesOptions) {
  const { log, registry, runCall, driver, counters, curlOptions, catchUp, most } = options;
  const now = nodePlatform.stopwatch;
  const open = new Map<string, OpenInstance & { usedAt: number; readonly end: () => void }>();
  const opening = new Map<string, Promise<OpenInstance | undefined>>();
  const listeners = new Set<(instance: Instance) => void>();
  let isTrimming = false;

  const trim = async (kept: number) => {
    if (isTrimming) return;
    isTrimming = true;
    const all = Array.from(open.values(), ({ instance: { runtime }, driven }) => ({ runtime, driven }));
    const { long, share } = journals.share(all, kept);
    const appends = long.map(({ driven }) => driven.append({ kind: "discard", most: share }));
    await Promise.all(appends).catch(driver.report);
    isTrimming = false;
  };
  const journals = createJournals(defaultMostJournals, trim);
  const close = (id: string) => {
    const one = open.get(id);
    open.delete(id);
    one?.end();
    return one?.driven.log.close();
  };
  const unload = async (id: string, { driven }: OpenInstance) => {
    await driven.rest();
    // It may have been used in between.
    if (driven.isIdle() && open.get(id)?.driven === driven) await close(id);
  };
  const canGo = ({ driven, instance: { gone } }: OpenInstance) =>
    driven.isIdle() && getEventListeners(gone, "abort").length === 0;
  /** Unloads the least recently used instances until `number` are left. */
  const keep = (number: number) => {
    const idle = [...open].filter(([, one]) => canGo(one)).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [id] of idle.slice(0, Math.max(0, open.size - number))) close(id);
  };
  const load = async (registered: Registered): Promise<OpenInstance | undefined> => {
    const { id } = registered;
    const copy = copyInstance(registered, runCall);
    const inside = log.inside(id, () => firstStateOf(registered));
    const driven = driveCopy(copy, inside, driver, compactCharacters);
    const outcome = await driven.follow().catch(async (error) => {
      await inside.close();
      throw error;
    });
    // An instance that was just removed must not start again.
    if (registered.source !== undefined) await catchUp();
    if (outcome === noLog || registry.get(id) === undefined) {
      await inside.close();
      await log.erase(id);
      return undefined;
    }
    const runtime = copy.runtime();
    const ending = new AbortController();
    const listed = (): Registered => registry.get(id) ?? registered;
    const instance: Instance = {
      ...{ id, createdAt: registered.createdAt, runtime, gone: ending.signal },
      get tenancy() {
        return listed().tenancy;
      },
      get usedAt() {
        return listed().usedAt;
      },
      get name() {
        return runtime.world().name;
      },
      get seed() {
        return runtime.world().seed;
      },
    };
    runtime.counters.curlOptions = curlOptions();
    runtime.counters.passOnTo(counters);
    journals.watch(runtime);
    if (open.size >= most) keep(Math.floor(most * keptPart));
    const made = { instance, driven, usedAt: now(), end: () => ending.abort() };
    open.set(id, made);
    for (const listener of listeners) listener(instance);
    return made;
  };

  const loaded: LoadedInstances = {
    loaded: () => Array.from(open.values(), ({ instance }) => instance),
    find: (id) => open.get(id)?.instance,
    follow(listener) {
      for (const { instance } of open.values()) listener(instance);
      listeners.add(listener);
    },
    close() {
      for (const { end } of open.values()) end();
    },
  };
  return {
    loaded,
    all: () => open.values(),
    /** Returns the instance if it is loaded, and counts this as a use. */
    use(id: string): OpenInstance | undefined {
      const one = open.get(id);
      if (one !== undefined) one.usedAt = now();
      return one;
    },
    /** Loads an instance once for all callers; resolves to `undefined` if its log is gone. */
    load(registered: Registered): Promise<OpenInstance | undefined> {
      const { id } = registered;
      const there = this.use(id);
      if (there !== undefined) return Promise.resolve(there);
      const loading = opening.get(id) ?? load(registered).finally(() => opening.delete(id));
      opening.set(id, loading);
      return loading;
    },
    close,
    keep,
    /** Unloads idle instances. */
    settle(): void {
      const oldest = now() - idleTime;
      for (const [id, one] of open) {
        if (one.usedAt <= oldest && canGo(one)) unload(id, one).catch(driver.report);
      }
    },
  };
}
