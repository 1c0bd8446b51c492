import { SandboxError } from "../../domain/errors.js";
import { clearTimeout, nodePlatform, setTimeout } from "../../node/platform.js";
import type { FirstStates } from "../replica/server-state.js";
import type { ServerLog } from "../replica/shared-log.js";
import { defaultPrefix, isOfInstance, keysOf, type RedisAddress } from "./address.js";
import { canMigrate, checkRedis, keysUnder, otherFounding, sandboxExists } from "./checks.js";
import { connectRedis } from "./link.js";
import { listenOnce } from "./listening.js";
import { foreignKey, isRefusal, reasonOf, unusableStore } from "./problems.js";
import { createRedisLog, type RedisLog } from "./redis-log.js";
import { backUpScript, migrateScript, openScript } from "./scripts.js";
import { type Link, type LogPlace, newEpoch, type Store } from "./store.js";

export interface RedisLogOptions {
  readonly address: RedisAddress;
  /** The prefix of all key names, in braces. Default: `svc-sandbox:`. */
  readonly prefix?: string | undefined;
  /** Milliseconds before an append without a reply is rejected. Default: 2000. */
  readonly timeout?: number | undefined;
  /** What must be equal for all replicas, as flat JSON. An error names the differences. */
  readonly founding: string;
  /** Returns the first states of its logs at a time (epoch milliseconds). */
  readonly first: (now: number) => FirstStates;
  /** Whether the store must not have a log yet. Default: false. */
  readonly isImport?: boolean | undefined;
  /** Whether a log with another founding may be migrated. Default: false. */
  readonly migrate?: boolean | undefined;
  /** Called with notes for the operator: the store is away, it is back, it may lose data. */
  readonly onNote?: (message: string) => void;
}

export interface RedisServerLog extends ServerLog {
  /** Returns the founding of a log that must be migrated. */
  readonly migratesFrom: () => string | undefined;
  /** Stores a backup, named after the version, unless another replica just did; resolves to its key. */
  readonly backUp: (version: string, backup: string) => Promise<string>;
  readonly migrate: () => Promise<void>;
}

/** The timeout for storing a snapshot, which may be large and which nobody waits for. */
const snapshotTimeout = 60_000;

interface Away {
  readonly since: number;
  readonly reason: string;
  /** Whether Redis rejected or could not be reached again, so that callers must not wait. */
  isSure: boolean;
}

/**
 * Opens the log of a server in Redis, or founds it. All logs of the server share two connections.
 *
 * Throws `store_unavailable`, `store_unusable` or `store_mismatch`.
 */
