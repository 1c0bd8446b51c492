import { createClient } from "@redis/client";
import type { RedisAddress } from "../node/addresses.js";
import { clearInterval, nodePlatform, setImmediate, setInterval } from "../node/platform.js";
import { SandboxError } from "../spec/errors.js";
import { reasonOf } from "./redis-problems.js";
import { appendScript, type Script } from "./redis-scripts.js";

/** A reply of Redis: a text, a number, or a list of replies. */
export type Reply = string | number | null | readonly Reply[];

/** An entry that waits for its turn, or without a text a read, which only needs what other servers have appended. */
export interface Waiting {
  readonly reject: (error: unknown) => void;
  readonly text: string;
  /** Whether a full Redis must store it, because it is small or makes room. */
  readonly isUrgent: boolean;
  /** Whether nothing may follow it in a batch. */
  readonly isLast: boolean;
}

/** A sandbox that this server follows. */
export interface Followed<One extends Waiting = Waiting> {
  readonly keys: readonly [hash: string, stream: string];
  /** The id of the last batch that was applied. */
  readonly position: () => string;
  /** Whether nothing may be sent for it now: it is being loaded, and its position will change. */
  readonly isLoading: () => boolean;
  /** Returns when it expires (epoch milliseconds), if that must be stored now; otherwise an empty text. */
  readonly expires: () => string;
  /** Called with the reply for what waited. Those that waited for too long were rejected. */
  readonly onReply: (reply: AppendReply, own: readonly One[], time: number) => void;
}

/** What Redis returns for a sandbox: the id of the own batch or an error, and the batches of others. */
export type AppendReply = readonly [state: "ok" | "gone" | "behind", id: string, found: readonly Reply[]];

interface ConnectionOptions {
  readonly address: RedisAddress;
  /** Milliseconds before a call without a reply is rejected. */
  readonly timeout: number;
  /** Called with a warning when Redis is away, and with a note when it is back. */
  readonly onWarning: (message: string) => void;
  readonly onNote: (message: string) => void;
}

