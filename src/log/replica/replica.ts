import type { Exchange } from "../../history/exchange.js";
import { nodePlatform } from "../../node/platform.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { createEventIds } from "../event-ids.js";
import type { Extended } from "../extend-state.js";
import { defaultInstanceTtl, defaultMaxInstances, type InstanceLimits, isOver } from "../instances.js";
import { type Caller, type Log, placeOf, type RunIn } from "../log.js";
import { createMemoryBudget } from "../memory-budget.js";
import { copyServer, type ServerCopyOptions } from "./copies.js";
import { type Driver, driveCopy } from "./driven-copy.js";
import type { EntryContent } from "./entries.js";
import { createInstanceReports } from "./instance-reports.js";
import { maskCall } from "./mask.js";
import { createOpenInstances, type OpenInstance } from "./open-instances.js";
import { callContent, contentOf } from "./own-entries.js";
import type { OwnPart } from "./sandbox-copy.js";
import { describeLogs } from "./server-state.js";
import { noLog, type ServerLog } from "./shared-log.js";

export interface ReplicaOptions extends Omit<ServerCopyOptions, "maxInstances" | "onGone">, InstanceLimits {
  readonly log: ServerLog;
  /** The number of entries before a log is compacted. Default: 20,000. */
  readonly compactEvery?: number;
  /** Called if an append fails that no caller waits for. */
  readonly onProblem: (error: unknown) => void;
}

export interface Replica extends Log {
  /** Adds a scenario's new organizations and keys to the sandbox. Resolves to a message if anything else differs. */
  readonly extend: (from: string, scenario: NamedScenario) => Promise<Extended | string>;
}

/** The server's log is compacted after this many characters. */
const compactCharacters = 8e6;
/** The bytes of the memory budget for one loaded instance. */
const bytesOfInstance = 250_000;
/** Milliseconds before other replicas erase a removed instance's log, if the replica that removed it has ended. */
const eraseTime = 5000;

/**
 * Opens a replica: one of several servers that share their sandboxes through logs. Every change or read of a sandbox is
 * appended to its log, and each replica that loaded the sandbox applies the entry to its own copy. Every replica has the
 * server's own sandbox and the list of instances. It loads an instance for its first request.
 *
 * Resolves once it has everything that was stored. All replicas must have the same version, scenario, `given` and
 * `maxInstances`; the store compares them.
 */
