import { basename } from "node:path";
import { handle } from "../../api/handle.js";
import { loadReader } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { ApiRequest } from "../../rules/request.js";
import { isoOf } from "../../sandbox/clock.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { GivenOptions } from "../../sandbox/sandbox.js";
import { describeSandbox, type SavedSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import {
  endedInstance,
  type InstanceLimits,
  type InstanceState,
  instanceState,
  limitsOf,
  type ServerState,
} from "../instances.js";
import { markUnread } from "../memory-store.js";
import {
  continueState,
  identityOf,
  newIdGroup,
  originOf,
  ownId,
  parseState,
  requireSame,
  type SavedState,
  sandboxExists,
  stateFormat,
} from "../state-format.js";
import {
  type CallOrigin,
  type ControlPlace,
  controlPlace,
  type RunIn,
  type Store,
  type StoreStatus,
} from "../store.js";
import { changeSandbox, followSandbox, lookAt } from "./follow.js";
import { type FollowedSandbox, isDue, noSandbox, onTurn, type Shared } from "./followed-sandbox.js";
import { type ConnectionOptions, RedisConnection, unfitStore, unusableStore } from "./redis-connection.js";
import {
  enterInstance,
  inside,
  instancesUntil,
  listInstances,
  loadInstance,
  openServer,
  type Replica,
  relistInstance,
  sandboxesOf,
  unloadUnused,
  waits,
} from "./redis-instances.js";
import { createListed, createOwn, type Loaded, loadSandbox, startAt } from "./stored-sandbox.js";

export interface RedisOptions extends ConnectionOptions, InstanceLimits {
  readonly given: GivenOptions;
  readonly onProblem: (error: unknown) => void;
  readonly named: NamedScenario;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
}

/**
 * Makes this process one of the servers of the sandbox in a Redis. The first one starts the sandbox.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` if another scenario or other options
 * started it.
 */
export async function openRedisStore(options: RedisOptions): Promise<Store> {
  let connection: RedisConnection | undefined;
  try {
    connection = new RedisConnection(options);
    await connection.connect();
    const warning = await checkRedis(connection);
    // An entry of another server may start a scenario with a document, and applying it cannot wait.
    await loadReader();
    const store = await openOn(connection, options);
    if (warning !== undefined) options.onWarning(warning);
    return store;
  } catch (error) {
    connection?.close();
    throw unusableStore(options.address.shown, error);
  }
}

async function openOn(connection: RedisConnection, options: RedisOptions): Promise<Store> {
  const { given, imported } = options;
  const { shown } = connection;
  const [what, elsewhere] = [`The sandbox in the store ${shown}`, "give it its own keys with --store-prefix"];
  // Each machine may have the file in another folder.
  const named = { ...options.named, name: basename(options.named.name) };
  const { seed, now, frozen, profile } = given;
  const ours = originOf(identityOf(named), {
    format: stateFormat,
    "--seed": seed,
    "--now": now === undefined ? undefined : isoOf(now),
    "--frozen": frozen,
    "--profile": profile,
  });
  const load = async () => (await loadSandbox(connection, ownId)) as Loaded | undefined;
  const startOwn = (idGroup?: number) => {
    const at = Math.floor(connection.time());
    return createOwn(connection, describeSandbox(startAt(at, named, given, idGroup)), ours, idGroup);
  };

  const there = await load();
  if (there !== undefined && imported !== undefined) throw sandboxExists(`The store ${shown}`, elsewhere);
  if (imported !== undefined) {
    const state = continueState(parseState(imported.text, imported.given), named, imported.given);
    await importInstances(connection, state, options);
    await createOwn(connection, state.own, ours, newIdGroup());
  } else if (there === undefined) await startOwn();
  const own = there ?? ((await load()) as Loaded);
  requireSame({ code: "store_mismatch", what, elsewhere }, JSON.parse(own.origin), ours);
  connection.begin();
  return createRedisStore(connection, own, () => startOwn(newIdGroup()), options);
}

async function importInstances(connection: RedisConnection, state: SavedState, limits: InstanceLimits) {
  const at = connection.time();
  const alive = Math.max(...[state.own, ...state.instances.map((one) => one.sandbox)].map(({ at }) => at));
  for (const { id, sandbox, createdAt, usedAt, given, idGroup: _, ...tenancy } of state.instances) {
    const left = limitsOf(limits).instanceTtl - Math.max(0, alive - usedAt);
    const about = { tenancy, createdAt, given, idGroup: newIdGroup() };
    await createListed(connection, id, sandbox, about, at + Math.max(1000, left));
  }
}

/** Checks that a Redis is new enough and evicts no keys; resolves to a warning. Skips what the user has no permission to read. */
async function checkRedis(connection: RedisConnection): Promise<string | undefined> {
  const { shown } = connection;
  const info = await connection.command("INFO").catch((error) => {
    if (/^(?:NOPERM|ERR unknown)/.test((error as Error).message)) return "";
    throw error;
  });
  const fieldOf = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(String(info))?.[1];
  const version = fieldOf("redis_version");
  // The first version with XTRIM MINID.
  if (version?.localeCompare("6.2", "en", { numeric: true }) === -1) {
    throw unfitStore(shown, `it is a Redis ${version}, which is too old. Use Redis 6.2 or newer, or Valkey.`);
  }
  const [policy = "noeviction", max = "0"] = [fieldOf("maxmemory_policy"), fieldOf("maxmemory")];
  // Instances have an expiry, so that the volatile policies evict them, too.
  if (policy !== "noeviction" && max !== "0") {
    throw unfitStore(
      shown,
      `its maxmemory-policy ${policy} evicts keys when it is full. Set maxmemory-policy to noeviction.`,
    );
  }
  if (fieldOf("aof_enabled") !== "0") return undefined;
  return `The store ${shown} has no append-only file: its data may be lost when it restarts. See docs/store.md.`;
}

/**
 * Creates the store of a server whose sandboxes are in Redis. Several servers share them: every change or read of a sandbox goes
 * through its lines there, and each server that has loaded the sandbox applies them to its own copy. `recreate` creates the
 * server's own sandbox again, after the store lost it.
 */
function createRedisStore(
  connection: RedisConnection,
  loaded: Loaded,
  recreate: () => Promise<unknown>,
  { given, onProblem, ...limits }: RedisOptions,
): Store {
  const report = (error: unknown) => {
    const isAway = error instanceof SandboxError && error.code === "store_unavailable";
    if (connection.state !== "closed" && !isAway) onProblem(error);
  };
  const shared: Shared = { connection, report, rejection: undefined };
  const onGone = () => recreate().then(() => true);
  const server = openServer(shared, followSandbox(loaded, { id: ownId, given, onGone }, shared), limits);
  connection.hearOfTurns((id) => {
    const followed = id === ownId ? server.own : server.loaded.find(id)?.followed;
    if (followed !== undefined) onTurn(followed);
  });
  return {
    sandbox: server.own.state,
    instances: instancesUntil(server),
    enter: (id) => enterInstance(server, id),
    request: (request, { instance: id }) =>
      id === undefined ? requestOwn(server, request) : requestIn(server, id, request),
    countUnread({ instance }, id) {
      inside(server, instance, (sandbox) =>
        changeSandbox(sandbox, () => markUnread(sandbox.state, id)),
      ).catch(report);
    },
    run: (kind, run, from) =>
      connection.within(async (until) => {
        if (kind === "read") return lookOn(server, run, from);
        if (kind === "change") return callOn(server, run, from);
        await lookOn(server, () => {}, from);
        // Only changes while its caller waits: a link that got 503 still works.
        return run(controlPlace(from, instancesUntil(server, until)));
      }),
    runDue() {
      server.budget.check();
      if (!server.isRunningDue) runAllDue(server).catch(report);
    },
    begin() {},
    describe: () => describeAll(server),
    memory: () => server.budget.status(),
    status: () => statusOf(server),
    close: () => connection.close(),
  };
}

function statusOf({ shared: { connection, rejection }, stored }: Replica): StoreStatus {
  const { losses } = connection;
  const reachable = connection.problem === undefined;
  const { reason, isFull = false } = rejection ?? {};
  const rejects = reason && `The store rejects writes: ${reason}.`;
  const problem = reachable ? rejects : "The store cannot be reached.";
  return { in: "store", reachable, isFull, losses, problem, bytes: stored.bytes };
}

async function describeAll(server: Replica): Promise<ServerState> {
  const instances: InstanceState[] = [];
  const without: string[] = [];
  const own = await describeFollowed(server.own);
  for (const listed of await listInstances(server)) {
    try {
      const instance = await loadInstance(server, listed.id);
      // It may have been removed in between.
      if (instance === undefined || "ended" in instance) continue;
      const state = await describeFollowed(instance.followed);
      instances.push(instanceState({ ...listed, sandbox: instance.sandbox }, state));
    } catch (error) {
      if (!(error instanceof SandboxError && error.code === "state_unreadable")) throw error;
      without.push(listed.id);
    }
  }
  return { own, instances, without };
}

function describeFollowed(sandbox: FollowedSandbox): Promise<SavedSandbox> {
  return lookAt(sandbox, () => describeSandbox(sandbox.state)) as Promise<SavedSandbox>;
}

type Act = (sandbox: FollowedSandbox, place: ControlPlace) => Promise<unknown>;

async function act(server: Replica, from: CallOrigin, on: Act): Promise<unknown> {
  const place = controlPlace(from, instancesUntil(server));
  const outcome = await inside(server, from.instance, (one) => on(one, { ...place, sandbox: one.state }));
  if (outcome === noSandbox) throw new SandboxError("not_found", "The instance has been removed.");
  return outcome;
}

function lookOn(server: Replica, read: RunIn, from: CallOrigin): Promise<unknown> {
  return act(server, from, (sandbox, place) => lookAt(sandbox, () => read(place)));
}

async function callOn(server: Replica, run: RunIn, from: CallOrigin) {
  const outcome = await act(server, from, (sandbox, place) =>
    changeSandbox(sandbox, () => {
      // Runs what is due first.
      runDue(sandbox.state);
      return run(place);
    }),
  );
  // The change is stored, also if the list cannot be: that follows with the next call.
  if (from.instance !== undefined) await relistInstance(server, from.instance).catch(() => {});
  return outcome;
}

function requestOwn({ own }: Replica, request: ApiRequest): Promise<Exchange> {
  return respondIn(own, request) as Promise<Exchange>;
}

function respondIn(sandbox: FollowedSandbox, request: ApiRequest): Promise<unknown> {
  return changeSandbox(sandbox, () => handle(sandbox.state, request));
}

async function requestIn(server: Replica, id: string, request: ApiRequest): Promise<Exchange> {
  const outcome = await inside(server, id, (one) => respondIn(one, request));
  if (outcome !== noSandbox) return outcome as Exchange;
  const instance = await enterInstance(server, id, waits.token);
  if (instance !== undefined && "ended" in instance) throw endedInstance(instance);
  // The path of an unknown instance is an unknown path.
  return requestOwn(server, { ...request, path: `/i/${id}${request.path}` });
}

async function runAllDue(server: Replica): Promise<void> {
  server.isRunningDue = true;
  try {
    // Before what is due: a full Redis rejects each change, and only this shows that it has room again.
    await noticeRoom(server.shared);
    const isWhole = ({ broken }: FollowedSandbox) => broken === undefined;
    // Also shows whether Redis still responds.
    const reads = isWhole(server.own) ? [lookAt(server.own)] : [];
    const time = server.shared.connection.time();
    const due = sandboxesOf(server).filter((one) => isWhole(one) && isDue(one, time));
    // What one sandbox rejects stops nothing of the others.
    const outcomes = await Promise.allSettled([
      ...reads,
      ...due.map((one) => changeSandbox(one, () => void runDue(one.state))),
    ]);
    await unloadUnused(server);
    for (const outcome of outcomes) if (outcome.status === "rejected") server.shared.report(outcome.reason);
  } finally {
    server.isRunningDue = false;
  }
}

/** Ends the rejection of changes once Redis takes a command that needs room, like a line. If it has none, requests show that. */
async function noticeRoom(shared: Shared): Promise<void> {
  if (shared.rejection === undefined) return;
  const { connection } = shared;
  const [hash] = connection.keys.of(ownId);
  const hasRoom = await connection.command("HSET", hash, "probe", "").then(
    () => true,
    () => false,
  );
  if (!hasRoom) return;
  shared.rejection = undefined;
  connection.note("accepts writes again");
}
