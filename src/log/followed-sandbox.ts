import { promisify } from "node:util";
import zlib from "node:zlib";
import { nodePlatform } from "../node/platform.js";
import type { GivenOptions } from "../sandbox/runtime.js";
import type { RuntimeState } from "../sandbox/state.js";
import type { Entry } from "./entries.js";
import type { RunIn } from "./log.js";
import {
  batchesOf,
  type Followed,
  type RedisConnection,
  type Reply,
  type StoredBatch,
  type Waiting,
} from "./redis-connection.js";
import { reasonOf } from "./redis-problems.js";
import { compactScript, loadScript } from "./redis-scripts.js";
import { createSandboxCopy, keptJournal, type OwnPart, type RunCall } from "./sandbox-copy.js";

/** A sandbox is compacted after this many entries or characters, or later if its state is larger. */
const compactAfter = { entries: 256, characters: 64_000 };

/** The result of an append to a sandbox that is gone. */
export const noSandbox = Symbol("no sandbox");

/** A sandbox in the store, as read at its snapshot. */
export interface Loaded {
  readonly state: RuntimeState;
  readonly position: string;
  readonly batches: readonly StoredBatch[];
  /** The settings of an instance as JSON; empty for the server's own sandbox. */
  readonly settings: string;
  readonly founding: string;
  readonly previous: string;
}

const [deflate, inflate] = [promisify(zlib.deflateRaw), promisify(zlib.inflateRaw)];

/** Writes a snapshot. Most of it is its journal, whose requests resemble each other. */
export async function packed(text: string): Promise<string> {
  return (await deflate(text, { level: 1 })).toString("base64");
}

/** Reads a sandbox; resolves to why and when it ended if it is gone, or to an empty text. */
export async function loadSandbox(
  { run }: RedisConnection,
  keys: readonly string[],
  id: string,
): Promise<Loaded | string> {
  const reply = (await run(loadScript, keys, [id])) as string[];
  if (reply[0] === "gone") return reply[1] as string;
  const [snapshot = "", position = "", found, settings = "", founding = "", previous = ""] = reply;
  const text = String(await inflate(Buffer.from(snapshot, "base64")));
  const batches = batchesOf(found as unknown as readonly Reply[]);
  return { state: JSON.parse(text), position, batches, settings, founding, previous };
}

interface SandboxOptions {
  readonly connection: RedisConnection;
  readonly keys: readonly [hash: string, stream: string, ...others: string[]];
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
  /** Called if Redis rejects an append: without an error once it accepts one. Resolves to whether to try again. */
  readonly onRejected: (error?: Error) => Promise<boolean>;
  /** Called with a failure that no caller waits for. */
  readonly report: (error: unknown) => void;
}

interface Own extends Waiting {
  readonly entry: Entry | undefined;
  readonly own: OwnPart;
}

export type FollowedSandbox = ReturnType<typeof followSandbox>;

