import type { GivenOptions } from "../sandbox/sandbox.js";
import type { RunIn } from "./log.js";
import type { Entry } from "./memory-log.js";
import type { Followed, RedisConnection, Waiting } from "./redis-connection.js";
import { reasonOf } from "./redis-problems.js";
import { createSandboxCopy, keptJournal, type OwnPart, type RunCall } from "./sandbox-copy.js";
import { batchesOf, compactIn, type Loaded, loadSandbox, type StoredBatch } from "./stored-sandbox.js";

/** A sandbox is compacted after this many entries or characters, or later if its state is larger. */
const compactAfter = { entries: 256, characters: 64_000 };

/** The result of an append to a sandbox that is gone. */
export const noSandbox = Symbol("no sandbox");

interface SandboxOptions {
  readonly connection: RedisConnection;
  readonly keys: readonly [hash: string, stream: string, list: string, end: string];
  readonly id: string;
  readonly given: GivenOptions;
  readonly idGroup?: number | undefined;
  readonly runCall: RunCall;
  /** Returns when it expires (epoch milliseconds), if that must be stored now; otherwise an empty text. */
  readonly expires?: () => string;
  /** Called while an entry of this server is applied, and after it. */
  readonly onOwn: (isOwn: boolean) => void;
  /** Called if the sandbox is gone. Resolves to whether it exists again. */
  readonly onGone: () => Promise<boolean>;
  /** Called if Redis has lost entries that this server had applied. */
  readonly onLoss: () => void;
  /** Called if Redis rejects an append. Resolves to whether to try again. */
  readonly onRejected: (error: Error) => Promise<boolean>;
  /** Called if Redis has stored an entry that needs room. */
  readonly onStored: () => void;
  /** Called with a failure that no caller waits for. */
  readonly report: (error: unknown) => void;
}

interface Own extends Waiting {
  readonly entry: Entry | undefined;
  readonly own: OwnPart;
  readonly resolve: (outcome: unknown) => void;
}

export type FollowedSandbox = ReturnType<typeof followSandbox>;

