import { SandboxError } from "../../domain/errors.js";
import { nodePlatform, setImmediate } from "../../node/platform.js";
import { type FirstState, type LogSnapshot, noLog, type SharedLog } from "../replica/shared-log.js";
import { createAppendQueue } from "./append-queue.js";
import type { Reply } from "./link.js";
import {
  batchesOf,
  between,
  createLogCursor,
  type LogCursor,
  numberOf,
  type StoredBatch,
} from "./log-cursor.js";
import { foreignKey, isFullness, reasonOf, snapshotGone } from "./problems.js";
import { appendScript, keepScript, openScript } from "./scripts.js";
import { type Link, type LogPlace, newEpoch, type Store } from "./store.js";

/** The maximum number of batches in one reply. */
export const chunk = 200;
/** Milliseconds after a call without listening: the reply to the next call contains new entries. */
const busyTime = 100;

/** The state of an opened log in the store. */
interface Opened {
  readonly epoch: string;
  /** The entries up to this number were discarded. */
  readonly floor: number;
  /** Whether it contains this replica's last batch. */
  readonly isKnown: boolean;
  /** Whether it has its snapshot. */
  readonly isWhole: boolean;
}

export type RedisLog = ReturnType<typeof createRedisLog>;

/**
 * Creates a log in a store.
 *
 * Only one call is in progress: it appends all entries since the previous call, and its reply contains the entries after the
 * replica's position. An append is thus one round trip. Several logs send their calls in parallel.
 */