/** Follows a sandbox in the store: its copy applies every entry once and in order. */
export function followSandbox(loaded: Loaded, options: SandboxOptions) {
  const { connection, keys, id, onOwn, report, expires = () => "" } = options;
  const copy = createSandboxCopy(loaded.state, options, options.runCall);
  let position = "";
  let limits = compactAfter;
  let isCompacting = false;
  let loading: Promise<boolean> | undefined;
  let usedAt = nodePlatform.stopwatch();

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

  const push = (entry: Entry | undefined, own: OwnPart, isUrgent = false): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const text = entry && JSON.stringify(entry);
      const isLast = entry?.kind === "compact";
      const waiting: Own = {
        entry,
        own,
        text,
        isUrgent,
        isLast,
        resolve,
        reject,
        deadline: 0,
        isOver: false,
      };
      connection.push(followed, waiting);
    });
  const append = (entry: Entry, own: OwnPart = {}, isUrgent = false) => push(entry, own, isUrgent);
  const read = ({ own: { read, place }, resolve, reject }: Own, time: number) => {
    if (read === undefined || place === undefined) return resolve(undefined);
    try {
      if (copy.isDue(time)) append({ kind: "look" }, { read, place }, true).then(resolve, reject);
      else resolve(copy.read(time, () => read(place)));
    } catch (error) {
      reject(error);
    }
  };
  const applyOwn = ({ entry, own, text = "", resolve, reject }: Own, at: number) => {
    try {
      // A request is plain data. Other entries are parsed, so that every copy applies the same data.
      const parsed: Entry = entry?.kind === "request" ? entry : JSON.parse(text);
      resolve(copy.apply(parsed, at, text.length, own));
    } catch (error) {
      reject(error);
    }
  };
  const compact = async (journal: number = keptJournal.requests, least = 1): Promise<void> => {
    if (isCompacting) return;
    isCompacting = true;
    try {
      // Another server may compact it first.
      const text = await append({ kind: "compact", least, journal }, {}, true);
      if (typeof text !== "string") return;
      const factor = Math.max(1, text.length / compactAfter.characters);
      limits = { entries: compactAfter.entries * factor, characters: compactAfter.characters * factor };
      const [time, number] = compacted.split("-");
      const next = `${time}-${Number(number) + 1}`;
      await connection.run(compactScript, keys.slice(0, 2), [compacted, next, await packed(text)]);
    } catch (error) {
      report(error);
    } finally {
      isCompacting = false;
    }
  };
  let compacted = "";
  const compactIfLong = () => {
    const { entries, characters } = copy.sizes();
    if (entries >= limits.entries || characters >= limits.characters) compact(undefined, entries);
  };
  const reload = async (): Promise<boolean> => {
    const found = await loadSandbox(connection, keys, id);
    if (typeof found === "string") return (await options.onGone()) ? reload() : false;
    if (isLost(position, found.position)) options.onLoss();
    copy.start(found.state);
    begin(found);
    return true;
  };
  const again = async (own: readonly Waiting[], act: () => Promise<boolean>) => {
    try {
      if (await act()) connection.again(followed, own);
      else for (const one of own) one.resolve(noSandbox);
    } catch (error) {
      for (const one of own) one.reject(error);
    }
  };
  const applyStored = (own: readonly Own[], at: string) => {
    position = at;
    onOwn(true);
    for (const one of own) {
      if (one.entry?.kind === "compact") compacted = at;
      if (one.text !== undefined) applyOwn(one, Number.parseInt(at, 10));
    }
    onOwn(false);
    compactIfLong();
    // A full Redis stores urgent entries.
    if (!own.some(({ isUrgent }) => isUrgent)) options.onRejected();
  };
  const followed: Followed = {
    keys: [keys[0], keys[1]],
    position: () => position,
    isLoading: () => loading !== undefined,
    expires,
    apply(found, own, at, time) {
      found.forEach(applyBatch);
      if (at !== "") applyStored(own as readonly Own[], at);
      for (const one of own) if (one.text === undefined) read(one as Own, time);
    },
    onGone(_, own) {
      loading ??= reload().finally(() => {
        loading = undefined;
      });
      const reloading = loading;
      again(own, () => reloading);
    },
    onRejected(own, error) {
      again(own, async () => {
        if (await options.onRejected(error)) return true;
        throw connection.unavailable(reasonOf(error));
      });
    },
  };
  return {
    id,
    copy,
    runtime: copy.runtime,
    /** Appends an entry; resolves to its outcome, or to `noSandbox`. A full Redis must store an urgent one. */
    append,
    /** Resolves to what `read` returns after applying everything that any server has acknowledged, or to `noSandbox`. */
    look: (own: OwnPart & { readonly read?: RunIn } = {}) => push(undefined, own),
    /** Shortens the journal to a number of requests, and stores a snapshot. */
    compact,
    /** Counts this as a use. */
    use(): void {
      usedAt = nodePlatform.stopwatch();
    },
    usedAt: () => usedAt,
  };
}

/** Whether a position that the stream does not have was lost, not compacted up to a snapshot. */
function isLost(position: string, snapshot: string): boolean {
  const [isFirst, isOther] = [position.startsWith("0-"), snapshot.startsWith("0-")];
  if (isFirst && isOther) return position !== snapshot;
  return position.localeCompare(snapshot, "en", { numeric: true }) > 0;
}
