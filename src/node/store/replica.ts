import { type Environment, environments } from "../../domain/api-key.js";
import { base62From, type RandomStream } from "../../domain/seed.js";
import type { ApiRequest, Connection } from "../../sandbox/history/exchange.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { secretFrom } from "../../sandbox/scenario-keys.js";
import type { ControlCall, ControlPlace } from "../control/call.js";
import { type Instance, type Instances, newInstanceId, sweepIdle } from "../control/instances.js";
import { clearInterval, nodePlatform, setInterval } from "../platform.js";
import { type Entry, type EntryContent, entryText, type NewKeyHashes, readEntry } from "./entries.js";
import type { LogEntry, LogSnapshot, LogStatus, SharedLog } from "./log.js";
import { maskCall, maskRequest } from "./mask.js";
import {
  type AnsweredRequest,
  type CopyOptions,
  createCopy,
  type Outcome,
  type OwnPart,
} from "./replica-copy.js";

/**
 * One of several servers that share their sandboxes by a log: whatever changes or reads them is appended, and every replica
 * applies each entry to its own copy. Each function here answers with what came of its entry in this copy, and rejects with
 * `store_unavailable` when that is not known.
 */
export interface Replica {
  /** The server's own sandbox, for reading: what is done to it beside the log, this copy alone has. */
  readonly runtime: Runtime;
  readonly instances: Instances;
  /** Answers a request to the API of the server's own sandbox, or of an instance. */
  readonly answer: (request: ApiRequest, instance?: string) => Promise<AnsweredRequest>;
  /** Runs a call of the control plane on every replica. */
  readonly call: (call: ControlCall, from: Caller) => Promise<unknown>;
  /** Calls `read` once everything is applied that any replica has acknowledged. */
  readonly look: (read: (place: ControlPlace) => unknown, from: Caller) => Promise<unknown>;
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

export interface ReplicaOptions extends Omit<CopyOptions, "onInstance"> {
  readonly log: SharedLog;
  readonly instanceTtl: number;
  /** The entries after which the log is compacted. Default: 20,000. */
  readonly compactEvery?: number;
  /** Called when an entry could not be appended for which no caller waits. */
  readonly onProblem: (error: unknown) => void;
}

const pollInterval = 250;

/** Follows a log as a replica; resolves once it has everything that was stored. */
export async function createReplica(options: ReplicaOptions): Promise<Replica> {
  const { log, instanceTtl, compactEvery = 20_000, onProblem, ...copied } = options;
  const name = base62From(nodePlatform.random, 8);
  const listeners = new Set<(instance: Instance) => void>();
  const copy = createCopy({
    ...copied,
    onInstance(instance) {
      for (const listener of listeners) listener(instance);
    },
  });

  // By the numbers of the entries that are under way.
  const ownParts = new Map<number, OwnPart>();
  let count = 0;
  let isOwn = false;
  let isClosed = false;
  const append = async (content: EntryContent, instance?: string, own: OwnPart = {}): Promise<unknown> => {
    count += 1;
    const n = count;
    ownParts.set(n, own);
    try {
      const outcome = (await log.append(entryText({ ...content, instance, by: name, n }))) as Outcome;
      if ("error" in outcome) throw outcome.error;
      return outcome.value;
    } finally {
      ownParts.delete(n);
    }
  };
  const report = (error: unknown) => {
    if (!isClosed) onProblem(error);
  };

  let isCompacting = false;
  const compact = async () => {
    isCompacting = true;
    try {
      const snapshot = (await append({ kind: "compact", least: compactEvery })) as LogSnapshot | undefined;
      if (snapshot !== undefined) await log.keepSnapshot(snapshot);
    } catch (error) {
      report(error);
    }
    isCompacting = false;
  };
  let appliedAt = nodePlatform.stopwatch();
  const apply = (logged: LogEntry): Outcome => {
    appliedAt = nodePlatform.stopwatch();
    let entry: Entry;
    try {
      entry = readEntry(logged.text);
    } catch (error) {
      report(error);
      return { error };
    }
    isOwn = entry.by === name;
    const outcome = copy.apply(entry, logged, isOwn ? (ownParts.get(entry.n) ?? {}) : undefined);
    // By whoever is asked the most.
    if (isOwn && !isCompacting && copy.applied() >= compactEvery) compact();
    isOwn = false;
    return outcome;
  };
  await log.follow({ start: copy.startFrom, apply });

  const { runtime, instances } = copy.sandboxes();
  /** About now, by the store's clock. */
  const time = () => copy.now() + nodePlatform.stopwatch() - appliedAt;
  let isLooking = false;
  const timer = setInterval(() => {
    const all = [runtime, ...instances.list().map((instance) => instance.runtime)];
    if (isLooking || !all.some((one) => isDue(one, time() - copy.now()))) return;
    isLooking = true;
    append({ kind: "look" })
      .catch(report)
      .finally(() => {
        isLooking = false;
      });
  }, pollInterval);
  timer.unref();
  const stopSweeping = sweepIdle(instanceTtl, () => {
    const oldest = time() - instanceTtl;
    const isAnyIdle = instances.list().some(({ usedAt }) => usedAt <= oldest);
    if (isAnyIdle) append({ kind: "sweep", ttl: instanceTtl }).catch(report);
  });

  const nameOf = createNames(name);
  return {
    runtime,
    instances,
    answer(request, instance) {
      const { connection } = request;
      const content: EntryContent = {
        kind: "request",
        request: maskRequest(request, nodePlatform.sha256),
        ...(connection !== undefined && { connection: nameOf(connection) }),
      };
      return append(content, instance) as Promise<AnsweredRequest>;
    },
    call(given, { instance, baseUrl }) {
      const { makes, ...call } = maskCall(given);
      if (makes === "instance") {
        return append({ kind: "call", call, newId: newInstanceId() }, instance, { baseUrl });
      }
      if (makes !== "key") return append({ kind: "call", call }, instance, { baseUrl });
      const { newKey, words } = drawKey();
      return append({ kind: "call", call, newKey }, instance, { baseUrl, keyWords: words() });
    },
    look: (read, { instance, baseUrl }) => append({ kind: "look" }, instance, { read, baseUrl }),
    countUnread: (instance) => void append({ kind: "unread" }, instance).catch(report),
    onInstance(listener) {
      for (const instance of instances.list()) listener(instance);
      listeners.add(listener);
    },
    isOwn: () => isOwn,
    status: log.status,
    async close() {
      isClosed = true;
      clearInterval(timer);
      stopSweeping();
      await log.close();
    },
  };
}

function isDue(runtime: Runtime, elapsed: number): boolean {
  const { timeline, clock } = runtime.world();
  return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : elapsed);
}

// Names for connections that no other replica gives.
function createNames(replica: string): (connection: Connection) => readonly [string, number | null] {
  const names = new WeakMap<Connection, readonly [string, number | null]>();
  let count = 0;
  return (connection) => {
    const known = names.get(connection);
    if (known !== undefined) return known;
    count += 1;
    const { repeatsOfLoop } = connection;
    const name = [`${replica}.${count}`, Number.isFinite(repeatsOfLoop) ? repeatsOfLoop : null] as const;
    names.set(connection, name);
    return name;
  };
}

// The random numbers of a key, of which the others get the hashes: whether it is a test or a live one is decided later.
function drawKey(): { readonly newKey: NewKeyHashes; readonly words: () => RandomStream } {
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
