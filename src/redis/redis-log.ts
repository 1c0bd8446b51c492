import { maskRequest } from "../api/mask.js";
import { withCheckedInput } from "../api/response.js";
import { routedPath } from "../api/routes.js";
import {
  endedInstance,
  type InstanceLimits,
  type InstanceState,
  type Instances,
  instanceState,
  type ServerState,
} from "../log/instances.js";
import {
  type CallOrigin,
  type ControlCall,
  type ControlPlace,
  controlPlace,
  distantId,
  type Log,
  type LogStatus,
  type RunIn,
} from "../log/log.js";
import { nodePlatform } from "../node/platform.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { settled } from "../sandbox/operations/operations.js";
import type { GivenOptions } from "../sandbox/sandbox.js";
import { describeSandbox, type SavedSandbox } from "../sandbox/start.js";
import { secretFrom } from "../scenario/population.js";
import { environments } from "../spec/api-key.js";
import { SandboxError } from "../spec/errors.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import type { ApiRequest } from "../spec/request.js";
import type { RandomStream } from "../spec/seed.js";
import {
  appendTo,
  compactSandbox,
  type FollowedSandbox,
  followSandbox,
  lookAt,
  noSandbox,
  type Shared,
} from "./followed-sandbox.js";
import {
  closeRedis,
  commandRedis,
  connectionProblem,
  type RedisConnection,
  redisTime,
  withinTimeout,
} from "./redis-connection.js";
import {
  enterInstance,
  insideInstance,
  instancesUntil,
  listInstances,
  loadedSandboxes,
  loadInstance,
  openInstances,
  type RedisInstances,
  relistInstance,
  unloadUnused,
} from "./redis-instances.js";
import { ownId } from "./redis-scripts.js";
import { createRoom } from "./room.js";
import { type Entry, isCopyDue, type RunCall } from "./sandbox-copy.js";
import type { Loaded } from "./stored-sandbox.js";

export interface RedisLogOptions extends InstanceLimits {
  readonly connection: RedisConnection;
  readonly given: GivenOptions;
  readonly runCall: RunCall;
  readonly own: Loaded;
  /** Creates the server's own sandbox again, after the store lost it. */
  readonly recreate: () => Promise<unknown>;
  readonly onProblem: (error: unknown) => void;
}

/** A server whose sandboxes are in Redis. */
interface StoreServer {
  readonly shared: Shared;
  readonly own: FollowedSandbox;
  readonly all: RedisInstances;
  readonly instances: Instances;
  isRunningDue: boolean;
}

/**
 * Creates the log of a server whose sandboxes are in Redis. Several servers share them: every change or read of a sandbox goes
 * through its log there, and each server that has loaded the sandbox applies the entries to its own copy.
 */
export function createRedisLog(options: RedisLogOptions): Log {
  const server = openServer(options);
  const { shared, own, all, instances } = server;
  const { connection, report } = shared;
  const look: Log["look"] = (read, from) =>
    withinTimeout(connection, () =>
      act(server, from, read, (sandbox, place) => lookAt(sandbox, () => read(place))),
    );
  return {
    ...{ runtime: own.copy.runtime, instances, look },
    enter: (id) => enterInstance(all, id),
    request: (request, { instance: id }) =>
      id === undefined ? requestOwn(server, request) : requestIn(server, id, request),
    countUnread({ instance }, id) {
      inside(server, instance, (sandbox) => appendTo(sandbox, { kind: "unread", id })).catch(report);
    },
    call: (call, run, from) => callOn(server, call, run, from),
    // Only changes while its caller waits: a link that got 503 still works.
    manage: (run, from) =>
      withinTimeout(connection, async (until) => {
        await look(() => {}, from);
        return run(controlPlace(from, instancesUntil(all, until)));
      }),
    firstEvent: distantId,
    isOwn: () => shared.isApplyingOwn,
    runDue() {
      all.budget.check();
      if (!server.isRunningDue) runAllDue(server).catch(report);
    },
    begin() {},
    describe: () => describeAll(server),
    memory: () => all.budget.status(),
    status: () => statusOf(server),
    close: () => closeRedis(connection),
  };
}

function openServer({ connection, given, runCall, own, recreate, ...options }: RedisLogOptions) {
  const report = (error: unknown) => {
    const isAway = error instanceof SandboxError && error.code === "store_unavailable";
    if (connection.state !== "closed" && !isAway) options.onProblem(error);
  };
  const room = createRoom(connection, (journal, which) => compactAll(server, journal, which));
  const shared: Shared = { connection, room, runCall, report, isApplyingOwn: false };
  const all = openInstances(shared, options);
  const onGone = () => recreate().then(() => true);
  const server: StoreServer = {
    ...{ shared, all, instances: instancesUntil(all), isRunningDue: false },
    own: followSandbox(own, { id: ownId, given, onGone }, shared),
  };
  return server;
}

function statusOf({ shared: { connection, room }, all }: StoreServer): LogStatus {
  const { losses, skipped } = connection;
  const reachable = connectionProblem(connection) === undefined;
  const { reason, isFull = false } = room.rejection() ?? {};
  const rejects = reason && `The store rejects writes: ${reason}.`;
  const problem = reachable ? rejects : "The store cannot be reached.";
  return { in: "store", reachable, isFull, losses, skipped, problem, bytes: all.stored.bytes };
}

