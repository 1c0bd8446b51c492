import {
  endedInstance,
  type InstanceLimits,
  type InstanceState,
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
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { GivenOptions } from "../sandbox/sandbox.js";
import { describeSandbox, type SavedSandbox } from "../sandbox/start.js";
import { SandboxError } from "../spec/errors.js";
import type { ApiRequest } from "../spec/request.js";
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
  inside,
  instancesUntil,
  isFollowed,
  listInstances,
  loadInstance,
  openServer,
  relistInstance,
  type StoreServer,
  sandboxesOf,
  unloadUnused,
  waits,
} from "./redis-instances.js";
import { ownId } from "./redis-scripts.js";
import { createRoom } from "./room.js";
import { entryOfCall, entryOfRequest, isCopyDue, type RunCall } from "./sandbox-copy.js";
import type { Loaded } from "./stored-sandbox.js";

export interface RedisLogOptions extends InstanceLimits {
  readonly given: GivenOptions;
  readonly runCall: RunCall;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Creates the log of a server whose sandboxes are in Redis. Several servers share them: every change or read of a sandbox goes
 * through its log there, and each server that has loaded the sandbox applies the entries to its own copy. `recreate` creates the
 * server's own sandbox again, after the store lost it.
 */
export function createRedisLog(
  connection: RedisConnection,
  loaded: Loaded,
  recreate: () => Promise<unknown>,
  { given, runCall, onProblem, ...limits }: RedisLogOptions,
): Log {
  const report = (error: unknown) => {
    const isAway = error instanceof SandboxError && error.code === "store_unavailable";
    if (connection.state !== "closed" && !isAway) onProblem(error);
  };
  const room = createRoom(connection, (journal, which) => compactAll(server, journal, which));
  const shared: Shared = { connection, given, room, runCall, report, isApplyingOwn: false };
  const onGone = () => recreate().then(() => true);
  const server = openServer(shared, followSandbox(loaded, { id: ownId, given, onGone }, shared), limits);
  return {
    ...{ runtime: server.own.copy.runtime, instances: instancesUntil(server) },
    enter: (id) => enterInstance(server, id),
    request: (request, { instance: id }) =>
      id === undefined ? requestOwn(server, request) : requestIn(server, id, request),
    countUnread({ instance }, id) {
      inside(server, instance, (sandbox) => appendTo(sandbox, { kind: "unread", id })).catch(report);
    },
    call: (call, _run, from) => withinTimeout(connection, () => callOn(server, call, from)),
    look: (read, from) => withinTimeout(connection, () => lookOn(server, read, from)),
    // Only changes while its caller waits: a link that got 503 still works.
    manage: (run, from) =>
      withinTimeout(connection, async (until) => {
        await lookOn(server, () => {}, from);
        return run(controlPlace(from, instancesUntil(server, until)));
      }),
    firstEvent: distantId,
    isOwn: () => shared.isApplyingOwn,
    runDue() {
      server.budget.check();
      if (!server.isRunningDue) runAllDue(server).catch(report);
    },
    begin() {},
    describe: () => describeAll(server),
    memory: () => server.budget.status(),
    status: () => statusOf(server),
    close: () => closeRedis(connection),
  };
}

function statusOf({ shared: { connection, room }, stored }: StoreServer): LogStatus {
  const { losses, skipped } = connection;
  const reachable = connectionProblem(connection) === undefined;
  const { reason, isFull = false } = room.rejection() ?? {};
  const rejects = reason && `The store rejects writes: ${reason}.`;
  const problem = reachable ? rejects : "The store cannot be reached.";
  return { in: "store", reachable, isFull, losses, skipped, problem, bytes: stored.bytes };
}

async function describeAll(server: StoreServer): Promise<ServerState> {
  const instances: InstanceState[] = [];
  const own = await describeFollowed(server.own);
  for (const listed of await listInstances(server)) {
    const found = await loadInstance(server, listed.id);
    // It may have been removed in between.
    if (found === undefined || "ended" in found) continue;
    const state = await describeFollowed(found.sandbox);
    instances.push(instanceState({ ...listed, runtime: found.runtime }, state));
  }
  return { own, instances };
}

function describeFollowed(sandbox: FollowedSandbox): Promise<SavedSandbox> {
  return lookAt(sandbox, () => describeSandbox(sandbox.copy.runtime)) as Promise<SavedSandbox>;
}

async function compactAll(server: StoreServer, journal: number, which: "loaded" | "all"): Promise<void> {
  // Instances that nobody uses have logs, too.
  const unloaded = which === "all" ? await listInstances(server).catch(() => []) : [];
  for (const { id } of unloaded) await loadInstance(server, id).catch(() => {});
  await Promise.all(sandboxesOf(server).map((one) => compactSandbox(one, journal)));
}

type Act = (sandbox: FollowedSandbox, place: ControlPlace) => Promise<unknown>;

async function act(server: StoreServer, from: CallOrigin, on: Act): Promise<unknown> {
  const place = controlPlace(from, instancesUntil(server));
  const outcome = await inside(server, from.instance, (one) =>
    on(one, { ...place, runtime: one.copy.runtime }),
  );
  if (outcome === noSandbox) throw new SandboxError("not_found", "The instance has been removed.");
  return outcome;
}

function lookOn(server: StoreServer, read: RunIn, from: CallOrigin): Promise<unknown> {
  return act(server, from, (sandbox, place) => lookAt(sandbox, () => read(place)));
}

async function callOn(server: StoreServer, call: ControlCall, from: CallOrigin) {
  const [entry, own] = entryOfCall(call);
  const outcome = await act(server, from, (sandbox, place) => appendTo(sandbox, entry, { place, ...own }));
  if (from.instance !== undefined) await relistInstance(server, from.instance);
  return outcome;
}

function requestOwn({ own }: StoreServer, request: ApiRequest): Promise<Exchange> {
  return appendTo(own, entryOfRequest(own.copy, request)) as Promise<Exchange>;
}

async function requestIn(server: StoreServer, id: string, request: ApiRequest): Promise<Exchange> {
  const outcome = await inside(server, id, (one) => appendTo(one, entryOfRequest(one.copy, request)));
  if (outcome !== noSandbox) return outcome as Exchange;
  const found = await enterInstance(server, id, waits.token);
  if (found !== undefined && "ended" in found) throw endedInstance(found);
  // The path of an unknown instance is an unknown path.
  return requestOwn(server, { ...request, path: `/i/${id}${request.path}` });
}

async function runAllDue(server: StoreServer): Promise<void> {
  const { connection, room } = server.shared;
  server.isRunningDue = true;
  try {
    // Also shows whether Redis still responds, and brings the entries of other servers to followers of events.
    const reads = sandboxesOf(server, isFollowed).map((one) => lookAt(one));
    const due = sandboxesOf(server).filter((one) => isCopyDue(one.copy, redisTime(connection)));
    await Promise.all([...reads, ...due.map((one) => appendTo(one, { kind: "look" }))]);
    await unloadUnused(server);
    if (room.rejection() === undefined) return;
    // A command that needs room, like an entry.
    const [hash] = connection.keys.of(ownId);
    await commandRedis(connection, "HSET", hash, "probe", "").then(room.onStored, () => {});
  } finally {
    server.isRunningDue = false;
  }
}
