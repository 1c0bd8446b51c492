import { createClient } from "@redis/client";
import { defaultPrefix, type RedisAddress } from "../node/addresses.js";
import { clearInterval, nodePlatform, setImmediate, setInterval } from "../node/platform.js";
import { SandboxError } from "../spec/errors.js";
import { isFullness, reasonOf } from "./redis-problems.js";
import { appendScript, ownId, type StoredBatch, storeKeys } from "./redis-scripts.js";

type Reply = string | number | null | readonly Reply[];

/** An entry that waits for its turn, or without a text a read, which only needs what other servers have appended. */
export interface Waiting {
  readonly text: string;
  /** A `compact` is the last of its batch. A full Redis must store it and a `look`: they are small, or make room. */
  readonly kind: string;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Called when its turn has come, with the id of its batch and the time. */
  readonly onReply: (at: string, time: number) => void;
}

export interface Followed {
  readonly keys: readonly [hash: string, stream: string];
  /** The id of the last batch that was applied. */
  position: string;
  /** Set while it is being loaded: nothing may be sent for it, because its position will change. */
  loading: Promise<boolean> | undefined;
  /** What waits for the next call. */
  waiting: Waiting[];
  /** Returns when it expires (epoch milliseconds), if that must be stored now; otherwise an empty text. */
  readonly expires: () => string;
  /** Called with the reply for what waited. Those that waited for too long were rejected. */
  readonly onReply: (reply: AppendReply, own: readonly Waiting[], time: number) => void;
}

/** What Redis returns for a sandbox: the id of the own batch or an error, and the batches of others. */
type AppendReply = readonly [state: "ok" | "gone" | "behind", id: string, found: readonly StoredBatch[]];

export interface ConnectionOptions {
  readonly address: RedisAddress;
  /** The prefix of all key names, in braces. Default: `svc-sandbox:`. */
  readonly prefix?: string | undefined;
  /** Milliseconds before a call without a reply is rejected. Default: 2000. */
  readonly timeout?: number | undefined;
  readonly onWarning: (message: string) => void;
  readonly onNote: (message: string) => void;
}

/** Milliseconds: the first and the longest pause before connecting again, the silence of a dead connection, and between expiries. */
const pauses = { first: 50, longest: 1000, silence: 2000, expiry: 50 };
/** The iterations of the event loop in which appends gather for one call, at most. */
const mostTurns = 2;
/** Separates the texts of a batch, which never contain it. */
export const separator = "\u001e";

export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>;

/**
 * Connects to a Redis; the client library reconnects. Throws errors of the network, TLS or Redis until `begin` is called, and
 * then `store_unavailable`.
 *
 * Everything that waits goes out in one call of one script, for all sandboxes. The next call follows its reply. Nothing is sent
 * twice: the outcome of a call without a reply is unknown, and its callers get `store_unavailable` after `timeout`.
 */