export async function openRedisLog(options: RedisLogOptions): Promise<RedisServerLog> {
  const { address, prefix = defaultPrefix, timeout = 2000, migrate = false, onNote = () => {} } = options;
  const { shown } = address;
  const now = nodePlatform.stopwatch;
  let link: Link | undefined;
  let away: Away | undefined;
  let losses = 0;
  let wasFull = false;
  let isClosed = false;
  const naps = new Set<() => void>();
  const logs = new Set<RedisLog>();

  const isFull = () => [...logs].some((log) => log.isFull());
  const unavailable = (reason = away?.reason ?? `it did not respond within ${timeout} ms`) =>
    new SandboxError("store_unavailable", `Failed to use the store ${shown}: ${reason}.`);
  const orUnavailable = <Result>(result: Promise<Result>): Promise<Result> =>
    result.catch((error) => {
      throw unavailable(reasonOf(error));
    });
  const store: Store = {
    ...{ shown, timeout, unavailable },
    link: () => link,
    refusal() {
      if (isClosed) return unavailable("it is closed");
      return away?.isSure === true ? unavailable() : undefined;
    },
    fail: (error, using) => goAway(error, using),
    onRoom(error) {
      if (wasFull === isFull()) return;
      wasFull = isFull();
      if (error === undefined) return onNote(`The store ${shown} has room again.`);
      onNote(`The store ${shown} rejects writes: ${reasonOf(error)}. Requests get 503 until it has room.`);
      // Long logs must make room for short ones.
      for (const log of logs) log.makeRoom();
    },
    onLoss() {
      losses += 1;
      onNote(`The store ${shown} has lost data: the sandbox starts again from the remaining data.`);
    },
    async aside(run) {
      if (link === undefined) throw unavailable(away?.reason ?? "it is closed");
      const own = await orUnavailable(connectRedis(address, snapshotTimeout));
      return orUnavailable(run(own)).finally(own.close);
    },
  };

  const nap = (ms: number) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        naps.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      naps.add(wake);
    });
  const closeLink = (one: Link | undefined) => {
    one?.asking.close();
    one?.listening.close();
  };
  const connect = async (): Promise<Link> => {
    let fresh: Link | undefined;
    const onBroken = (error: unknown) => {
      if (fresh !== undefined) goAway(error, fresh);
    };
    const asking = await connectRedis(address, timeout, onBroken);
    try {
      fresh = { asking, listening: await connectRedis(address, timeout, onBroken) };
      return fresh;
    } catch (error) {
      asking.close();
      throw error;
    }
  };

  const listen = async (using: Link) => {
    try {
      while (link === using) {
        const { isQuiet, pause } = await listenOnce(
          logs,
          using.listening,
          (log) => log.listening(using),
          timeout,
        );
        // Detects whether it is still the same log.
        if (isQuiet && link === using)
          for (const log of logs) if (log === server || log.isFull()) log.catchUp();
        await nap(pause);
      }
    } catch (error) {
      goAway(error, using);
    }
  };

  const goAway = (error: unknown, using: Link) => {
    if (isClosed || link !== using) return;
    link = undefined;
    closeLink(using);
    away = { since: now(), reason: reasonOf(error), isSure: isRefusal(error) };
    if (away.isSure) refuseAll();
    onNote(`The store ${shown} is away: ${away.reason}. Requests get 503 until it is back.`);
    comeBack(away);
  };
  const refuseAll = (error = unavailable()) => {
    for (const log of logs) log.refuseAll(error);
  };
  const comeBack = async (from: Away) => {
    for (let pause = 50; !isClosed; pause = Math.min(2 * pause, 2000)) {
      await nap(pause * (0.5 + nodePlatform.random() / 2 ** 33));
      const fresh = await reopen().catch((error) => {
        if (now() - from.since < timeout) return;
        from.isSure = true;
        refuseAll(unavailable(reasonOf(error)));
      });
      if (fresh === undefined) continue;
      if (isClosed) return closeLink(fresh);
      link = fresh;
      away = undefined;
      onNote(`The store ${shown} is back.`);
      listen(fresh);
      // Each log is first opened again.
      for (const log of logs) log.catchUp();
      return;
    }
  };
  const reopen = async (): Promise<Link> => {
    const fresh = await connect();
    try {
      await server.goOn(fresh);
      return fresh;
    } catch (error) {
      closeLink(fresh);
      throw error;
    }
  };

  const keys = keysOf(prefix);
  let { founding, isImport = false } = options;
  type Open = Parameters<LogPlace["begin"]>[0];
  const beginNew = async (open: Open, { asking }: Link) => {
    const found = await keysUnder(asking, `{${prefix}`);
    const foreign = found.find((key) => !keys.includes(key) && !isOfInstance(prefix, key));
    if (foreign !== undefined) throw foreignKey(shown, foreign);
    const left = found.filter((key) => isOfInstance(prefix, key));
    const unlink = () => Promise.all(left.map((key) => asking.command(["UNLINK", key])));
    if (isImport) await unlink();
    const [seconds] = (await asking.command(["TIME"])) as [string];
    const states = options.first(Number(seconds) * 1000);
    const beginInside = states.instances.map(([id, { at, text }]) =>
      asking.run(openScript, keysOf(prefix, id), [newEpoch(), "", "import", "", String(at), text]),
    );
    await Promise.all(beginInside);
    const opened = await open(states.server);
    // Earlier keys belong to instances whose list is lost.
    if (opened.isBegun && !isImport) await unlink();
    return opened;
  };
  const begin: LogPlace["begin"] = async (open, using) => {
    let opened = await open();
    if (opened.said[0] === "none") opened = await beginNew(open, using);
    else if (isImport) throw sandboxExists(shown);
    isImport = false;
    const [outcome, theirs = ""] = opened.said;
    if (outcome !== "other") return opened;
    // Another replica may have already migrated it.
    if (theirs !== options.founding && !(migrate && canMigrate(theirs, options.founding))) {
      throw otherFounding(shown, theirs, options.founding);
    }
    founding = theirs;
    return open();
  };
  const first = await connect().catch((error) => {
    throw unusableStore(shown, error);
  });
  const server = createRedisLog(store, { keys, founding: () => founding, isInside: false, begin });
  try {
    const notes = await checkRedis(first.asking, shown);
    await server.goOn(first);
    notes.forEach(onNote);
  } catch (error) {
    closeLink(first);
    throw unusableStore(shown, error);
  }
  link = first;
  logs.add(server);

  return {
    ...server,
    async follow(follower) {
      if (link !== undefined) listen(link);
      return server.follow(follower);
    },
    inside(id, firstState) {
      let isOpened = false;
      const log = createRedisLog(store, {
        ...{ keys: keysOf(prefix, id), founding: () => "", isInside: true },
        async begin(open) {
          // A log that is gone later was erased, so that it must not start again.
          const opened = await open(isOpened ? undefined : firstState());
          isOpened = true;
          return opened;
        },
      });
      logs.add(log);
      return {
        ...log,
        async close() {
          logs.delete(log);
          await log.close();
        },
      };
    },
    migratesFrom: () => (founding === options.founding ? undefined : founding),
    async backUp(version, backup) {
      const key = `{${prefix}}:backup-${version}`;
      await store.aside((own) => own.run(backUpScript, [...keys, key], [founding, backup]));
      return key;
    },
    async migrate() {
      const outcome = await store.aside((own) => own.run(migrateScript, keys, [founding, options.founding]));
      if (outcome !== "ok") throw otherFounding(shown, String(outcome), options.founding);
      founding = options.founding;
    },
    async erase(id) {
      if (link === undefined) throw unavailable();
      await orUnavailable(link.asking.command(["UNLINK", ...keysOf(prefix, id)]));
    },
    status: () => ({ ...server.status(), reachable: away === undefined && !isFull() && !isClosed, losses }),
    async close() {
      isClosed = true;
      for (const log of logs) log.close();
      for (const wake of naps) wake();
      closeLink(link);
      link = undefined;
    },
  };
}
