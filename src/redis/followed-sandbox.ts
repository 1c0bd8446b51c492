import type { GivenOptions } from "../sandbox/sandbox.js";
import { loadToReplay, onReplayed } from "./careful-replay.js";
import {
  type createRoom,
  type Followed,
  isUrgent,
  type RedisConnection,
  separator,
  type Waiting,
} from "./redis-connection.js";
import { reasonOf } from "./redis-problems.js";
import { createSandboxCopy, type Entry, keptJournal, type OwnPart, type RunCall } from "./sandbox-copy.js";
import { compactIn, type Loaded } from "./stored-sandbox.js";

/** A sandbox is compacted after this many entries or characters, or later if its state is larger. */
const compactAfter = { entries: 256, characters: 64_000 };

export const noSandbox = Symbol("no sandbox");

interface SandboxOptions {
  readonly id: string;
  readonly given: GivenOptions;
  readonly idGroup?: number | undefined;
  /** Returns when it expires (epoch milliseconds), if that must be stored now; otherwise an empty text. */
  readonly expires?: () => string;
  /** Called if the sandbox is gone. Resolves to whether it exists again. */
  readonly onGone: () => Promise<boolean>;
}

export interface Shared {
  readonly connection: RedisConnection;
  readonly room: ReturnType<typeof createRoom>;
  readonly runCall: RunCall;
  /** Called while an entry of this server is applied, and after it. */
  readonly onOwn: (isOwn: boolean) => void;
  /** Called with a failure that no caller waits for. */
  readonly report: (error: unknown) => void;
}

export type FollowedSandbox = ReturnType<typeof followSandbox>;

export function followSandbox(
  loaded: Loaded,
  { id, given, idGroup, onGone, expires = () => "" }: SandboxOptions,
  { connection, room, runCall, onOwn, report }: Shared,
) {
  const copy = createSandboxCopy(loaded.state, { given, idGroup }, runCall);
  const [hash, stream] = connection.keys.of(id);
  /** The position of the last compaction by this server. */
  let compacted = "";
  let limits = compactAfter;
  let isCompacting = false;

  const applyBatches = (batches: Loaded["batches"]) => {
    for (const [position, [, texts]] of batches) {
      followed.position = position;
      for (const text of texts.split(separator)) {
        try {
          const value = copy.apply(JSON.parse(text), position, text.length);
          if (value instanceof Promise) value.catch(() => {});
        } catch {
          // Its own server reports the error.
        }
      }
    }
  };
  const push = (entry: Entry | undefined, own: OwnPart = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const text = entry === undefined ? "" : JSON.stringify(entry);
      const onReply = (at: string, time: number) => {
        try {
          const outcome = entry === undefined ? readAt(own, time) : applyOwn(entry, own, text, at);
          // Its caller may no longer wait.
          if (outcome instanceof Promise) outcome.catch(() => {});
          resolve(outcome);
        } catch (error) {
          reject(error);
        }
      };
      // No spreads: this is made for each request.
      connection.push(followed, { text, kind: entry?.kind ?? "", resolve, reject, onReply });
    });
  const readAt = (own: OwnPart, time: number) => {
    if (own.read === undefined) return undefined;
    return copy.isDue(time) ? push({ kind: "look" }, own) : copy.read(time, own.read);
  };
  const applyOwn = (entry: Entry, own: OwnPart, text: string, at: string) => {
    if (entry.kind === "compact") compacted = at;
    // A request is plain data. Other entries are parsed, so that every copy applies the same data.
    const parsed: Entry = entry.kind === "request" ? entry : JSON.parse(text);
    return copy.apply(parsed, at, text.length, own);
  };
  /** Shortens the journal to a number of requests, and stores a snapshot. */
  const compact = async (journal: number = keptJournal.requests, least = 1): Promise<void> => {
    if (isCompacting) return;
    isCompacting = true;
    try {
      // Another server may compact it first.
      const text = await push({ kind: "compact", least, journal });
      if (typeof text !== "string") return;
      const factor = Math.max(1, text.length / compactAfter.characters);
      limits = { entries: compactAfter.entries * factor, characters: compactAfter.characters * factor };
      await compactIn(connection, id, compacted, text);
    } catch (error) {
      report(error);
    } finally {
      isCompacting = false;
    }
  };
  const reload = async (): Promise<boolean> => {
    const found = await loadToReplay(connection, id, () => ({ given, idGroup }), runCall);
    if (found === undefined || "ended" in found) return (await onGone()) ? reload() : false;
    if (isLost(followed.position, found.position)) connection.onLoss();
    copy.start(found.state);
    followed.position = found.position;
    replay(found.batches);
    return true;
  };
  const replay = (batches: Loaded["batches"]) => {
    applyBatches(batches);
    if (batches.length > 0) onReplayed(connection, id);
  };
  /** Lets entries wait again after `act`, unless that fails or the sandbox is gone. */
  const again = async (own: readonly Waiting[], act: Promise<boolean>) => {
    try {
      if (await act) return connection.again(followed, own);
      for (const one of connection.takeWaiting(own)) one.resolve(noSandbox);
    } catch (error) {
      for (const one of connection.takeWaiting(own)) one.reject(error);
    }
    connection.again(followed, []);
  };
  const makeRoom = async (error: Error) => {
    if (await room.onRejected(error)) return true;
    throw connection.unavailable(reasonOf(error));
  };
  const applyStored = (entries: readonly Waiting[], at: string, time: number) => {
    followed.position = at;
    onOwn(true);
    for (const one of entries) one.onReply(at, time);
    onOwn(false);
    const sizes = copy.sizes();
    const isLarge = sizes.entries >= limits.entries || sizes.characters >= limits.characters;
    if (isLarge) compact(undefined, sizes.entries);
    // A full Redis stores a batch with an urgent entry.
    if (!entries.some(isUrgent)) room.onStored();
  };
  const followed: Followed = {
    keys: [hash, stream],
    ...{ position: loaded.position, loading: undefined, waiting: [], expires },
    onReply([state, stored, found], own, time) {
      if (state !== "ok") {
        followed.loading ??= reload().finally(() => {
          followed.loading = undefined;
        });
        again(own, followed.loading);
        return;
      }
      applyBatches(found);
      const isRejected = stored !== "" && !/^\d+-\d+$/.test(stored);
      const entries = own.filter(({ text }) => text !== "");
      const reads = entries.length === own.length ? [] : own.filter(({ text }) => text === "");
      // What is stored is applied also if its caller no longer waits. Nobody needs such a read.
      const awaited = connection.takeWaiting(reads);
      if (!isRejected) connection.takeWaiting(entries);
      if (isRejected) again(entries, makeRoom(new Error(stored)));
      else if (entries.length > 0) applyStored(entries, stored, time);
      for (const one of awaited) one.onReply("", time);
    },
  };
  replay(loaded.batches);
  return {
    copy,
    runtime: copy.runtime,
    /** Appends an entry; resolves to its outcome, or to `noSandbox`. */
    append: (entry: Entry, own?: OwnPart) => push(entry, own),
    /** Resolves to what `read` returns after applying everything that any server has acknowledged, or to `noSandbox`. */
    look: (read?: () => unknown) => push(undefined, { read }),
    compact,
  };
}

/** Whether a position that the stream does not have was lost, not compacted up to a snapshot. */
function isLost(position: string, snapshot: string): boolean {
  const [isFirst, isOther] = [position.startsWith("0-"), snapshot.startsWith("0-")];
  if (isFirst && isOther) return position !== snapshot;
  return position.localeCompare(snapshot, "en", { numeric: true }) > 0;
}