export function createRedisLog(store: Store, { keys, begin, founding, isInside }: LogPlace) {
  const { shown, timeout, unavailable } = store;
  const now = nodePlatform.stopwatch;
  const replica = newEpoch();
  let opened: Opened | undefined;
  /** The link that opened it. */
  let openedOn: Link | undefined;
  let cursor: LogCursor | undefined;
  let snapshotNumber = 0;
  let latencyMs = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  let storedBatch = 0;
  let isAsking = false;
  let isWanted = false;
  let isFull = false;
  let isGone = false;
  let isClosed = false;
  let makesRoom = false;
  let makeRoom = () => {};
  let caughtUp: { to: number | undefined; readonly resolve: () => void } | undefined;
  const queue = createAppendQueue(timeout, () => unavailable());

  const open = async (using: Link): Promise<Opened | undefined> => {
    const call = async (first?: FirstState) => {
      const epoch = first === undefined ? "" : newEpoch();
      const { at = 0, text = "" } = first ?? {};
      const argv = [epoch, founding(), replica, cursor?.at() ?? "", String(at), text];
      const said = (await using.asking.run(openScript, keys, argv)) as string[];
      return { said, isBegun: said[1] === epoch };
    };
    const [outcome, first = "", floor = "", known, whole] = (await begin(call, using)).said;
    if (outcome === "none") return undefined;
    if (outcome === "foreign") throw foreignKey(shown, first);
    const [isKnown, isWhole] = [known === "1", whole === "1"];
    return { epoch: first, floor: numberOf(floor), isKnown, isWhole };
  };
  // Entries in progress may be in the snapshot, but their outcome is unknown.
  const start = async ({ asking }: Link, follower: LogCursor, { epoch }: Opened) => {
    const kept = (await asking.command(["GET", keys[2]])) as string | null;
    if (kept === null && isInside) return goneNow();
    if (kept === null) throw snapshotGone(shown);
    const end = kept.indexOf("\n");
    follower.start(epoch, { position: kept.slice(0, end), text: kept.slice(end + 1) });
    snapshotNumber = follower.number();
    queue.refuseUnderWay(unavailable("requests in progress are lost, or their result is unknown"));
  };
  const goneNow = () => {
    isGone = true;
    queue.resolveAll(noLog);
  };
  /** Continues with the current log; resolves to whether the replica had to start again. */
  const goOn = async (using: Link): Promise<boolean> => {
    const before = opened;
    const found = await open(using);
    openedOn = using;
    if (found === undefined) {
      goneNow();
      return true;
    }
    opened = found;
    if (cursor === undefined) {
      if (!found.isWhole) throw snapshotGone(shown);
      return false;
    }
    const isBehind = cursor.at() === "" || cursor.number() < found.floor;
    const isOther = before !== undefined && found.epoch !== before.epoch;
    const isLost = cursor.at() !== "" && (isOther || !(found.isKnown || isBehind));
    if (isLost) store.onLoss();
    if (isLost || isBehind) await start(using, cursor, found);
    isWanted = true;
    return isLost || isBehind;
  };
  const mendOrFail = async (using: Link) => {
    if (await goOn(using)) return;
    if (!isInside) throw new SandboxError("store_unusable", "another program has changed its log");
    if (cursor !== undefined && opened !== undefined) await start(using, cursor, opened);
  };

  const apply = (batches: readonly StoredBatch[], behind: number, follower: LogCursor): boolean => {
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
  const askOnce = async (using: Link, follower: LogCursor, { epoch }: Opened) => {
    const batch = queue.next();
    isWanted = false;
    const behind = follower.number();
    const mode = nextMode();
    const argv = [epoch, follower.at(), String(chunk), replica, String(batch?.number ?? 0), mode];
    // A stored batch is not sent again: a slow replica only waits for its outcome.
    const texts = batch === undefined || batch.number === storedBatch ? [] : batch.texts;
    const before = now();
    const reply = await using.asking.run(appendScript, keys, [
      ...argv,
      String(texts.length),
      texts.join(between),
    ]);
    if (store.link() !== using) return;
    askedAt = now();
    latencyMs = askedAt - before;
    const [outcome, head, snapshot, found, ownId] = reply as [
      string,
      string,
      string,
      readonly Reply[],
      string,
    ];
    if (outcome !== "ok") return mendOrFail(using);
    if (mode === "probe") haveRoom();
    storedBatch = batch?.number ?? storedBatch;
    snapshotNumber = numberOf(snapshot);
    if (caughtUp !== undefined) caughtUp.to ??= Number(head);
    const batches = batchesOf(found);
    // Redis does not return the batch that it just stored.
    if (ownId !== "") batches.push({ id: ownId, epoch, mark: `${replica} ${batch?.number}`, texts });
    if (!apply(batches, behind, follower)) return mendOrFail(using);
    if (found.length === chunk) isWanted = true;
    else queue.completeSyncs();
  };
  const ask = async () => {
    for (;;) {
      const using = store.link();
      if (using === undefined || cursor === undefined || isGone || isClosed) break;
      if (!isWanted && !queue.isWaiting()) break;
      const asking =
        openedOn !== using || opened === undefined ? goOn(using) : askOnce(using, cursor, opened);
      await asking.catch((error) => {
        if (isFullness(error)) beFull(error);
        else store.fail(error, using);
      });
    }
    isAsking = false;
  };
  const beFull = (error: unknown) => {
    isFull = true;
    isWanted = false;
    queue.refuseAll(unavailable(reasonOf(error)));
    store.onRoom(error);
    makeRoom();
  };
  const haveRoom = () => {
    isFull = false;
    store.onRoom();
  };
  // After this event loop iteration, whose appends are sent together.
  const askSoon = () => {
    if (isAsking) return;
    isAsking = true;
    setImmediate(ask);
  };
  const catchUp = () => {
    isWanted = true;
    askSoon();
  };

  const push = (text: string | undefined, how?: "making room"): Promise<unknown> => {
    const refusal = isClosed ? unavailable("it is closed") : store.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    if (isGone) return Promise.resolve(noLog);
    if (how === "making room") makesRoom = true;
    const outcome = queue.push(text);
    askSoon();
    return outcome;
  };

  const log: SharedLog = {
    async follow(follower) {
      makeRoom = follower.makeRoom ?? makeRoom;
      cursor = createLogCursor(follower, (mark, index, outcome, isLast) => {
        const own = queue.underWay();
        if (own === undefined || mark !== `${replica} ${own.number}`) return;
        own.resolve(index, outcome);
        if (isLast) queue.complete();
      });
      const using = store.link();
      if (isInside) {
        if (using === undefined) throw store.refusal() ?? unavailable();
        await goOn(using).catch((error) => {
          if (isFullness(error)) beFull(error);
          else store.fail(error, using);
          throw unavailable(reasonOf(error));
        });
        return isGone ? noLog : undefined;
      }
      const reached = new Promise<void>((resolve) => {
        caughtUp = { to: undefined, resolve };
      });
      if (using !== undefined) {
        await start(using, cursor, opened as Opened).catch((error) => store.fail(error, using));
        catchUp();
      }
      return reached;
    },
    append: push,
    sync: () => push(undefined),
    async keepSnapshot({ position, text }: LogSnapshot, how) {
      const argv = [opened?.epoch ?? "", position, text, isFull || how === "last" ? "whole" : ""];
      const reply = await store.aside((link) => link.run(keepScript, keys, argv));
      const [outcome, kept = ""] = reply as readonly string[];
      if (outcome === "ok") snapshotNumber = numberOf(kept);
      if (isFull) catchUp();
    },
    status: () => ({
      latencyMs,
      entries: (cursor?.number() ?? 0) - snapshotNumber,
    }),
    async close() {
      isClosed = true;
      queue.refuseAll(unavailable("it is closed"));
    },
  };
  return {
    ...log,
    goOn,
    /** Fetches new entries; also detects another log, and whether a full store has room again. */
    catchUp,
    makeRoom: () => makeRoom(),
    isFull: () => isFull,
    refuseAll: queue.refuseAll,
    /** Returns the stream and the position to listen at; `undefined` while replies to calls contain new entries. */
    listening(using: Link): readonly [stream: string, at: string] | undefined {
      const isReady =
        cursor !== undefined && cursor.at() !== "" && openedOn === using && !isGone && !isClosed;
      return isReady && now() - askedAt > busyTime ? [keys[1], (cursor as LogCursor).at()] : undefined;
    },
    /** Applies batches that follow a position. */
    bring(found: readonly Reply[], at: string): void {
      // Batches that do not fit: the script detects whether it is still the same log.
      if (isClosed || isGone || cursor === undefined) return;
      if (!apply(batchesOf(found), numberOf(at), cursor)) catchUp();
    },
  };
}
