import { createClient } from "@redis/client";
import { clearTimeout, nodePlatform, setImmediate, setTimeout } from "../node/platform.js";
import { SandboxError } from "../spec/errors.js";
import type { RedisAddress } from "./redis-address.js";
import { isRefusal, reasonOf, silentCode } from "./redis-problems.js";
import { appendScript, type Script } from "./redis-scripts.js";

/** A reply of Redis: a text, a number, or a list of replies. */
export type Reply = string | number | null | readonly Reply[];

/** Something that waits for its turn: a text to append, or only the batches that other servers have appended. */
export interface Waiting {
  readonly text: string | undefined;
  /** Whether a full Redis must store it, because it is small or makes room. */
  readonly isUrgent: boolean;
  /** Whether nothing may follow it in a batch. */
  readonly isLast: boolean;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** On the stopwatch; set here. */
  deadline: number;
  /** Whether it was resolved or rejected; set here. */
  isOver: boolean;
}

/** A stored batch. Its position is its id. */
export interface StoredBatch {
  readonly position: string;
  readonly texts: readonly string[];
}

/** A sandbox that this server follows. */
export interface Followed {
  readonly keys: readonly [hash: string, stream: string];
  readonly position: () => string;
  /** Whether nothing may be sent for it now: it is being loaded, and its position will change. */
  readonly isLoading: () => boolean;
  /** Returns when it expires (epoch milliseconds), if that must be stored now; otherwise an empty text. */
  readonly expires: () => string;
  /** Applies what other servers have appended, and then the own batch, if it was stored at a position. */
  readonly apply: (
    found: readonly StoredBatch[],
    own: readonly Waiting[],
    position: string,
    time: number,
  ) => void;
  /** Called if the sandbox is gone, or must be loaded because this server is behind; `own` was not stored. */
  readonly onGone: (state: "gone" | "behind", own: readonly Waiting[]) => void;
  /** Called if Redis rejected the batch. */
  readonly onRejected: (own: readonly Waiting[], error: Error) => void;
}

interface ConnectionOptions {
  readonly address: RedisAddress;
  /** Milliseconds before a call without a reply is rejected. */
  readonly timeout: number;
  /** Called with a warning when Redis is away, and with a note when it is back. */
  readonly onWarning: (message: string) => void;
  readonly onNote: (message: string) => void;
  /** Checks a Redis before it is used. */
  readonly check: (command: Command) => Promise<void>;
}

/** Sends a command. */
export type Command = (...argv: string[]) => Promise<Reply>;

/** The maximum number of sandboxes, and about of characters, in one call. */
const mostSandboxes = 200;
const mostCharacters = 500_000;
/** The shortest and the longest pause before the client connects again, and how long a connection may be silent. */
const pauses = { first: 50, longest: 1000, silence: 2000 };
/** The iterations of the event loop in which appends gather for one call, at most. */
const mostTurns = 2;
/** Separates the texts of a batch, which never contain it. */
const between = "\u001e";

export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>;

/**
 * Connects to a Redis; the client library reconnects. Throws errors of the network, TLS or Redis.
 *
 * Everything that waits goes out in one call of one script, for all sandboxes. The next call follows its reply. Nothing is sent
 * twice: the outcome of a call without a reply is unknown, and its callers get `store_unavailable` after `timeout`.
 */