export async function openReplica(options: ReplicaOptions): Promise<Replica> {
  const { log, compactEvery = 20_000, onProblem, runCall } = options;
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  let isClosed = false;
  const report = (error: unknown) => {
    if (!isClosed) onProblem(error);
  };
  const driver: Driver = { compactEvery, report, isOwn: false };
  /** Removed instances whose logs this replica must erase. */
  const removed = new Set<string>();
  const { copy, registry } = copyServer({
    ...options,
    maxInstances,
    onGone(id) {
      if (driver.isOwn || instances.loaded.find(id) !== undefined) removed.add(id);
      instances.close(id);
    },
  });
  const server = driveCopy(copy, log, driver, compactCharacters);
  const reports = createInstanceReports(registry, () => driver.isOwn, server.append);
  const budget = createMemoryBudget(options.maxMemory, () => {
    instances.keep(Math.floor(instances.loaded.loaded().length / 2));
  });
  const instances = createOpenInstances({
    ...{ log, registry, runCall, driver, counters: reports.counters },
    catchUp: log.sync,
    curlOptions: () => copy.runtime().counters.curlOptions,
    most: Math.max(10, Math.floor(budget.status().most / 2 / bytesOfInstance)),
  });
  await server.follow();

  const runtime = copy.runtime();
  // Recent uses may not be reported yet.
  const ttl = instanceTtl + Math.min(2000, instanceTtl / 2);
  const eraseRemoved = async () => {
    const ids = [...removed];
    await Promise.all(
      ids.map(async (id) => {
        await log.erase(id);
        removed.delete(id);
        reports.erased(id);
      }),
    );
  };
  const append = async (content: EntryContent, own?: OwnPart): Promise<unknown> => {
    // Reports on instances precede the entry.
    reports.send().catch(report);
    try {
      return await server.append(content, own, removes(content) ? "making room" : undefined);
    } finally {
      // No replica serves a removed instance after the removal is acknowledged.
      if (removed.size > 0) await eraseRemoved();
    }
  };
  const look = (read: RunIn, { baseUrl }: Pick<Caller, "baseUrl">) =>
    append({ kind: "look" }, { read, baseUrl });

  /** Loads the instance of an id; resolves to `undefined` if there is none. */
  const open = async (id: string): Promise<OpenInstance | undefined> => {
    const there = instances.use(id);
    if (there !== undefined) return there;
    // Another replica may have just created or removed it.
    if (registry.get(id) === undefined) await log.sync();
    for (let isCertain = false; ; isCertain = true) {
      const registered = registry.get(id);
      if (registered === undefined) return undefined;
      const opened = await instances.load(registered);
      if (opened !== undefined) return opened;
      if (isCertain) await append({ kind: "lost", id });
      else await log.sync();
    }
  };
  /** Appends to the log of an instance; resolves to `noLog` if it is gone. */
  const appendInside = async (id: string, content: EntryContent, own?: OwnPart): Promise<unknown> => {
    for (;;) {
      const opened = await open(id);
      if (opened === undefined) return noLog;
      reports.used(opened.instance);
      const outcome = await opened.driven.append(content, own);
      if (outcome !== noLog) return outcome;
      // It was removed or lost: the server's log decides.
      instances.close(id);
      await log.sync();
    }
  };
  const callIn = async (
    instance: string | undefined,
    content: EntryContent,
    own: OwnPart,
    gone: () => unknown,
  ) => {
    if (instance === undefined) return append(content, own);
    const outcome = await appendInside(instance, content, own);
    return outcome === noLog ? gone() : outcome;
  };
  const goneFor = (run: RunIn, from: Caller) => () => run({ ...placeOf(from, registry.list), isGone: true });

  let isSettling = false;
  const settle = async () => {
    const now = { time: server.time, stopwatch: server.time };
    const isAnyOver = Array.from(registry.all()).some((one) => isOver(one, ttl, now));
    for (const [id, since] of registry.erasing()) if (since <= copy.now() - eraseTime) removed.add(id);
    if (removed.size > 0) await eraseRemoved();
    if (server.isDue()) await append({ kind: "look" });
    if (isAnyOver) await append({ kind: "sweep", ttl });
    const due = Array.from(instances.all()).filter(({ driven }) => driven.isIdle() && driven.isDue());
    await Promise.all(due.map(({ driven }) => driven.append({ kind: "look" })));
    instances.settle();
    await reports.sendIfDue();
  };
  return {
    runtime,
    instances: { ...registry.list, ...instances.loaded },
    enter(id) {
      const there = instances.use(id);
      if (there === undefined) return open(id).then((opened) => opened?.instance);
      reports.used(there.instance);
      return there.instance;
    },
    // Another replica may have turned on the preview.
    mayPreview: () => true,
    request(request, { instance }) {
      const content = contentOf(request);
      if (instance === undefined) return server.append(content) as Promise<Exchange>;
      const inside = async () => {
        const outcome = await appendInside(instance, content);
        if (outcome !== noLog) return outcome as Exchange;
        // The path of a removed instance is an unknown path.
        const path = `/i/${instance}${request.path}`;
        return server.append(contentOf({ ...request, path })) as Promise<Exchange>;
      };
      const there = instances.use(instance);
      if (there === undefined) return inside();
      reports.used(there.instance);
      return there.driven
        .append(content)
        .then((outcome) => (outcome === noLog ? inside() : outcome)) as Promise<Exchange>;
    },
    countUnread({ instance }, id) {
      const content = { kind: "unread", id } as const;
      const counting = instance === undefined ? append(content) : appendInside(instance, content);
      counting.catch(report);
    },
    call(given, run, from) {
      if (given.makes === "instance") budget.requireRoom();
      const { content, own } = callContent(maskCall(given));
      return callIn(from.instance, content, { ...own, baseUrl: from.baseUrl }, goneFor(run, from));
    },
    look: (read, from) =>
      from.instance === undefined
        ? look(read, from)
        : callIn(from.instance, { kind: "look" }, { read, baseUrl: from.baseUrl }, goneFor(read, from)),
    catchUp: log.sync,
    eventIds: createEventIds(distantId).of,
    isOwn: () => driver.isOwn,
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
    extend: (from, scenario) => append({ kind: "extend", from, ...scenario }) as Promise<Extended | string>,
    async describe() {
      await reports.send();
      return describeLogs({ ...server, copy }, registry, (registered) => instances.load(registered));
    },
    memory: budget.status,
    status() {
      const sizes = [copy, ...Array.from(instances.all(), ({ driven }) => driven.copy)].map((one) =>
        one.sizes(),
      );
      const characters = sizes.reduce((sum, one) => sum + one.characters, 0);
      return { ...log.status(), ...copy.sizes(), characters };
    },
    async close() {
      await reports.send().catch(report);
      isClosed = true;
      return log.close();
    },
  };
}

/** Whether an entry removes instances, and thus makes room in a full store. */
function removes(content: EntryContent): boolean {
  return (
    content.kind === "sweep" || (content.kind === "call" && content.call.route === "DELETE /instances/{id}")
  );
}

// Each replica numbers its own events. Another replica's ids must be unknown here, so that its clients detect a gap.
function distantId(): number {
  return (1 + (nodePlatform.random() % 900_000)) * 1e9;
}