export async function connectRedis(options: ConnectionOptions) {
  const { prefix = defaultPrefix, timeout = 2000, onWarning, onNote } = options;
  const { url, shown } = options.address;
  const now = nodePlatform.stopwatch;
  let state: "starting" | "open" | "closed" = "starting";
  let away: { readonly since: number; readonly reason: string } | undefined;
  let failure: unknown;
  /** When the current call started; `undefined` if there is none. */
  let calledAt: number | undefined;
  let losses = 0;
  let skipped = 0;
  /** The clock of Redis minus the stopwatch. */
  let timeAt = 0;
  const queue = new Set<Followed>();
  /** What waits for Redis, and until when (on the stopwatch). */
  const awaited = new Map<Pick<Waiting, "reject">, number>();

  const client = createClient({
    ...{ url, RESP: 2, disableClientInfo: true },
    // The library would create a timer for each command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: timeout,
      socketTimeout: Math.max(timeout, pauses.silence),
      reconnectStrategy: (retries, cause) =>
        state === "starting" ? cause : Math.min(pauses.longest, pauses.first * 2 ** retries),
    },
  });
  const unavailable = (reason = away?.reason ?? `it did not respond within ${timeout} ms`) =>
    new SandboxError("store_unavailable", `Failed to use the store ${shown}: ${reason}.`);
  const warn = (what: string) => onWarning(`The store ${shown} ${what}.`);
  const note = (what: string) => onNote(`The store ${shown} ${what}.`);
  const silence = () => new Error(`timeout of ${timeout} ms`);
  const isAway = () => state === "closed" || (away !== undefined && now() - away.since > timeout);
  const goAway = (error: unknown) => {
    if (away !== undefined || state !== "open") return;
    away = { since: now(), reason: reasonOf(error) };
    warn(`is away: ${away.reason}. Requests get 503 until it is back`);
  };
  const comeBack = () => {
    if (away === undefined) return;
    away = undefined;
    note("is back");
  };
  // Without a listener, the library throws.
  client.on("error", (error) => {
    failure ??= error;
    goAway(error);
  });

  const expiring = setInterval(() => {
    const time = now();
    if (calledAt !== undefined && time - calledAt >= timeout) goAway(silence());
    for (const [one, deadline] of awaited) {
      if (deadline > time) continue;
      awaited.delete(one);
      one.reject(state === "starting" ? silence() : unavailable());
    }
  }, pauses.expiry).unref();
  /** Passes on until when its outcome is awaited (on the stopwatch). */
  const within = <Result>(start: (until: number) => Promise<Result>, most = timeout): Promise<Result> =>
    new Promise((resolve, reject) => {
      const one = { reject };
      const until = now() + Math.min(timeout, most);
      awaited.set(one, until);
      start(until)
        .then(resolve, reject)
        .finally(() => awaited.delete(one));
    });
  /** Calls Redis. Rejects before that if it has been away for longer than the timeout; until then, the library waits for it. */
  const call = <Result>(send: () => Promise<Result>): Promise<Result> => {
    if (isAway()) return Promise.reject(unavailable());
    return within(send).catch((error) => {
      if (state === "starting") throw failure ?? error;
      if (error instanceof SandboxError) throw error;
      throw isFullness(error) ? noRoomInRedis() : unavailable(reasonOf(error));
    });
  };
  const send = (script: string, keys: readonly string[], argv: readonly string[]): Promise<Reply> =>
    client.sendCommand<Reply>(["EVAL", script, String(keys.length), ...keys, ...argv]);
  /** Appends batches, if there are any, and reads the clock of Redis. */
  const append = async (keys: readonly string[], argv: readonly string[]) => {
    const reply = await send(appendScript, keys, argv);
    const [at, ...ofEach] = reply as readonly [string, ...AppendReply[]];
    timeAt = Number(at) - now();
    comeBack();
    return { time: Number(at), ofEach };
  };
  /** Takes what waits. A compaction must be the last of its batch. */
  const takeAll = () => {
    const ready = [...queue].filter(({ loading }) => loading === undefined);
    const taken = ready.map((followed) => {
      const own = followed.waiting.filter((one) => awaited.has(one));
      followed.waiting = [];
      queue.delete(followed);
      return { followed, own: own.sort((one, other) => Number(isLast(one)) - Number(isLast(other))) };
    });
    return taken.filter(({ own }) => own.length > 0);
  };
  /** Takes those that have not waited for too long. */
  const takeWaiting = (own: readonly Waiting[]) => own.filter((one) => awaited.delete(one));
  const appendAll = async () => {
    const taken = takeAll();
    if (taken.length === 0) return;
    const keys = taken.flatMap(({ followed }) => followed.keys);
    const argv = taken.flatMap(({ followed, own }) => argumentsOf(followed, own));
    const replies = await append(keys, argv).catch((error) => {
      goAway(error);
      for (const { own } of taken)
        for (const one of takeWaiting(own)) one.reject(unavailable(reasonOf(error)));
    });
    for (const [index, reply] of replies?.ofEach.entries() ?? []) {
      const { followed, own } = taken[index] as (typeof taken)[number];
      followed.onReply(reply, own, replies?.time as number);
    }
  };
  // While more arrive, each iteration of the event loop adds to one call, which costs more than an append.
  const gather = (known: number, turns: number) => {
    if (turns < mostTurns && awaited.size > known) {
      setImmediate(gather, awaited.size, turns + 1);
      return;
    }
    appendAll().finally(() => {
      calledAt = undefined;
      callSoon();
    });
  };
  const callSoon = () => {
    if (calledAt !== undefined || state === "closed" || !client.isReady) return;
    if (![...queue].some(({ loading }) => loading === undefined)) return;
    calledAt = now();
    setImmediate(gather, awaited.size - 1, 0);
  };
  client.on("ready", () => {
    if (state !== "open") return;
    append([], []).catch(goAway);
    callSoon();
  });
  const close = () => {
    state = "closed";
    clearInterval(expiring);
    for (const one of awaited.keys()) one.reject(unavailable("it is closed"));
    awaited.clear();
    queue.clear();
    client.destroy();
  };
  try {
    await call(() => client.connect().then(() => append([], [])));
  } catch (error) {
    close();
    throw error;
  }

  return {
    ...{ shown, keys: storeKeys(prefix), warn, note, unavailable },
    within,
    command: (...argv: string[]) => call(() => client.sendCommand<Reply>(argv)),
    run: (...given: Parameters<typeof send>) => call(() => send(...given)),
    /** Lets something wait for the next call. Rejects if Redis has been away for the timeout. */
    push(followed: Followed, one: Waiting): void {
      if (isAway()) {
        one.reject(unavailable());
        return;
      }
      followed.waiting.push(one);
      queue.add(followed);
      awaited.set(one, now() + timeout);
      callSoon();
    },
    takeWaiting,
    /** Lets something that was not stored wait again, for the rest of its time. */
    again(followed: Followed, own: readonly Waiting[]): void {
      followed.waiting.unshift(...own);
      if (followed.waiting.length > 0) queue.add(followed);
      callSoon();
    },
    /** From now on, the client reconnects, and every error is `store_unavailable`. */
    begin(): void {
      state = "open";
    },
    /** The problem with the connection, as half a sentence; `undefined` if Redis responded the last time. */
    problem: () => (state === "closed" ? "it is closed" : away?.reason),
    /** Called if Redis has lost entries that this server had applied. */
    onLoss(): void {
      losses += 1;
      warn("has lost data: the sandbox starts again from the remaining data");
    },
    losses: () => losses,
    onSkipped(id: string, position: string): void {
      skipped += 1;
      const whose = id === ownId ? "the server's own sandbox" : `the instance ${id}`;
      warn(`has an entry that ended a server. It is skipped: ${position} of ${whose}`);
    },
    skipped: () => skipped,
    time: () => now() + timeAt,
    close,
  };
}