export async function connectRedis({ address, timeout, onWarning, onNote, check }: ConnectionOptions) {
  const { url, shown } = address;
  const now = nodePlatform.stopwatch;
  let away: { readonly since: number; readonly reason: string } | undefined;
  let hasConnected = false;
  let isClosed = false;
  let isBusy = false;
  let latencyMs = 0;
  let calledAt = 0;
  /** The clock of Redis minus the stopwatch. */
  let timeAt = 0;
  const queues = new Map<Followed, Waiting[]>();
  /** All that wait for a reply, the oldest first. */
  const open = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;

  const client = createClient({
    ...{ url, RESP: 2, disableOfflineQueue: true, disableClientInfo: true },
    // The library would create a timer for each command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: timeout,
      socketTimeout: Math.max(timeout, pauses.silence),
      reconnectStrategy: (retries, cause) =>
        hasConnected ? Math.min(pauses.longest, pauses.first * 2 ** retries) : cause,
    },
  });
  const unavailable = (reason = away?.reason ?? `it did not respond within ${timeout} ms`) =>
    new SandboxError("store_unavailable", `Failed to use the store ${shown}: ${reason}.`);
  const goAway = (error: unknown) => {
    if (away !== undefined || isClosed || !hasConnected) return;
    away = { since: now(), reason: reasonOf(error) };
    onWarning(`The store ${shown} is away: ${away.reason}. Requests get 503 until it is back.`);
  };
  const comeBack = () => {
    if (away === undefined) return;
    away = undefined;
    onNote(`The store ${shown} is back.`);
  };
  let connecting: unknown;
  // Without a listener, the library throws.
  client.on("error", (error) => {
    connecting ??= error;
    goAway(error);
  });

  const send = ({ text, sha1 }: Script, keys: readonly string[], argv: readonly string[]): Promise<Reply> => {
    const given = [String(keys.length), ...keys, ...argv];
    return client.sendCommand<Reply>(["EVALSHA", sha1, ...given]).catch((error) => {
      if (!/^NOSCRIPT/.test((error as Error).message)) throw error;
      return client.sendCommand<Reply>(["EVAL", text, ...given]);
    });
  };
  /** Waits for a reply. Rejects before sending if Redis has been away for longer than the timeout. */
  const inTime = async (call: () => Promise<Reply>): Promise<Reply> => {
    if (isAway()) throw unavailable();
    let late: NodeJS.Timeout | undefined;
    const waiting = new Promise<never>((_, reject) => {
      late = setTimeout(() => reject(silence()), timeout);
    });
    try {
      return await Promise.race([client.isReady || !hasConnected ? call() : whenReady().then(call), waiting]);
    } catch (error) {
      if (!hasConnected) throw connecting ?? error;
      throw isRefusal(error) ? error : unavailable(reasonOf(error));
    } finally {
      clearTimeout(late);
    }
  };
  const silence = () => Object.assign(new Error(`no reply within ${timeout} ms`), { code: silentCode });
  const command: Command = (...argv) => inTime(() => client.sendCommand<Reply>(argv));
  const isAway = () => isClosed || (away !== undefined && now() - away.since > timeout);
  const whenReady = () => new Promise<void>((resolve) => client.once("ready", () => resolve()));

  const settle = (one: Waiting) => {
    open.delete(one);
    one.isOver = true;
  };
  // All have the same timeout: the first expires first.
  const expire = () => {
    timer = undefined;
    const time = now();
    for (const one of open) {
      if (one.deadline > time) {
        timer = setTimeout(expire, Math.ceil(one.deadline - time));
        return;
      }
      settle(one);
      if (isBusy && time - calledAt >= timeout) goAway(silence());
      one.reject(unavailable());
    }
  };
  const deliver = ({ followed, own }: Taken, [state, id, found]: AppendReply, time: number) => {
    if (state !== "ok") {
      followed.onGone(state, own);
      return;
    }
    const stored = batchesOf(found);
    const isStored = id === "" || /^\d+-\d+$/.test(id);
    const done = isStored ? own : own.filter(({ text }) => text === undefined);
    for (const one of done) settle(one);
    followed.apply(stored, done, isStored ? id : "", time);
    if (isStored) return;
    followed.onRejected(
      own.filter(({ text }) => text !== undefined),
      new Error(id),
    );
  };
  const callOnce = async () => {
    const taken = takeFrom(queues);
    if (taken.length === 0) return;
    calledAt = now();
    let replies: Reply[];
    try {
      const keys = taken.flatMap(({ followed }) => followed.keys);
      replies = (await send(appendScript, keys, taken.flatMap(argumentsOf))) as Reply[];
    } catch (error) {
      goAway(error);
      for (const one of taken.flatMap(({ own }) => own)) {
        settle(one);
        one.reject(unavailable(reasonOf(error)));
      }
      return;
    }
    latencyMs = now() - calledAt;
    comeBack();
    const time = Number(replies[0]);
    timeAt = time - now();
    for (const [index, one] of taken.entries()) deliver(one, replies[index + 1] as AppendReply, time);
  };
  const call = async () => {
    await callOnce();
    isBusy = false;
    for (const followed of queues.keys()) if (!followed.isLoading()) return callSoon();
  };
  // While more arrive, each iteration of the event loop adds to one call, which costs more than an append.
  const gather = (known: number, turns: number) => {
    if (turns === mostTurns || open.size === known) call();
    else setImmediate(gather, open.size, turns + 1);
  };
  const callSoon = () => {
    if (isBusy || isClosed || !client.isReady) return;
    isBusy = true;
    setImmediate(gather, open.size - 1, 0);
  };
  const readTime = async () => {
    const [seconds, micros] = await client.sendCommand<[string, string]>(["TIME"]);
    timeAt = Number(seconds) * 1000 + Number(micros) / 1000 - now();
    comeBack();
    return seconds;
  };
  client.on("ready", () => {
    if (!hasConnected) return;
    readTime().catch(goAway);
    if (queues.size > 0) callSoon();
  });
  try {
    await inTime(() => client.connect().then(() => ""));
    await check(command);
    await inTime(readTime);
  } catch (error) {
    isClosed = true;
    client.destroy();
    throw error;
  }
  hasConnected = true;

  return {
    shown,
    unavailable,
    /** Rejects unless something that takes several calls ends within a part of the timeout. */
    async within<Result>(part: number, result: Promise<Result>): Promise<Result> {
      let late: NodeJS.Timeout | undefined;
      const waiting = new Promise<never>((_, reject) => {
        late = setTimeout(() => reject(unavailable()), part * timeout);
      });
      return Promise.race([result, waiting]).finally(() => clearTimeout(late));
    },
    command,
    run: (script: Script, keys: readonly string[], argv: readonly string[]) =>
      inTime(() => send(script, keys, argv)),
    /** Lets something wait for the next call. Rejects if Redis has been away for longer than the timeout. */
    push(followed: Followed, one: Waiting): void {
      if (isAway()) {
        one.reject(unavailable());
        return;
      }
      one.deadline = now() + timeout;
      const queue = queues.get(followed);
      if (queue === undefined) queues.set(followed, [one]);
      else queue.push(one);
      open.add(one);
      timer ??= setTimeout(expire, timeout);
      callSoon();
    },
    /** Lets something that was not stored wait again, for the rest of its time. */
    again(followed: Followed, own: readonly Waiting[]): void {
      const left = own.filter(({ isOver }) => !isOver);
      const queue = queues.get(followed) ?? [];
      if (left.length + queue.length > 0) queues.set(followed, [...left, ...queue]);
      callSoon();
    },
    /** The problem with the connection, as half a sentence; `undefined` if Redis responded the last time. */
    problem: () => (isClosed ? "it is closed" : away?.reason),
    latencyMs: () => latencyMs,
    /** Estimates the clock of Redis (epoch milliseconds). */
    time: () => now() + timeAt,
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      for (const one of open) one.reject(unavailable("it is closed"));
      open.clear();
      queues.clear();
      client.destroy();
    },
  };
}