async function describeAll({ own, all }: StoreServer): Promise<ServerState> {
  const instances: InstanceState[] = [];
  const described = await describeFollowed(own);
  for (const listed of await listInstances(all)) {
    const found = await loadInstance(all, listed.id);
    // It may have been removed in between.
    if (found === undefined || "ended" in found) continue;
    instances.push(
      instanceState({ ...listed, runtime: found.runtime }, await describeFollowed(found.sandbox)),
    );
  }
  return { own: described, instances };
}

async function compactAll(
  { own, all }: StoreServer,
  journal: number,
  which: "loaded" | "all",
): Promise<void> {
  // Instances that nobody uses have logs, too.
  const unloaded = which === "all" ? await listInstances(all).catch(() => []) : [];
  for (const { id } of unloaded) await loadInstance(all, id).catch(() => {});
  await Promise.all([own, ...loadedSandboxes(all)].map((one) => compactSandbox(one, journal)));
}

type Act = (sandbox: FollowedSandbox, place: ControlPlace) => Promise<unknown>;

function inside(
  { own, all }: StoreServer,
  id: string | undefined,
  on: (sandbox: FollowedSandbox) => Promise<unknown>,
) {
  return id === undefined ? on(own) : insideInstance(all, id, on);
}

async function act(server: StoreServer, from: CallOrigin, run: RunIn, on: Act): Promise<unknown> {
  const place = controlPlace(from, server.instances);
  const outcome = await inside(server, from.instance, (one) =>
    on(one, { ...place, runtime: one.copy.runtime }),
  );
  return outcome === noSandbox ? run({ ...place, isGone: true }) : outcome;
}

function callOn(server: StoreServer, { makes, ...call }: ControlCall, run: RunIn, from: CallOrigin) {
  const key = makes === "key" ? drawKey() : undefined;
  const entry: Entry = { kind: "call", call: maskCall(call), ...(key && { newKey: key.newKey }) };
  return withinTimeout(server.shared.connection, async () => {
    const outcome = await act(server, from, run, (sandbox, place) =>
      appendTo(sandbox, entry, { place, ...(key && { words: key.words() }) }),
    );
    if (from.instance !== undefined) await relistInstance(server.all, from.instance);
    return outcome;
  });
}

function requestOwn({ own }: StoreServer, request: ApiRequest): Promise<Exchange> {
  return appendTo(own, entryOf(request, own)) as Promise<Exchange>;
}

async function requestIn(server: StoreServer, id: string, request: ApiRequest): Promise<Exchange> {
  const outcome = await inside(server, id, (sandbox) => appendTo(sandbox, entryOf(request, sandbox)));
  if (outcome !== noSandbox) return outcome as Exchange;
  const instead = async () => {
    const found = await loadInstance(server.all, id);
    if (found !== undefined && "ended" in found) throw endedInstance(found);
    // The path of an unknown instance is an unknown path.
    return requestOwn(server, { ...request, path: `/i/${id}${request.path}` });
  };
  return withinTimeout(server.shared.connection, instead, 300);
}

async function runAllDue(server: StoreServer): Promise<void> {
  const { own, all } = server;
  const { connection, room } = server.shared;
  server.isRunningDue = true;
  try {
    // Also shows whether Redis still responds, and brings the entries of other servers to followers of events.
    const reads = [own, ...loadedSandboxes(all, "followed")].map((one) => lookAt(one));
    const due = [own, ...loadedSandboxes(all)].filter((one) => isCopyDue(one.copy, redisTime(connection)));
    await Promise.all([...reads, ...due.map((one) => appendTo(one, { kind: "look" }))]);
    await unloadUnused(all);
    if (room.rejection() === undefined) return;
    // A command that needs room, like an entry.
    const [hash] = connection.keys.of(ownId);
    await commandRedis(connection, "HSET", hash, "probe", "").then(room.onStored, () => {});
  } finally {
    server.isRunningDue = false;
  }
}

function entryOf(request: ApiRequest, { copy }: FollowedSandbox): Entry {
  const world = settled(copy.runtime);
  const checked = withCheckedInput(world, request);
  const path = routedPath(world, request.path);
  return { kind: "request", request: maskRequest(checked, nodePlatform.sha256, path) };
}

function describeFollowed(sandbox: FollowedSandbox): Promise<SavedSandbox> {
  return lookAt(sandbox, () => describeSandbox(sandbox.copy.runtime)) as Promise<SavedSandbox>;
}

/** Draws the random numbers of a key. The hashes are for both environments, since the call decides later. */
function drawKey() {
  const drawn: number[] = [];
  const words = (): RandomStream => {
    let next = 0;
    return () => {
      next += 1;
      drawn[next - 1] ??= nodePlatform.random();
      return drawn[next - 1] as number;
    };
  };
  const newKey = environments.map((environment) =>
    nodePlatform.sha256(secretFrom(words(), { environment, legacy: false })),
  );
  return { newKey, words };
}

/**
 * Shortens every key in a call to the control plane, where no key belongs. A scenario's pinned keys stay: the sandbox and
 * state files also contain them.
 */
export function maskCall({ params, body, ...call }: ControlCall): ControlCall {
  const isScenario = (name: string, member: unknown) => name === "scenario" && typeof member !== "string";
  const shown = call.isYaml ? body : redactValue(body, redactEncoded, isScenario);
  return { ...call, params: redactValue(params, redactEncoded, isScenario), body: shown };
}