const isLast = ({ kind }: Waiting) => kind === "compact";
export const isUrgent = ({ kind }: Waiting) => kind === "compact" || kind === "look";

function argumentsOf({ position, expires }: Followed, own: readonly Waiting[]): string[] {
  const batch = own.flatMap(({ text }) => (text === "" ? [] : text)).join(separator);
  return [position, expires(), own.some(isUrgent) ? "1" : "", batch];
}

export function noRoomInRedis(): SandboxError {
  return new SandboxError(
    "memory_limit_reached",
    "Redis has no room: remove unused instances with DELETE /__sandbox/instances/{id}, or increase its maxmemory.",
  );
}

/** How many requests journals keep when Redis is full, in the order of the attempts. */
const journalsWhenFull = [100, 20, 0];
/** Milliseconds before the last attempts are repeated. */
const pauseWhenFull = 1000;

/**
 * Makes room in a Redis that rejects entries because it is full, and keeps why it rejects them. `compact` shortens the journals of
 * the loaded sandboxes, or of all.
 */
export function createRoom(
  { warn, note }: Pick<RedisConnection, "warn" | "note">,
  compact: (journal: number, which: "loaded" | "all") => Promise<void>,
  stopwatch = nodePlatform.stopwatch,
) {
  let rejection: { readonly reason: string; readonly isFull: boolean } | undefined;
  let attempt = 0;
  let triedAt = 0;
  let making: Promise<void> | undefined;
  return {
    /** Makes room after Redis rejected an entry. Resolves to whether to try again. */
    async onRejected(error: Error): Promise<boolean> {
      const isFull = isFullness(error);
      const journal = journalsWhenFull[attempt];
      if (isFull && (making !== undefined || journal !== undefined)) {
        // Others may already have compacted what this server has loaded.
        making ??= compact(journal as number, attempt === 0 ? "loaded" : "all").then(() => {
          attempt += 1;
          triedAt = stopwatch();
          making = undefined;
        });
        await making;
        return true;
      }
      if (isFull && stopwatch() - triedAt > pauseWhenFull) attempt = 1;
      const reason = reasonOf(error);
      if (rejection === undefined) {
        warn(`rejects writes: ${reason}. Requests that it cannot store get 503 until it accepts them`);
      }
      rejection = { reason, isFull };
      return false;
    },
    onStored(): void {
      attempt = 0;
      if (rejection !== undefined) note("accepts writes again");
      rejection = undefined;
    },
    /** Why Redis rejected the last entry; `undefined` if it accepted one. */
    rejection: () => rejection,
  };
}
