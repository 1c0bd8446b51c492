import { randomBytes } from "node:crypto";
import { SandboxError } from "../../domain/errors.js";
import { clearTimeout, nodePlatform, setImmediate, setTimeout } from "../../node/platform.js";
import type { LogSnapshot, SharedLog } from "../replica/shared-log.js";
import { defaultPrefix, type RedisAddress } from "./address.js";
import { createAppendQueue } from "./append-queue.js";
import { checkRedis, keysUnder, otherFounding } from "./checks.js";
import { connectRedis, type RedisLink, type Reply } from "./link.js";
import { createLogCursor, type LogCursor, numberOf, type StoredBatch } from "./log-cursor.js";
import { isFullness, isRefusal, reasonOf, unfitStore, unusableStore } from "./problems.js";
import { appendScript, keepScript, openScript } from "./scripts.js";

export interface RedisLogOptions {
  readonly address: RedisAddress;
  /** What the names of all keys begin with. Default: `svc-sandbox:`. */
  readonly prefix?: string | undefined;
  /** Milliseconds after which an append that was not answered is refused. Default: 2000. */
  readonly timeout?: number | undefined;
  /** What has to be equal for all replicas: flat JSON, of which a refusal names what differs. */
  readonly founding: string;
  /** Called with what an operator should know: the store is away, it is back, it may lose data. */
  readonly onNote?: (message: string) => void;
}

/** Milliseconds that a snapshot may take to be stored: it may be long, and nobody waits for it. */
const snapshotTimeout = 60_000;
/** The most batches that one call fetches. */
const chunk = 200;
/** Milliseconds for which a replica listens at a time, and rests behind each time. */
const listening = 1000;
const rest = 20;

/** Two connections, of which one asks, and one listens; they break together. */
interface Link {
  readonly asking: RedisLink;
  readonly listening: RedisLink;
}

/** What the store says of a log that is opened. */
interface Opened {
  readonly epoch: string;
  readonly foundedAt: number;
  /** The entries up to this number are forgotten. */
  readonly floor: number;
  /** Whether it has the last batch that this replica has. */
  readonly isKnown: boolean;
  /** Whether it has its snapshot, if entries are forgotten. */
  readonly isWhole: boolean;
}

interface Away {
  readonly since: number;
  readonly reason: string;
  /** Whether Redis refused, or could not be reached again: nobody is to wait for it. */
  isSure: boolean;
}

/**
 * Opens a log in Redis, and begins it where there is none.
 *
 * Calls go over one connection, one at a time: each appends what has come together since the one before, and brings what
 * follows the replica's position, so that an append is one round trip. A second connection listens for what others append.
 *
 * Throws `store_unavailable`, `store_unusable` or `store_mismatch`.
 */
