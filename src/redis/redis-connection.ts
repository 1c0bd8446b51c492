import { createClient } from "@redis/client";
import { defaultPrefix, type RedisAddress } from "../node/addresses.js";
import { clearInterval, nodePlatform, setImmediate, setInterval } from "../node/platform.js";
import { SandboxError } from "../spec/errors.js";
import { isFullness, noRoomInRedis, reasonOf } from "./redis-problems.js";
import { appendScript, type StoredBatch, separator, storeKeys } from "./redis-scripts.js";

type Reply = string | number | null | readonly Reply[];

/** Who waits for Redis: after a time on the stopwatch, the promise has been rejected. */
export interface RedisCaller {
  readonly until: number;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** An entry that waits for its turn, or without a text a read, which only needs what other servers have appended. */
export interface Waiting {
  readonly text: string;
  /** A `compact` is the last of its batch. A full Redis must store it and a `look`: they are small, or make room. */
  readonly kind: string;
  readonly caller: RedisCaller;
  /** Called when its turn has come, with the id of its batch and the time. Returns its outcome. */
  readonly onTurn: (at: string, time: number) => unknown;
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
  /** Called with the reply for what waited. */
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
const now = () => nodePlatform.stopwatch();

/**
 * A connection to a Redis. Until `beginRedis`, it throws errors of the network, TLS or Redis; then `store_unavailable`.
 *
 * Everything that waits goes out in one call of one script, for all sandboxes. The next call follows its reply. Nothing is sent
 * twice: the outcome of a call without a reply is unknown, and its callers get `store_unavailable` after the timeout.
 */
export interface RedisConnection {
  readonly shown: string;
  readonly keys: ReturnType<typeof storeKeys>;
  readonly warn: (what: string) => void;
  readonly note: (what: string) => void;
  readonly timeout: number;
  readonly client: ReturnType<typeof openClient>;
  readonly expiring: ReturnType<typeof setInterval>;
  losses: number;
  state: "starting" | "open" | "closed";
  /** Why the last call failed, and since when (on the stopwatch). The client reconnects, and what arrives waits for that. */
  away: { readonly since: number; readonly reason: string } | undefined;
  /** The first error. */
  failure: unknown;
  /** When the current call started; `undefined` if there is none. */
  calledAt: number | undefined;
  /** The clock of Redis minus the stopwatch. */
  timeAt: number;
  readonly queue: Set<Followed>;
  readonly callers: Set<RedisCaller>;
}

/** Connects to a Redis. Throws errors of the network, TLS or Redis. */
export async function connectRedis(options: ConnectionOptions): Promise<RedisConnection> {
  const { address, prefix = defaultPrefix, timeout = 2000 } = options;
  const { shown, url } = address;
  const connection: RedisConnection = {
    ...{ shown, timeout, keys: storeKeys(prefix) },
    warn: (what) => options.onWarning(`The store ${shown} ${what}.`),
    note: (what) => options.onNote(`The store ${shown} ${what}.`),
    client: openClient(url, timeout, (retries, cause) =>
      connection.state === "starting" ? cause : Math.min(pauses.longest, pauses.first * 2 ** retries),
    ),
    expiring: setInterval(() => expire(connection), pauses.expiry).unref(),
    ...{ losses: 0, timeAt: 0, calledAt: undefined, failure: undefined },
    ...{ state: "starting", away: undefined, queue: new Set(), callers: new Set() },
  };
  const { client } = connection;
  // Without a listener, the library throws.
  client.on("error", (error) => {
    connection.failure ??= error;
    onFailure(connection, error);
  });
  client.on("ready", () => {
    if (connection.state !== "open") return;
    append(connection, [], []).catch((error) => onFailure(connection, error));
    callSoon(connection);
  });
  try {
    await call(connection, () => client.connect().then(() => append(connection, [], [])));
    return connection;
  } catch (error) {
    closeRedis(connection);
    throw error;
  }
}

type ReconnectStrategy = (retries: number, cause: Error) => number | Error;

const openClient = (url: string, timeout: number, reconnectStrategy: ReconnectStrategy) =>
  createClient({
    ...{ url, RESP: 2, disableClientInfo: true },
    // The library's timeouts end once a command is sent.
    commandOptions: { timeout: 0 },
    socket: {
      ...{ reconnectStrategy, connectTimeout: timeout },
      socketTimeout: Math.max(timeout, pauses.silence),
    },
  });

/** From now on, the client reconnects, and every error is `store_unavailable`. */
export function beginRedis(connection: RedisConnection): void {
  connection.state = "open";
}

export function closeRedis(connection: RedisConnection): void {
  connection.state = "closed";
  clearInterval(connection.expiring);
  for (const { reject } of connection.callers) reject(storeUnavailable(connection));
  connection.queue.clear();
  connection.client.destroy();
}

/**
 * Resolves to what `start` resolves its caller to. Rejects with `store_unavailable` after `most` milliseconds, or immediately if
 * Redis has been away for the timeout.
 */
export function waitForRedis<Result>(
  connection: RedisConnection,
  start: (caller: RedisCaller) => void,
  most = connection.timeout,
): Promise<Result> {
  const { callers, timeout } = connection;
  return new Promise((resolve, reject) => {
    if (isAway(connection)) return reject(storeUnavailable(connection));
    const caller: RedisCaller = {
      until: now() + Math.min(timeout, most),
      resolve(outcome) {
        callers.delete(caller);
        resolve(outcome as Result);
      },
      reject(error) {
        callers.delete(caller);
        reject(error);
      },
    };
    callers.add(caller);
    start(caller);
  });
}

export function withinTimeout<Result>(
  connection: RedisConnection,
  act: () => Promise<Result>,
  most?: number,
): Promise<Result> {
  return waitForRedis(connection, ({ resolve, reject }) => act().then(resolve, reject), most);
}

export function commandRedis(connection: RedisConnection, ...argv: string[]): Promise<Reply> {
  return call(connection, () => connection.client.sendCommand<Reply>(argv));
}

export function runScript(connection: RedisConnection, ...given: Script): Promise<Reply> {
  return commandRedis(connection, ...commandOf(...given));
}

type Script = readonly [script: string, keys: readonly string[], argv: readonly string[]];

function commandOf(...[script, keys, argv]: Script): string[] {
  return ["EVAL", script, String(keys.length), ...keys, ...argv];
}

/** The problem with a connection, as half a sentence; `undefined` if Redis responded the last time. */
export function connectionProblem({ state, away }: RedisConnection): string | undefined {
  return state === "closed" ? "it is closed" : away?.reason;
}

/** The time of Redis, for an instant on the stopwatch (default: now). */
export function redisTime({ timeAt }: RedisConnection, at = now()): number {
  return at + timeAt;
}

export function storeUnavailable(connection: RedisConnection, reason = connectionProblem(connection)) {
  const why = reason ?? `it did not respond within ${connection.timeout} ms`;
  return new SandboxError("store_unavailable", `Failed to use the store ${connection.shown}: ${why}.`);
}

function onFailure(connection: RedisConnection, error: unknown): void {
  if (connection.state !== "open" || connection.away !== undefined) return;
  const reason = reasonOf(error);
  connection.away = { since: now(), reason };
  connection.warn(`is away: ${reason}. Requests get 503 until it is back`);
}

function isAway({ state, away, timeout }: RedisConnection): boolean {
  return state === "closed" || (away !== undefined && now() - away.since > timeout);
}

function expire(connection: RedisConnection): void {
  const { callers, calledAt, timeout } = connection;
  const time = now();
  const silence = () => new Error(`timeout of ${timeout} ms`);
  if (calledAt !== undefined && time - calledAt >= timeout) onFailure(connection, silence());
  for (const { until, reject } of callers) {
    if (until <= time) reject(connection.state === "starting" ? silence() : storeUnavailable(connection));
  }
}

/** Calls Redis. While it is away, the library waits for it. */
async function call<Result>(connection: RedisConnection, act: () => Promise<Result>): Promise<Result> {
  try {
    return await withinTimeout(connection, act);
  } catch (error) {
    if (connection.state === "starting") throw connection.failure ?? error;
    if (error instanceof SandboxError) throw error;
    throw isFullness(error) ? noRoomInRedis() : storeUnavailable(connection, reasonOf(error));
  }
}

/** Appends batches, if there are any, and reads the clock of Redis. */
async function append(connection: RedisConnection, keys: readonly string[], argv: readonly string[]) {
  const reply = await connection.client.sendCommand<Reply>(commandOf(appendScript, keys, argv));
  const [at, ...ofEach] = reply as readonly [string, ...AppendReply[]];
  connection.timeAt = Number(at) - now();
  if (connection.away !== undefined) connection.note("is back");
  connection.away = undefined;
  return { time: Number(at), ofEach };
}

/** Calls Redis for what waits, once the current call is over. */
export function callSoon(connection: RedisConnection, followed?: Followed): void {
  const { calledAt, state, client, queue, callers } = connection;
  if (followed !== undefined) queue.add(followed);
  if (calledAt !== undefined || state === "closed" || !client.isReady) return;
  if (![...queue].some(isReady)) return;
  connection.calledAt = now();
  setImmediate(() => gather(connection, callers.size - 1, 0));
}

// While more arrive, each iteration of the event loop adds to one call, which costs more than an append.
function gather(connection: RedisConnection, known: number, turns: number): void {
  const { size } = connection.callers;
  if (turns < mostTurns && size > known) {
    setImmediate(() => gather(connection, size, turns + 1));
    return;
  }
  appendAll(connection).finally(() => {
    connection.calledAt = undefined;
    callSoon(connection);
  });
}

async function appendAll(connection: RedisConnection): Promise<void> {
  const taken = takeAll(connection);
  if (taken.length === 0) return;
  const keys = taken.flatMap(({ followed }) => followed.keys);
  const argv = taken.flatMap(({ followed, own }) => argumentsOf(followed, own));
  try {
    const { time, ofEach } = await append(connection, keys, argv);
    for (const [index, { followed, own }] of taken.entries())
      followed.onReply(ofEach[index] as AppendReply, own, time);
  } catch (error) {
    onFailure(connection, error);
    for (const { own } of taken)
      for (const { caller } of own) caller.reject(storeUnavailable(connection, reasonOf(error)));
  }
}

/** Takes what waits, and whose caller does. A compaction must be the last of its batch. */
function takeAll({ queue }: RedisConnection) {
  const time = now();
  return [...queue].filter(isReady).flatMap((followed) => {
    const own = followed.waiting.filter(({ caller }) => caller.until > time);
    followed.waiting = [];
    queue.delete(followed);
    own.sort((one, other) => Number(isLast(one)) - Number(isLast(other)));
    return own.length === 0 ? [] : { followed, own };
  });
}

const isReady = ({ loading }: Followed) => loading === undefined;
const isLast = ({ kind }: Waiting) => kind === "compact";
export const isUrgent = ({ kind }: Waiting) => kind === "compact" || kind === "look";

function argumentsOf({ position, expires }: Followed, own: readonly Waiting[]): string[] {
  const batch = own.flatMap(({ text }) => (text === "" ? [] : text)).join(separator);
  return [position, expires(), own.some(isUrgent) ? "1" : "", batch];
}
