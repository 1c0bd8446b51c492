import { type Environment, environments } from "../../domain/api-key.js";
import { base62From, type RandomStream } from "../../domain/seed.js";
import type { Connection, Exchange } from "../../history/exchange.js";
import { nodePlatform } from "../../node/platform.js";
import type { Runtime } from "../../world/runtime.js";
import { secretFrom } from "../../world/scenario-keys.js";
import { createEventIds } from "../event-ids.js";
import {
  defaultInstanceTtl,
  defaultMaxInstances,
  type InstanceLimits,
  isOver,
  newInstanceId,
  runtimesOf,
} from "../instances.js";
import { type Caller, type Log, newSecret, type RunIn } from "../log.js";
import { createMemoryBudget } from "../memory-budget.js";
import type { Entry, EntryContent, NewKeyHashes } from "./entries.js";
import { maskCall, maskRequest } from "./mask.js";
import { type CopyOptions, createCopy, type Outcome, type OwnPart } from "./replica-copy.js";
import type { LogEntry, LogSnapshot, SharedLog } from "./shared-log.js";

export interface ReplicaOptions extends Omit<CopyOptions, "maxInstances">, InstanceLimits {
  readonly log: SharedLog;
  /** The entries, and their characters, after which the log is compacted. Default: 20,000 and 8 million. */
  readonly compactEvery?: number;
  readonly compactCharacters?: number;
  /** Called when an entry could not be appended for which no caller waits. */
  readonly onProblem: (error: unknown) => void;
}

/**
 * Makes this server one of several that share their sandboxes by a log: what changes or reads them is appended, and every
 * replica applies each entry to its own copy. Resolves once it has everything that was stored.
 *
 * All replicas of a log must have the same version, scenario, `given` and `maxInstances`: the founding compares them.
 */
export async function openReplica(options: ReplicaOptions): Promise<Log> {
  const { log, compactEvery = 20_000, compactCharacters = 8_000_000, onProblem, ...copied } = options;
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const name = base62From(nodePlatform.random, 8);
  const copy = createCopy({ ...copied, maxInstances });

  // By the numbers of the entries that are under way.
  const ownParts = new Map<number, OwnPart>();
  let count = 0;
  let isOwn = false;
  let isClosed = false;
  const append = async (
    content: EntryContent,
    instance?: string,
    own: OwnPart = {},
    how?: "making room",
  ): Promise<unknown> => {
    count += 1;
    const n = count;
    ownParts.set(n, own);
    try {
      const entry: Entry = { ...content, instance, by: name, n };
      const outcome = (await log.append(JSON.stringify(entry), how)) as Outcome;
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
  const compact = async (how?: "making room") => {
    isCompacting = true;
    try {
      // Where another replica's comes first, there are fewer by then.
      const content = { kind: "compact", least: copy.applied() } as const;
      const snapshot = (await append(content, undefined, {}, how)) as LogSnapshot | undefined;
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
      entry = JSON.parse(logged.text);
    } catch (error) {
      report(error);
      return { error };
    }
    isOwn = entry.by === name;
    const outcome = copy.apply(entry, logged, isOwn ? (ownParts.get(entry.n) ?? {}) : undefined);
    // By whoever is asked the most.
    const isLong = copy.applied() >= compactEvery || copy.sizes().characters >= compactCharacters;
    if (isOwn && !isCompacting && isLong) compact();
    isOwn = false;
    return outcome;
  };
  const makeRoom = () => {
    // Also after a snapshot that was made and could not be stored.
    const isWorthIt = copy.applied() > 1 || log.status().entries > 100;
    if (!isCompacting && isWorthIt) compact("making room");
  };
  await log.follow({ start: copy.startFrom, apply, makeRoom });

  const { runtime, instances } = copy.sandboxes();
  /** About now, by the store's clock. */
  const time = () => copy.now() + nodePlatform.stopwatch() - appliedAt;
  const nameOf = createNames(name);
  const budget = createMemoryBudget(options.maxMemory, () => {
    append({ kind: "discard" }).catch(report);
  });
  const look = (read: RunIn, { instance, baseUrl }: Omit<Caller, "runtime">) =>
    append({ kind: "look" }, instance, { read, baseUrl });
  let isSettling = false;
  const settle = async (contents: readonly EntryContent[]) => {
    if (isSettling) return;
    isSettling = true;
    for (const content of contents) await append(content).catch(report);
    isSettling = false;
  };
  return {
    runtime,
    instances,
    enter(id) {
      const find = () => instances.find(id);
      // Another replica may have made it just now.
      return find() ?? (look(find, { instance: undefined, baseUrl: () => "" }) as ReturnType<Log["enter"]>);
    },
    // Another replica may have turned it on.
    mayPreview: () => true,
    request(request, { instance }) {
      const { connection } = request;
      const content: EntryContent = {
        kind: "request",
        request: maskRequest(request, nodePlatform.sha256),
        ...(connection !== undefined && { connection: nameOf(connection) }),
      };
      return append(content, instance) as Promise<Exchange>;
    },
    countUnread: ({ instance }, id) => void append({ kind: "unread", id }, instance).catch(report),
    call(given, _run, { instance, baseUrl }) {
      if (given.makes === "instance") budget.requireRoom();
      const { makes, ...call } = maskCall(given);
      if (makes === "instance" || makes === "token") {
        const secrets = [newSecret(), newSecret()];
        const hashes = secrets.map(({ sha256 }) => sha256);
        const content = { kind: "call", call, newId: newInstanceId(), newSecrets: hashes } as const;
        return append(content, instance, { baseUrl, newSecrets: secrets });
      }
      if (makes !== "key") return append({ kind: "call", call }, instance, { baseUrl });
      const { newKey, words } = drawKey();
      return append({ kind: "call", call, newKey }, instance, { baseUrl, keyWords: words() });
    },
    look,
    eventIds: createEventIds(distantId).of,
    isOwn: () => isOwn,
    settle() {
      budget.settle();
      const elapsed = time() - copy.now();
      const now = { time, stopwatch: time };
      const isAnyDue = runtimesOf({ runtime, instances }).some((one) => isDue(one, elapsed));
      const isAnyIdle = instances.list().some((one) => isOver(one, instanceTtl, now));
      settle([
        ...(isAnyDue ? [{ kind: "look" } as const] : []),
        ...(isAnyIdle ? [{ kind: "sweep", ttl: instanceTtl } as const] : []),
      ]);
    },
    begin() {},
    memory: budget.status,
    status: () => ({ ...log.status(), ...copy.sizes() }),
    close() {
      isClosed = true;
      return log.close();
    },
  };
}

// Each replica counts its own events: the id of another one must be unknown here, so that its client is told of a gap.
function distantId(): number {
  return (1 + (nodePlatform.random() % 900_000)) * 1e9;
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
