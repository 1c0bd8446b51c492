import { maskRequest } from "../api/mask.js";
import { withCheckedInput } from "../api/response.js";
import { routedPath } from "../api/routes.js";
import { endedInstance, type InstanceLimits, type InstanceState, instanceState } from "../log/instances.js";
import {
  type CallOrigin,
  type ControlCall,
  type ControlPlace,
  controlPlace,
  distantId,
  type Log,
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
import { type FollowedSandbox, followSandbox, noSandbox } from "./followed-sandbox.js";
import { createRoom, type RedisConnection } from "./redis-connection.js";
import { createRedisInstances } from "./redis-instances.js";
import { ownId } from "./redis-scripts.js";
import type { Entry, RunCall } from "./sandbox-copy.js";
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

/**
 * Creates the log of a server whose sandboxes are in Redis. Several servers share them: every change or read of a sandbox goes
 * through its log there, and each server that has loaded the sandbox applies the entries to its own copy.
 */
export function createRedisLog(options: RedisLogOptions): Log {
  const { connection, given, runCall, ...limits } = options;
  let isOwn = false;
  let isClosed = false;
  let isRunningDue = false;

  const report = (error: unknown) => {
    const isAway = error instanceof SandboxError && error.code === "store_unavailable";
    if (!isClosed && !isAway) options.onProblem(error);
  };
  const room = createRoom(connection, async (journal, which) => {
    // Instances that nobody uses have logs, too.
    const unloaded = which === "all" ? await list().catch(() => []) : [];
    for (const { id } of unloaded) await load(id).catch(() => {});
    await Promise.all([own, ...sandboxes()].map((one) => one.compact(journal)));
  });
  const onOwn = (is: boolean) => {
    isOwn = is;
  };
  const shared = { connection, room, runCall, report, onOwn };
  const onGone = async () => {
    await options.recreate();
    return true;
  };
  const own = followSandbox(options.own, { id: ownId, given, onGone }, shared);
  const { instances, budget, list, load, sandboxes, ...others } = createRedisInstances(shared, limits);

  const inside = (id: string | undefined, act: (sandbox: FollowedSandbox) => Promise<unknown>) =>
    id === undefined ? act(own) : others.inside(id, act);
  const act = async (
    from: CallOrigin,
    run: RunIn,
    on: (sandbox: FollowedSandbox, place: ControlPlace) => Promise<unknown>,
  ) => {
    const place = controlPlace(from, instances);
    const outcome = await inside(from.instance, (one) => on(one, { ...place, runtime: one.runtime }));
    return outcome === noSandbox ? run({ ...place, isGone: true }) : outcome;
  };
  const look: Log["look"] = (read, from) =>
    connection.within(() => act(from, read, (sandbox, place) => sandbox.look(() => read(place))));
  const entryOf = (request: ApiRequest, { runtime }: FollowedSandbox): Entry => {
    const world = settled(runtime);
    const checked = withCheckedInput(world, request);
    return {
      kind: "request",
      request: maskRequest(checked, nodePlatform.sha256, routedPath(world, request.path)),
    };
  };
  const requestIn = async (id: string, request: ApiRequest): Promise<Exchange> => {
    const outcome = await inside(id, (sandbox) => sandbox.append(entryOf(request, sandbox)));
    if (outcome !== noSandbox) return outcome as Exchange;
    return connection.within(async () => {
      const found = await load(id);
      if (found !== undefined && "ended" in found) throw endedInstance(found);
      // The path of an unknown instance is an unknown path.
      return own.append(entryOf({ ...request, path: `/i/${id}${request.path}` }, own)) as Promise<Exchange>;
    }, 300);
  };
  const runDue = async () => {
    // Also shows whether Redis still responds, and brings the entries of other servers to followers of events.
    const reads = [own, ...sandboxes(others.isFollowed)].map((one) => one.look());
    const due = [own, ...sandboxes()].filter((one) => one.copy.isDue(connection.time()));
    await Promise.all([...reads, ...due.map((one) => one.append({ kind: "look" }))]);
    await others.unloadUnused();
    if (room.rejection() === undefined) return;
    // A command that needs room, like an entry.
    await connection.command("HSET", connection.keys.of(ownId)[0], "probe", "").then(room.onStored, () => {});
  };
  const describeFollowed = (sandbox: FollowedSandbox) =>
    sandbox.look(() => describeSandbox(sandbox.runtime)) as Promise<SavedSandbox>;
  return {
    runtime: own.runtime,
    instances,
    enter: others.enter,
    request: (request, { instance: id }) =>
      id === undefined ? (own.append(entryOf(request, own)) as Promise<Exchange>) : requestIn(id, request),
    countUnread({ instance }, id) {
      inside(instance, (sandbox) => sandbox.append({ kind: "unread", id })).catch(report);
    },
    call({ makes, ...call }, run, from) {
      const key = makes === "key" ? drawKey() : undefined;
      const entry: Entry = { kind: "call", call: maskCall(call), ...(key && { newKey: key.newKey }) };
      return connection.within(async () => {
        const outcome = await act(from, run, (sandbox, place) =>
          sandbox.append(entry, { place, ...(key && { words: key.words() }) }),
        );
        if (from.instance !== undefined) await others.refresh(from.instance);
        return outcome;
      });
    },
    // Only changes while its caller waits: a link that got 503 still works.
    manage: (run, from) =>
      connection.within(async (until) => {
        await look(() => {}, from);
        return run(controlPlace(from, others.instancesUntil(until)));
      }),
    look,
    firstEvent: distantId,
    isOwn: () => isOwn,
    runDue() {
      budget.check();
      if (isRunningDue) return;
      isRunningDue = true;
      runDue()
        .catch(report)
        .finally(() => {
          isRunningDue = false;
        });
    },
    begin() {},
    async describe() {
      const described: InstanceState[] = [];
      const state = await describeFollowed(own);
      for (const listed of await list()) {
        const found = await load(listed.id);
        // It may have been removed in between.
        if (found === undefined || "ended" in found) continue;
        const { runtime } = found.sandbox;
        described.push(instanceState({ ...listed, runtime }, await describeFollowed(found.sandbox)));
      }
      return { own: state, instances: described };
    },
    memory: budget.status,
    status() {
      const reachable = connection.problem() === undefined;
      const { reason, isFull = false } = room.rejection() ?? {};
      const rejects = reason && `The store rejects writes: ${reason}.`;
      return {
        ...{ in: "store", reachable, isFull, losses: connection.losses(), skipped: connection.skipped() },
        problem: reachable ? rejects : "The store cannot be reached.",
        bytes: others.bytes(),
      };
    },
    async close() {
      isClosed = true;
      connection.close();
    },
  };
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