/** The shortest and the longest pause before the client connects again, and how long a connection may be silent. */
const pauses = { first: 50, longest: 1000, silence: 2000 };
/** How often overdue calls are rejected (milliseconds). */
const expiryPause = 50;
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
export async function connectRedis({ address, timeout, onWarning, onNote }: ConnectionOptions) {
  const { url, shown } = address;
  const now = nodePlatform.stopwatch;
  let state: "starting" | "open" | "closed" = "starting";
  let away: { readonly since: number; readonly reason: string } | undefined;
  let failure: unknown;
  let isBusy = false;
  let becomingReady: Promise<unknown> | undefined;
  let latencyMs = 0;
  let calledAt = 0;
  /** The clock of Redis minus the stopwatch. */
  let timeAt = 0;
  const queues = new Map<Followed, Waiting[]>();
  /** What waits for Redis, and until when (on the stopwatch). */
  const awaited = new Map<Pick<Waiting, "reject">, number>();

  const client = createClient({
    ...{ url, RESP: 2, disableOfflineQueue: true, disableClientInfo: true },
    // The library would create a timer for each command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: timeout,
      socketTimeout: Math.max(timeout, pauses.silence),
      reconnectStrategy: (retries, cause) =>
        state === "starting" ? cause : Math.min(pauses.longest, pauses.first * 2 ** retries),
    },
  });
  const unavailable = (reason = away?.reason ?? `it did not respond within ${timeout} ms`, cause?: unknown) =>
    Object.assign(
      new SandboxError("store_unavailable", `Failed to use the store ${shown}: ${reason}.`),
      cause !== undefined && { cause },
    );
  const silence = () => new Error(`timeout of ${timeout} ms`);
  const isAway = () => state === "closed" || (away !== undefined && now() - away.since > timeout);
  const goAway = (error: unknown) => {
    if (away !== undefined || state !== "open") return;
    away = { since: now(), reason: reasonOf(error) };
    onWarning(`The store ${shown} is away: ${away.reason}. Requests get 503 until it is back.`);
  };
  const comeBack = () => {
    if (away === undefined) return;
    away = undefined;
    onNote(`The store ${shown} is back.`);
  };
  // Without a listener, the library throws.
  client.on("error", (error) => {
    failure ??= error;
    goAway(error);
  });

  const expiring = setInterval(() => {
    const time = now();
    if (isBusy && time - calledAt >= timeout) goAway(silence());
    for (const [one, deadline] of awaited) {
      if (deadline > time) continue;
      awaited.delete(one);
      one.reject(state === "starting" ? silence() : unavailable());
    }
  }, expiryPause).unref();
  /** Waits for something that needs Redis, for the timeout or less. */
  const within = <Result>(start: () => Promise<Result>, most = timeout): Promise<Result> =>
    new Promise((resolve, reject) => {
      const one = { reject };
      awaited.set(one, now() + Math.min(timeout, most));
      start()
        .then(resolve, reject)
        .finally(() => awaited.delete(one));
    });
  /** Calls Redis, once it is connected. Rejects before that if it has been away for longer than the timeout. */
  const call = (send: () => Promise<Reply>): Promise<Reply> => {
    if (isAway()) return Promise.reject(unavailable());
    const isReady = client.isReady || state === "starting";
    // One listener for all.
    const ready = () => {
      becomingReady ??= new Promise((resolve) => client.once("ready", resolve));
      return becomingReady.finally(() => {
        becomingReady = undefined;
      });
    };
    return within(() => (isReady ? send() : ready().then(send))).catch((error) => {
      if (state === "starting") throw failure ?? error;
      throw error instanceof SandboxError ? error : unavailable(reasonOf(error), error);
    });
  };
  const send = ({ text, sha1 }: Script, keys: readonly string[], argv: readonly string[]): Promise<Reply> => {
    const given = [String(keys.length), ...keys, ...argv];
    return client.sendCommand<Reply>(["EVALSHA", sha1, ...given]).catch((error) => {
      if (!/^NOSCRIPT/.test((error as Error).message)) throw error;
      return client.sendCommand<Reply>(["EVAL", text, ...given]);
    });
  };

  /** Takes what waits. A compaction must be the last of its batch. */
  const takeAll = () => {
    const taken: { readonly followed: Followed; readonly own: Waiting[] }[] = [];
    for (const [followed, queue] of queues) {
      if (followed.isLoading()) continue;
      queues.delete(followed);
      const own = queue.filter((one) => awaited.has(one));
      own.sort((one, other) => Number(one.isLast) - Number(other.isLast));
      if (own.length > 0) taken.push({ followed, own });
    }
    return taken;
  };
  /** Takes those that have not waited for too long. */
  const settle = <One extends Waiting>(own: readonly One[]) => own.filter((one) => awaited.delete(one));
  const appendAll = async () => {
    const taken = takeAll();
    if (taken.length === 0) return;
    const keys = taken.flatMap(({ followed }) => followed.keys);
    const argv = taken.flatMap(({ followed, own }) => argumentsOf(followed, own));
    const replies = await send(appendScript, keys, argv).catch((error) => {
      goAway(error);
      for (const { own } of taken) for (const one of settle(own)) one.reject(unavailable(reasonOf(error)));
    });
    if (replies === undefined) return;
    const [at, ...ofEach] = replies as readonly [string, ...AppendReply[]];
    const time = Number(at);
    latencyMs = now() - calledAt;
    timeAt = time - now();
    comeBack();
    for (const [index, { followed, own }] of taken.entries()) {
      followed.onReply(ofEach[index] as AppendReply, own, time);
    }
  };
  // While more arrive, each iteration of the event loop adds to one call, which costs more than an append.
  const gather = (known: number, turns: number) => {
    if (turns < mostTurns && awaited.size > known) {
      setImmediate(gather, awaited.size, turns + 1);
      return;
    }
    appendAll().finally(() => {
      isBusy = false;
      callSoon();
    });
  };
  const callSoon = () => {
    if (isBusy || state === "closed" || !client.isReady) return;
    if (Array.from(queues.keys()).every((followed) => followed.isLoading())) return;
    isBusy = true;
    calledAt = now();
    setImmediate(gather, awaited.size - 1, 0);
  };
  const readTime = async () => {
    const [seconds, micros] = await client.sendCommand<[string, string]>(["TIME"]);
    timeAt = Number(seconds) * 1000 + Number(micros) / 1000 - now();
    comeBack();
    return seconds;
  };
  client.on("ready", () => {
    if (state !== "open") return;
    readTime().catch(goAway);
    callSoon();
  });
  const close = () => {
    state = "closed";
    clearInterval(expiring);
    for (const one of awaited.keys()) one.reject(unavailable("it is closed"));
    awaited.clear();
    queues.clear();
    client.destroy();
  };
  try {
    await call(() => client.connect().then(() => ""));
  } catch (error) {
    close();
    throw error;
  }

  return {
    shown,
    unavailable,
    within,
    command: (...argv: string[]) => call(() => client.sendCommand<Reply>(argv)),
    run: (script: Script, keys: readonly string[], argv: readonly string[]) =>
      call(() => send(script, keys, argv)),
    /** Lets something wait for the next call. Rejects if Redis has been away for the timeout. */
    push<One extends Waiting>(followed: Followed<One>, one: One): void {
      if (isAway()) {
        one.reject(unavailable());
        return;
      }
      const queue = queues.get(followed as Followed);
      if (queue === undefined) queues.set(followed as Followed, [one]);
      else queue.push(one);
      awaited.set(one, now() + timeout);
      callSoon();
    },
    settle,
    /** Lets something that was not stored wait again, for the rest of its time. */
    again<One extends Waiting>(followed: Followed<One>, own: readonly One[]): void {
      const next = [...own, ...(queues.get(followed as Followed) ?? [])];
      if (next.length > 0) queues.set(followed as Followed, next);
      callSoon();
    },
    /** Reads the clock of Redis, before anything else needs it. */
    readTime: () => call(readTime),
    /** From now on, the client reconnects, and every error is `store_unavailable`. */
    begin(): void {
      state = "open";
    },
    /** The problem with the connection, as half a sentence; `undefined` if Redis responded the last time. */
    problem: () => (state === "closed" ? "it is closed" : away?.reason),
    latencyMs: () => latencyMs,
    /** Estimates the clock of Redis (epoch milliseconds). */
    time: () => now() + timeAt,
    close,
  };
}

function argumentsOf(followed: Followed, own: readonly Waiting[]): string[] {
  let batch = "";
  let isUrgent = "";
  for (const { text, isUrgent: must } of own) {
    if (text === "") continue;
    batch = batch === "" ? text : batch + separator + text;
    if (must) isUrgent = "1";
  }
  return [followed.position(), followed.expires(), isUrgent, batch];
}