export async function openRedisLog(options: RedisLogOptions): Promise<SharedLog> {
  const { address, prefix = defaultPrefix, timeout = 2000, founding, onNote = () => {} } = options;
  const { shown } = address;
  const now = nodePlatform.stopwatch;
  const keys = [`${prefix}meta`, `${prefix}log`, `${prefix}snapshot`];
  const replica = randomBytes(6).toString("base64url");
  let link: Link | undefined;
  let opened: Opened;
  let cursor: LogCursor | undefined;
  let snapshotNumber = 0;
  let away: Away | undefined;
  let latencyMs = 0;
  let losses = 0;
  let storedBatch = 0;
  let isAsking = false;
  let isWanted = false;
  let isClosed = false;
  let isFull = false;
  let makesRoom = false;
  let caughtUp: { to: number | undefined; readonly resolve: () => void } | undefined;
  let makeRoom = () => {};
  const naps = new Set<() => void>();

  const unavailable = (reason: string) =>
    new SandboxError("store_unavailable", `Failed to use the store ${shown}: ${reason}.`);
  const queue = createAppendQueue(timeout, () =>
    unavailable(away?.reason ?? `it did not answer within ${timeout} ms`),
  );

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

  const open = async ({ asking }: Link): Promise<Opened> => {
    const call = async (epoch: string) =>
      (await asking.run(openScript, keys, [epoch, founding, replica, cursor?.at() ?? ""])) as string[];
    let [outcome, ...said] = await call("");
    if (outcome === "none") {
      const foreign = (await keysUnder(asking, prefix)).find((key) => !keys.includes(key));
      if (foreign !== undefined) throw foreignKey(shown, foreign);
      [outcome, ...said] = await call(randomBytes(6).toString("base64url"));
    }
    const [first = "", foundedAt, floor = "", known, whole] = said;
    if (outcome === "foreign") throw foreignKey(shown, first);
    if (outcome === "other") throw otherFounding(shown, first, founding);
    const [isKnown, isWhole] = [known === "1", whole === "1"];
    return { epoch: first, foundedAt: Number(foundedAt), floor: numberOf(floor), isKnown, isWhole };
  };

  // What was under way may be in the snapshot, and what came of it is not known.
  const start = async ({ asking }: Link, follower: LogCursor) => {
    if (!opened.isWhole) throw snapshotGone(shown);
    const kept = (await asking.command(["GET", keys[2] as string])) as string | null;
    const end = kept?.indexOf("\n") ?? 0;
    const snapshot = kept === null ? undefined : { position: kept.slice(0, end), text: kept.slice(end + 1) };
    follower.start(opened.epoch, opened.foundedAt, snapshot);
    snapshotNumber = follower.number();
    queue.refuseUnderWay(unavailable("what was under way is lost, or it is not known what came of it"));
  };

  /** Opens the log again; where it is not the one that the replica has, the replica starts anew. Resolves to whether it did. */
  const goOn = async (using: Link): Promise<boolean> => {
    const before = opened;
    opened = await open(using);
    if (cursor === undefined) return false;
    const isBehind = cursor.at() === "" || cursor.number() < opened.floor;
    const isLost = opened.epoch !== before.epoch || !(opened.isKnown || isBehind);
    if (isLost) losses += 1;
    if (isLost) onNote(`The store ${shown} has lost data: the sandbox starts anew from what it has.`);
    if (isLost || isBehind) await start(using, cursor);
    isWanted = true;
    return isLost || isBehind;
  };
  const mendOrFail = async (using: Link) => {
    if (await goOn(using)) return;
    throw new SandboxError("store_unusable", "another program has changed its log");
  };

  const take = (found: readonly Reply[], behind: number, follower: LogCursor): boolean => {
    const batches = (found as readonly [string, readonly string[]][]).map(
      ([id, [epoch = "", mark = "", ...texts]]): StoredBatch => ({
        id,
        epoch,
        mark,
        // Each has a name, which says nothing.
        texts: texts.filter((_, index) => index % 2 === 1),
      }),
    );
    const isSound = follower.apply(batches, behind);
    if (caughtUp?.to !== undefined && follower.number() >= caughtUp.to) {
      caughtUp.resolve();
      caughtUp = undefined;
    }
    return isSound;
  };

  const nextMode = () => {
    const mode = makesRoom ? "room" : isFull ? "probe" : "";
    makesRoom = false;
    return mode;
  };
  const haveRoom = () => {
    isFull = false;
    onNote(`The store ${shown} has room again.`);
  };
  const askOnce = async (using: Link, follower: LogCursor) => {
    const batch = queue.next();
    isWanted = false;
    const behind = follower.number();
    const mode = nextMode();
    const argv = [opened.epoch, follower.at(), String(chunk), replica, String(batch?.number ?? 0), mode];
    // One that is stored is only waited for, by a replica that is far behind.
    const texts = batch === undefined || batch.number === storedBatch ? [] : batch.texts;
    const before = now();
    const reply = await using.asking.run(appendScript, keys, [...argv, ...texts]);
    if (link !== using) return;
    latencyMs = now() - before;
    const [outcome, head, snapshot, found] = reply as [string, string, string, readonly Reply[]];
    if (outcome !== "ok") return mendOrFail(using);
    if (mode === "probe") haveRoom();
    storedBatch = batch?.number ?? storedBatch;
    snapshotNumber = numberOf(snapshot);
    if (caughtUp !== undefined) caughtUp.to ??= Number(head);
    if (!take(found, behind, follower)) return mendOrFail(using);
    if (found.length === chunk) isWanted = true;
  };
  const ask = async () => {
    while (link !== undefined && cursor !== undefined && (isWanted || queue.isWaiting())) {
      const using = link;
      await askOnce(using, cursor).catch((error) =>
        isFullness(error) ? beFull(error) : goAway(error, using),
      );
    }
    isAsking = false;
  };
  const beFull = (error: unknown) => {
    const reason = reasonOf(error);
    if (!isFull) onNote(`The store ${shown} takes nothing: ${reason}. Requests get 503 until it has room.`);
    isFull = true;
    queue.refuseAll(unavailable(reason));
    makeRoom();
  };
  // At the end of the turn of the event loop: what comes in it goes together.
  const askSoon = () => {
    if (isAsking) return;
    isAsking = true;
    setImmediate(ask);
  };
  const catchUp = () => {
    isWanted = true;
    askSoon();
  };

  // What this replica appends itself brings what others append, too: this connection only rests then.
  const listen = async (using: Link, follower: LogCursor) => {
    while (link === using) {
      const behind = follower.number();
      const streams = ["STREAMS", keys[1] as string, follower.at()];
      const argv = ["XREAD", "COUNT", String(chunk), "BLOCK", String(listening), ...streams];
      try {
        const reply = (await using.listening.command(argv, listening + timeout)) as
          | [[string, Reply[]]]
          | null;
        if (link !== using) return;
        // Nothing new, or nothing that fits: the script finds out whether it is still the same log.
        if (reply === null || !take(reply[0][1], behind, follower)) catchUp();
      } catch (error) {
        goAway(error, using);
      }
      await nap(rest);
    }
  };

  const goAway = (error: unknown, using: Link) => {
    if (isClosed || link !== using) return;
    link = undefined;
    closeLink(using);
    const reason = reasonOf(error);
    away = { since: now(), reason, isSure: isRefusal(error) };
    if (away.isSure) queue.refuseAll(unavailable(reason));
    onNote(`The store ${shown} is away: ${reason}. Requests get 503 until it is back.`);
    comeBack(away);
  };

  const comeBack = async (from: Away) => {
    for (let pause = 50; !isClosed; pause = Math.min(2 * pause, 2000)) {
      await nap(pause * (0.5 + nodePlatform.random() / 2 ** 33));
      const fresh = await reopen().catch((error) => {
        if (now() - from.since < timeout) return;
        from.isSure = true;
        queue.refuseAll(unavailable(reasonOf(error)));
      });
      if (fresh === undefined) continue;
      if (isClosed) return closeLink(fresh);
      link = fresh;
      away = undefined;
      onNote(`The store ${shown} is back.`);
      if (cursor !== undefined) listen(fresh, cursor);
      return catchUp();
    }
  };
  const reopen = async (): Promise<Link> => {
    const fresh = await connect();
    try {
      await goOn(fresh);
      return fresh;
    } catch (error) {
      closeLink(fresh);
      throw error;
    }
  };

  const first = await connect().catch((error) => {
    throw unusableStore(shown, error);
  });
  try {
    const notes = await checkRedis(first.asking, shown);
    opened = await open(first);
    if (!opened.isWhole) throw snapshotGone(shown);
    notes.forEach(onNote);
  } catch (error) {
    closeLink(first);
    throw unusableStore(shown, error);
  }
  link = first;

  return {
    async follow(follower) {
      const using = link;
      makeRoom = follower.makeRoom ?? makeRoom;
      cursor = createLogCursor(follower, (mark, index, outcome, isLast) => {
        const own = queue.underWay();
        if (own === undefined || mark !== `${replica} ${own.number}`) return;
        own.resolve(index, outcome);
        if (isLast) queue.done();
      });
      const reached = new Promise<void>((resolve) => {
        caughtUp = { to: undefined, resolve };
      });
      if (using !== undefined) {
        await start(using, cursor).catch((error) => goAway(error, using));
        listen(using, cursor);
        catchUp();
      }
      return reached;
    },
    append(text, how) {
      if (isClosed) return Promise.reject(unavailable("it is closed"));
      if (away?.isSure) return Promise.reject(unavailable(away.reason));
      if (how === "making room") makesRoom = true;
      const outcome = queue.push(text);
      askSoon();
      return outcome;
    },
    async keepSnapshot({ position, text }: LogSnapshot) {
      if (link === undefined) throw unavailable(away?.reason ?? "it is closed");
      const argv = [opened.epoch, position, text, isFull ? "full" : ""];
      // Others are not to wait behind it, or lose their connection with it.
      const own = await connectRedis(address, snapshotTimeout).catch((error) => {
        throw unavailable(reasonOf(error));
      });
      const reply = await own
        .run(keepScript, keys, argv)
        .catch((error) => {
          throw unavailable(reasonOf(error));
        })
        .finally(own.close);
      const [outcome, kept = ""] = reply as readonly string[];
      if (outcome === "ok") snapshotNumber = numberOf(kept);
      if (isFull) catchUp();
    },
    status: () => ({
      reachable: away === undefined && !isFull && !isClosed,
      latencyMs,
      losses,
      entries: (cursor?.number() ?? 0) - snapshotNumber,
    }),
    async close() {
      isClosed = true;
      queue.refuseAll(unavailable("it is closed"));
      for (const wake of naps) wake();
      closeLink(link);
      link = undefined;
    },
  };
}

function snapshotGone(shown: string): SandboxError {
  return unfitStore(
    shown,
    "its snapshot is gone, and so are the entries before it. Delete its keys to start again, or name others with --store-prefix.",
  );
}

function foreignKey(shown: string, key: string): SandboxError {
  return unfitStore(
    shown,
    `it has the key ${JSON.stringify(key)}, which is of somebody else. Give this sandbox keys of its own with --store-prefix.`,
  );
}