/** A sandbox with what goes out for it in one call. */
interface Taken {
  readonly followed: Followed;
  readonly own: Waiting[];
}

/** What the script returns for a sandbox: the id of the own batch, or the error of Redis, and what others have appended. */
type AppendReply = readonly [state: "ok" | "gone" | "behind", id: string, found: readonly Reply[]];

/** Takes what goes out in one call. */
function takeFrom(queues: Map<Followed, Waiting[]>): Taken[] {
  const taken: Taken[] = [];
  let characters = 0;
  for (const [followed, queue] of queues) {
    if (taken.length === mostSandboxes || characters > mostCharacters) break;
    if (followed.isLoading()) continue;
    const own: Waiting[] = [];
    let end = 0;
    while (end < queue.length && characters <= mostCharacters && own.at(-1)?.isLast !== true) {
      const one = queue[end] as Waiting;
      end += 1;
      if (!one.isOver) own.push(one);
      characters += one.text?.length ?? 0;
    }
    if (end === queue.length) queues.delete(followed);
    else queue.splice(0, end);
    if (own.length > 0) taken.push({ followed, own });
  }
  return taken;
}

function argumentsOf({ followed, own }: Taken): string[] {
  let batch = "";
  let isUrgent = "";
  for (const { text, isUrgent: must } of own) {
    if (text === undefined) continue;
    batch = batch === "" ? text : batch + between + text;
    if (must) isUrgent = "1";
  }
  return [followed.position(), followed.expires(), isUrgent, batch];
}

/** Reads batches from a reply of Redis. */
export function batchesOf(found: readonly Reply[]): StoredBatch[] {
  return (found as readonly [string, readonly string[]][]).map(([position, [, texts = ""]]) => ({
    position,
    texts: texts.split(between),
  }));
}
