import { starterOf } from "../../library/create-sandbox.js";
import { nodePlatform } from "../../node/platform.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../world/runtime.js";
import { describeRuntime } from "../../world/state.js";
import type { Platform } from "../../world/world.js";
import {
  type Instance,
  type InstanceList,
  isOver,
  type ListedInstance,
  noInstance,
  type Tenancy,
  tooMany,
} from "../instances.js";
import type { InstanceReport, InstancesContent } from "./entries.js";
import type { CopyPlatform, SandboxState } from "./sandbox-copy.js";
import type { FirstState } from "./shared-log.js";

/** An instance in every replica's list, loaded or not. Changed in place. */
export interface Registered extends ListedInstance {
  tenancy: Tenancy;
  usedAt: number;
  name: string;
  seed: number;
  readonly given: GivenOptions;
  readonly idGroup: number;
  /** The scenario that it starts with; `undefined` once its log contains it. */
  source: NamedScenario | undefined;
}

/** The list of a server's instances as plain data, without their sandboxes. */
export interface RegistryState {
  readonly instances: readonly (Omit<Registered, "usedAt" | "source"> & {
    /** Milliseconds since its last use. */
    readonly idle: number;
    /** The index of its scenario, which many instances share. */
    readonly source: number | undefined;
  })[];
  readonly sources: readonly NamedScenario[];
  /** The instances whose logs must be erased, and since when (epoch milliseconds). */
  readonly erasing: readonly (readonly [id: string, since: number])[];
  /** The number of the last report of each replica. */
  readonly reported: readonly (readonly [replica: string, number: number])[];
}

/** How many replicas' last reports are stored. */
const mostReplicas = 1000;

interface RegistryOptions extends CopyPlatform {
  readonly most: number;
  readonly server: () => Runtime;
  /** Called with each removed instance. */
  readonly onGone: (id: string) => void;
}

export type Registry = ReturnType<typeof createRegistry>;

/** Creates the list of a server's instances. Only entries of the server's log change it. */
export function createRegistry({ most, server, platform, newId, onGone }: RegistryOptions) {
  const instances = new Map<string, Registered>();
  const erasing = new Map<string, number>();
  const reported = new Map<string, number>();
  const find = (id: string): Registered => {
    const instance = instances.get(id);
    if (instance === undefined) throw noInstance(id);
    return instance;
  };
  const discard = (id: string) => {
    if (!instances.delete(id)) return;
    erasing.set(id, platform.time());
    onGone(id);
  };
  const sweep = (ttl: number) => {
    for (const one of instances.values()) if (isOver(one, ttl, platform)) discard(one.id);
  };
  const applyReport = ({ from, number, used, counts, begun, erased }: InstanceReport) => {
    if ((reported.get(from) ?? 0) >= number) return;
    reported.delete(from);
    reported.set(from, number);
    if (reported.size > mostReplicas) reported.delete(reported.keys().next().value as string);
    if (counts !== undefined) server().counters.add(counts);
    for (const [id, changed] of Object.entries(used)) {
      const instance = instances.get(id);
      if (instance !== undefined) Object.assign(instance, changed, { usedAt: platform.stopwatch() });
    }
    for (const id of begun) {
      const instance = instances.get(id);
      if (instance !== undefined) instance.source = undefined;
    }
    for (const id of erased) erasing.delete(id);
  };
  const list: InstanceList = {
    create(source, given, tenancy = {}): Instance {
      if (instances.size >= most) throw tooMany(most);
      const runtime = startOf(source, given, platform);
      const { idSeries } = server();
      idSeries.last += 1;
      const { name, seed } = runtime.world();
      const id = newId();
      const [createdAt, usedAt] = [platform.time(), platform.stopwatch()];
      const made = { id, tenancy, createdAt, usedAt, name, seed, given, idGroup: idSeries.last, source };
      instances.set(id, made);
      return { ...made, runtime, gone: new AbortController().signal };
    },
    list: () => [...instances.values()],
    get: (id) => instances.get(id),
    remove: (id) => discard(find(id).id),
    changeHashes(id, hashes) {
      const instance = find(id);
      instance.tenancy = { ...instance.tenancy, ...hashes };
      return instance;
    },
  };
  return {
    list,
    get: (id: string): Registered | undefined => instances.get(id),
    all: () => instances.values(),
    /** The instances whose logs must be erased, and since when (epoch milliseconds). */
    erasing: () => [...erasing],
    apply(content: InstancesContent): void {
      if (content.kind === "lost") discard(content.id);
      else if (content.kind === "sweep") sweep(content.ttl);
      else applyReport(content);
    },
    describe(): RegistryState {
      const sources: NamedScenario[] = [];
      const indexes = new Map<string, number>();
      const indexOf = (source: NamedScenario) => {
        const text = JSON.stringify(source);
        const index = indexes.get(text) ?? sources.push(source) - 1;
        indexes.set(text, index);
        return index;
      };
      const described = Array.from(instances.values(), ({ usedAt, source, ...one }) => ({
        ...one,
        idle: platform.stopwatch() - usedAt,
        source: source && indexOf(source),
      }));
      return { instances: described, sources, erasing: [...erasing], reported: [...reported] };
    },
    restore(state: RegistryState): void {
      const before = [...instances.keys()];
      instances.clear();
      for (const { idle, source, ...one } of state.instances) {
        const from = source === undefined ? undefined : state.sources[source];
        instances.set(one.id, { ...one, usedAt: platform.stopwatch() - idle, source: from });
      }
      erasing.clear();
      for (const [id, since] of state.erasing) erasing.set(id, since);
      reported.clear();
      for (const [replica, number] of state.reported) reported.set(replica, number);
      for (const id of before) if (!instances.has(id)) onGone(id);
    },
  };
}

function startOf(
  { scenario, name, text }: NamedScenario,
  given: GivenOptions,
  platform: Platform,
  idGroup?: number,
): Runtime {
  return createRuntime(starterOf(platform, scenario, { ...given, name, text }), { given, idGroup });
}

/** Starts a sandbox at an instant (epoch milliseconds), equal on every replica. */
export function startAt(at: number, source: NamedScenario, given: GivenOptions, idGroup?: number): Runtime {
  const time = () => at;
  return startOf(source, given, { ...nodePlatform, time, steadyTime: time, stopwatch: time }, idGroup);
}

/** Returns the first state of an instance, equal on every replica; `undefined` if its log exists or existed. */
export function firstStateOf({ source, given, idGroup, createdAt: at }: Registered): FirstState | undefined {
  if (source === undefined) return undefined;
  const state: SandboxState = { own: describeRuntime(startAt(at, source, given, idGroup)) };
  return { at, text: JSON.stringify(state) };
}