/** Follows a sandbox in the store: its copy applies every entry once and in order. */
export function followSandbox(loaded: Loaded, options: SandboxOptions) {
  const { connection, keys, id, onOwn, expires = () => "" } = options;
  const copy = createSandboxCopy(loaded.state, options, options.runCall);
  let position = "";
  /** The position of the last compaction by this server. */
  let compacted = "";
  let limits = compactAfter;
  let isCompacting = false;
  let loading: Promise<boolean> | undefined;

  const applyBatch = ({ position: at, texts }: StoredBatch) => {
    position = at;
    for (const text of texts) {
      try {
        const value = copy.apply(JSON.parse(text), Number.parseInt(at, 10), text.length);
        if (value instanceof Promise) value.catch(() => {});
      } catch {
        // Its own server reports the error.
      }
    }
  };
  const begin = ({ position: at, batches }: Loaded) => {
    position = at;
    batches.forEach(applyBatch);
  };
  begin(loaded);

  const push = (entry: Entry | undefined, own: OwnPart): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const text = entry === undefined ? "" : JSON.stringify(entry);
      const isLast = entry?.kind === "compact";
      const isUrgent = isLast || entry?.kind === "look";
      // No spreads: this is made for each request.
      connection.push(followed, { entry, text, own, resolve, reject, isLast, isUrgent });
    });
  const append = (entry: Entry, own: OwnPart = {}) => push(entry, own);
  const readAt = ({ own: { read, place }, resolve, reject }: Own, time: number) => {
    if (read === undefined || place === undefined) return resolve(undefined);
    try {
      if (copy.isDue(time)) append({ kind: "look" }, { read, place }).then(resolve, reject);
      else resolve(copy.read(time, () => read(place)));
    } catch (error) {
      reject(error);
    }
  };
  const applyOwn = ({ entry, own, text, resolve, reject }: Own, at: string) => {
    if (entry?.kind === "compact") compacted = at;
    try {
      // A request is plain data. Other entries are parsed, so that every copy applies the same data.
      const parsed: Entry = entry?.kind === "request" ? entry : JSON.parse(text);
      resolve(copy.apply(parsed, Number.parseInt(at, 10), text.length, own));
    } catch (error) {
      reject(error);
    }
  };
  const compact = async (journal: number = keptJournal.requests, least = 1): Promise<void> => {
    if (isCompacting) return;
    isCompacting = true;
    try {
      // Another server may compact it first.
      const text = await append({ kind: "compact", least, journal });
      if (typeof text !== "string") return;
      const factor = Math.max(1, text.length / compactAfter.characters);
      limits = { entries: compactAfter.entries * factor, characters: compactAfter.characters * factor };
      await compactIn(connection, keys, compacted, text);
    } catch (error) {
      options.report(error);
    } finally {
      isCompacting = false;
    }
  };
  const applyStored = (own: readonly Own[], at: string) => {
    position = at;
    onOwn(true);
    for (const one of own) applyOwn(one, at);
    onOwn(false);
    const { entries, characters } = copy.sizes();
    if (entries >= limits.entries || characters >= limits.characters) compact(undefined, entries);
    // A full Redis stores a batch with an urgent entry.
    if (!own.some(({ isUrgent }) => isUrgent)) options.onStored();
  };
  const reload = async (): Promise<boolean> => {
    const found = await loadSandbox(connection, keys, id);
    if (found === undefined || "ended" in found) return (await options.onGone()) ? reload() : false;
    if (isLost(position, found.position)) options.onLoss();
    copy.start(found.state);
    begin(found);
    return true;
  };
  /** Lets entries wait again after `act`, unless that fails or the sandbox is gone. */
  const again = async (own: readonly Own[], act: () => Promise<boolean>) => {
    try {
      if (await act()) return connection.again(followed, own);
      for (const one of connection.settle(own)) one.resolve(noSandbox);
    } catch (error) {
      for (const one of connection.settle(own)) one.reject(error);
    }
    connection.again(followed, []);
  };
  const followed: Followed<Own> = {
    keys: [keys[0], keys[1]],
    position: () => position,
    isLoading: () => loading !== undefined,
    expires,
    onReply([state, stored, found], own, time) {
      if (state !== "ok") {
        loading ??= reload().finally(() => {
          loading = undefined;
        });
        const reloading = loading;
        again(own, () => reloading);
        return;
      }
      if (found.length > 0) batchesOf(found).forEach(applyBatch);
      const isStored = stored === "" || /^\d+-\d+$/.test(stored);
      const entries = own.filter(({ text }) => text !== "");
      const reads = entries.length === own.length ? [] : own.filter(({ text }) => text === "");
      connection.settle(isStored ? own : reads);
      if (isStored && stored !== "") applyStored(entries, stored);
      for (const one of reads) readAt(one, time);
      if (isStored) return;
      const error = new Error(stored);
      again(entries, async () => {
        if (await options.onRejected(error)) return true;
        throw connection.unavailable(reasonOf(error));
      });
    },
  };
  return {
    id,
    copy,
    runtime: copy.runtime,
    /** Appends an entry; resolves to its outcome, or to `noSandbox`. */
    append,
    /** Resolves to what `read` returns after applying everything that any server has acknowledged, or to `noSandbox`. */
    look: (own: OwnPart & { readonly read?: RunIn } = {}) => push(undefined, own),
    /** Shortens the journal to a number of requests, and stores a snapshot. */
    compact,
  };
}

/** Whether a position that the stream does not have was lost, not compacted up to a snapshot. */
function isLost(position: string, snapshot: string): boolean {
  const [isFirst, isOther] = [position.startsWith("0-"), snapshot.startsWith("0-")];
  if (isFirst && isOther) return position !== snapshot;
  return position.localeCompare(snapshot, "en", { numeric: true }) > 0;
}
