import { createClient } from "@redis/client";
import { defaultPrefix, type RedisAddress } from "../../node/addresses.js";
import { describeConnectionError } from "../../node/clients/send-once.js";
import { clearInterval, nodePlatform, setImmediate, setInterval, setTimeout } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { base62From } from "../../rules/seed.js";
import { appendScript, type StoredLine, storeFormat, storeKeys } from "./redis-scripts.js";

type Reply = string | number | null | readonly Reply[];

/** A change or a read that waits for its turn. */
export interface Waiting {
  readonly isChange: boolean;
  /** Runs it on the copy, at a time of Redis. */
  readonly run: (time: number) => unknown;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface Followed {
  readonly keys: readonly [hash: string, stream: string];
  /** Set while it is being loaded: nothing may be sent for it, because its position will change. */
  loading: Promise<boolean> | undefined;
  /** What waits for the next call. */
  waiting: Waiting[];
  /** The changes that wait until it is this server's turn; `undefined` if none does. */
  paused: Waiting[] | undefined;
  /** Whether a call must be made although nothing waits. */
  readonly mustSend: () => boolean;
  /** Returns its arguments of the script. */
  readonly send: (own: readonly Waiting[]) => readonly string[];
  /** Called with the reply for what waited. Those that waited for too long were rejected. */
  readonly onReply: (reply: AppendReply, own: readonly Waiting[], time: number) => void;
  /** Called if there is no reply. */
  readonly onLost: (own: readonly Waiting[], error: unknown) => void;
}

/** What Redis returns for a sandbox: the new position or why there is none, the lines of others, whether it is this server's turn. */
export type AppendReply = readonly [
  state: "ok" | "gone" | "behind" | "late" | "rejected" | "format" | "broken",
  id: string,
  between: readonly StoredLine[],
  turn: string,
];

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
const maxTurns = 2;
const now = () => nodePlatform.stopwatch();

/** `away`: it was open, and the last call failed. The client library reconnects, and what arrives waits for that. */
type State = "starting" | "open" | "away" | "closed";

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
  /** Names this server in its lines. */
  readonly server: string;
  losses: number;
  state: State;
  /** Why it is away, and since when (on the stopwatch). */
  away: { readonly since: number; readonly reason: string };
  /** The first error. */
  failure: unknown;
  /** When the current call started; `undefined` if there is none. */
  calledAt: number | undefined;
  /** The calls in a row that failed. A pause follows each, twice as long as the one before. */
  failedCalls: number;
  /** When it last left a server that has become a copy, or loads (on the stopwatch). */
  leftAt: number;
  /** The clock of Redis minus the stopwatch. */
  timeAt: number;
  readonly queue: Set<Followed>;
  /** What waits for Redis, and until when (on the stopwatch). */
  readonly awaited: Map<Pick<Waiting, "reject">, number>;
}

/** Connects to a Redis. Throws errors of the network, TLS or Redis. */
export async function connectRedis(options: ConnectionOptions): Promise<RedisConnection> {
  const connection = openConnection(options);
  const { client } = connection;
  // Without a listener, the library throws.
  client.on("error", (error) => {
    connection.failure ??= error;
    happened(connection, "failed", error);
  });
  client.on("ready", () => {
    if (connection.state !== "open" && connection.state !== "away") return;
    append(connection, [], []).catch((error) => happened(connection, "failed", error));
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

function openConnection({ address, prefix = defaultPrefix, timeout = 2000, ...options }: ConnectionOptions) {
  const { shown, url } = address;
  const connection: RedisConnection = {
    shown,
    timeout,
    keys: storeKeys(prefix),
    warn: (what) => options.onWarning(`The store ${shown} ${what}.`),
    note: (what) => options.onNote(`The store ${shown} ${what}.`),
    client: openClient(url, timeout, (retries, cause) =>
      connection.state === "starting" ? cause : pauseAfter(retries + 1),
    ),
    expiring: setInterval(() => setImmediate(() => expire(connection)), pauses.expiry).unref(),
    server: base62From(nodePlatform.random, 12),
    losses: 0,
    timeAt: 0,
    calledAt: undefined,
    failedCalls: 0,
    leftAt: Number.NEGATIVE_INFINITY,
    failure: undefined,
    state: "starting",
    away: { since: 0, reason: "" },
    queue: new Set(),
    awaited: new Map(),
  };
  return connection;
}

type ReconnectStrategy = (retries: number, cause: Error) => number | Error;

const openClient = (url: string, timeout: number, reconnectStrategy: ReconnectStrategy) =>
  createClient({
    url,
    // Redis 6 and later: messages and replies come over one connection, in order.
    RESP: 3,
    disableClientInfo: true,
    // The library would create a timer for each command.
    commandOptions: { timeout: 0 },
    socket: {
      reconnectStrategy,
      connectTimeout: timeout,
      socketTimeout: Math.max(timeout, pauses.silence),
    },
  });

/** From now on, the client reconnects, and every error is `store_unavailable`. */
export function beginRedis(connection: RedisConnection): void {
  if (connection.state === "starting") connection.state = "open";
}

/** Calls the listener with the id of a sandbox whose turn another server gives up, or waits for. */
export function hearOfTurns({ client, keys, server }: RedisConnection, listener: (id: string) => void): void {
  // A user without this right hears nothing, and asks again later.
  client.subscribe(keys.turnsOf(server), (hash) => listener(keys.idOf(hash))).catch(() => {});
}

export function closeRedis(connection: RedisConnection): void {
  connection.state = "closed";
  clearInterval(connection.expiring);
  for (const call of connection.awaited.keys()) call.reject(storeUnavailable(connection));
  connection.awaited.clear();
  connection.queue.clear();
  connection.client.destroy();
}

/** Passes on until when its outcome is awaited (on the stopwatch). */
export function withinTimeout<Result>(
  { awaited, timeout }: RedisConnection,
  start: (until: number) => Promise<Result>,
  max = timeout,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const call = { reject };
    const until = now() + Math.min(timeout, max);
    awaited.set(call, until);
    start(until)
      .then(resolve, reject)
      .finally(() => awaited.delete(call));
  });
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

/** Lets something wait for the next call. Rejects if Redis has been away for the timeout. */
export function enqueue(connection: RedisConnection, followed: Followed, one: Waiting): void {
  if (isAway(connection)) {
    one.reject(storeUnavailable(connection));
    return;
  }
  connection.awaited.set(one, now() + connection.timeout);
  if (one.isChange && followed.paused !== undefined) {
    followed.paused.push(one);
    return;
  }
  followed.waiting.push(one);
  callSoon(connection, followed);
}

/** Lets something that was not stored wait again, for the rest of its time. */
export function enqueueAgain(connection: RedisConnection, followed: Followed, own: readonly Waiting[]): void {
  followed.waiting.unshift(...own);
  callSoon(connection, followed);
}

/** Takes those that have not waited for too long. */
export function takeWaiting({ awaited }: RedisConnection, own: readonly Waiting[]): Waiting[] {
  return own.filter((one) => awaited.delete(one));
}

/** The problem with a connection, as half a sentence; `undefined` if Redis responded the last time. */
export function connectionProblem({ state, away }: RedisConnection): string | undefined {
  if (state === "closed") return "it is closed";
  return state === "away" ? away.reason : undefined;
}

/** The time of Redis, for an instant on the stopwatch (default: now). */
export function redisTime({ timeAt }: RedisConnection, at = now()): number {
  return at + timeAt;
}

export function storeUnavailable(connection: RedisConnection, reason = connectionProblem(connection)) {
  const why = reason ?? `it did not respond within ${connection.timeout} ms`;
  return new SandboxError("store_unavailable", `Failed to use the store ${connection.shown}: ${why}.`);
}

function happened(connection: RedisConnection, what: "failed" | "responded", error?: unknown): void {
  const before = connection.state;
  if (before === "starting" || before === "closed") return;
  connection.state = what === "failed" ? "away" : "open";
  if (before === connection.state) return;
  if (connection.state === "away") {
    const reason = reasonOf(error);
    connection.away = { since: now(), reason };
    connection.warn(`is away: ${reason}. Requests get 503 until it is back`);
  } else connection.note("is back");
}

function isAway({ state, away, timeout }: RedisConnection): boolean {
  return state === "closed" || (state === "away" && now() - away.since > timeout);
}

function expire(connection: RedisConnection): void {
  const { awaited, calledAt, timeout } = connection;
  const time = now();
  const silence = () => new Error(`timeout of ${timeout} ms`);
  if (calledAt !== undefined && time - calledAt >= timeout) happened(connection, "failed", silence());
  for (const [one, deadline] of awaited) {
    if (deadline > time) continue;
    awaited.delete(one);
    one.reject(connection.state === "starting" ? silence() : storeUnavailable(connection));
  }
}

/** Calls Redis. Rejects before that if it has been away for longer than the timeout; until then, the library waits for it. */
async function call<Result>(connection: RedisConnection, act: () => Promise<Result>): Promise<Result> {
  if (isAway(connection)) throw storeUnavailable(connection);
  try {
    return await withinTimeout(connection, act);
  } catch (error) {
    if (connection.state === "starting") throw connection.failure ?? error;
    if (error instanceof SandboxError) throw error;
    throw isFullness(error) ? noRoomInRedis() : storeUnavailable(connection, reasonOf(error));
  }
}

/**
 * Connects again, at most once a second, if an error shows that this Redis is a copy of another one, or loads: the name of the
 * store may lead to the other one by now.
 */
export function leaveCopy(connection: RedisConnection, error: unknown): void {
  const isCopy =
    error instanceof Error && /^(?:-|.*\b)?(?:READONLY|MASTERDOWN|LOADING)\b/.test(error.message);
  if (!isCopy || now() - connection.leftAt < pauses.longest) return;
  connection.leftAt = now();
  // Redis ends the connection, and the library connects again by the name.
  connection.client.sendCommand(["QUIT"]).catch(() => {});
}

/** Appends batches, if there are any, and reads the clock of Redis. */
async function append(connection: RedisConnection, keys: readonly string[], argv: readonly string[]) {
  const reply = await connection.client.sendCommand<Reply>(
    commandOf(appendScript, keys, [storeFormat, connection.server, connection.keys.turnsOf(""), ...argv]),
  );
  const [at, ...ofEach] = reply as readonly [string, ...AppendReply[]];
  connection.timeAt = Number(at) - now();
  happened(connection, "responded");
  return { time: Number(at), ofEach };
}

/** Makes the next call, also for a sandbox where nothing waits. */
export function callSoon(connection: RedisConnection, followed?: Followed): void {
  const { calledAt, state, client, queue, awaited } = connection;
  if (followed !== undefined) queue.add(followed);
  if (calledAt !== undefined || state === "closed" || !client.isReady) return;
  if (![...queue].some(isReady)) return;
  connection.calledAt = now();
  setImmediate(() => gather(connection, awaited.size - 1, 0));
}

// While more arrive, each iteration of the event loop adds to one call, which costs more than an append.
function gather(connection: RedisConnection, known: number, turns: number): void {
  const { size } = connection.awaited;
  if (turns < maxTurns && size > known) {
    setImmediate(() => gather(connection, size, turns + 1));
    return;
  }
  appendAll(connection).finally(() => {
    const { failedCalls } = connection;
    const callNext = () => {
      connection.calledAt = undefined;
      callSoon(connection);
    };
    if (failedCalls === 0) callNext();
    else setTimeout(callNext, pauseAfter(failedCalls)).unref();
  });
}

const pauseAfter = (failures: number) => Math.min(pauses.longest, pauses.first * 2 ** (failures - 1));

async function appendAll(connection: RedisConnection): Promise<void> {
  const batch = takeAll(connection);
  if (batch.length === 0) return;
  const keys = batch.flatMap(({ followed }) => followed.keys);
  const argv = batch.flatMap(({ followed, own }) => followed.send(own));
  const replies = await append(connection, keys, argv).catch((error) => {
    connection.failedCalls += 1;
    leaveCopy(connection, error);
    happened(connection, "failed", error);
    for (const { followed, own } of batch) followed.onLost(own, error);
  });
  if (replies !== undefined) connection.failedCalls = 0;
  for (const [index, reply] of replies?.ofEach.entries() ?? []) {
    const { followed, own } = batch[index] as (typeof batch)[number];
    followed.onReply(reply, own, replies?.time as number);
  }
}

function takeAll({ queue, awaited }: RedisConnection) {
  return [...queue].filter(isReady).flatMap((followed) => {
    const own = followed.waiting.filter((one) => awaited.has(one));
    followed.waiting = [];
    queue.delete(followed);
    return own.length === 0 && !followed.mustSend() ? [] : { followed, own };
  });
}

const isReady = ({ loading }: Followed) => loading === undefined;

/**
 * A problem with a Redis, by the message of its error, and what to do. The first text continues "Failed to use the store …: ".
 * With `away`, the store may be back soon.
 */
type Problem = readonly [error: RegExp, found: string, whatToDo: string, isAway?: "away" | undefined];

const problems: readonly Problem[] = [
  [
    /closed|offline|Disconnects|ECONNRESET|EPIPE/,
    "it closed the connection",
    "Check whether it requires TLS: rediss:// instead of redis://",
    "away",
  ],
  [/EPROTO|wrong version number/, "it does not speak TLS", "Use redis:// instead of rediss://"],
  [
    /timeout/,
    "it does not respond",
    "Check host, port, firewall and whether it speaks TLS (rediss://)",
    "away",
  ],
  [/OOM/, "it is full: its maxmemory is reached", "Increase maxmemory, or remove other data"],
  [/NOAUTH/, "it requires a password", "Set SVC_SANDBOX_STORE to redis://:password@host:port"],
  // Redis would repeat the arguments of the command, such as a password.
  [
    /unknown command/i,
    "it does not know a command that a store needs",
    "Use Redis 6.2 or newer, or Valkey, and no Sentinel",
  ],
  [/Unknown RESP|RESP type/i, "it does not respond like Redis", "Check host and port"],
];

function problemOf(error: unknown): Problem {
  const { message, code = "" } = error as NodeJS.ErrnoException;
  const problem = problems.find(([text]) => text.test(message));
  if (problem !== undefined) return problem;
  if (!(error instanceof AggregateError) && code === "") {
    const isAway = /^(?:LOADING|MASTERDOWN|NOREPLICAS|BUSY|TRYAGAIN)/.test(message) ? "away" : undefined;
    const reported = message.split(". ", 1)[0]?.replace(/\.$/, "");
    return [/^/, `it reports "${reported}"`, "Check its URL and configuration (docs/store.md)", isAway];
  }
  const { found, hint } = describeConnectionError(error as NodeJS.ErrnoException);
  const isOfTls = /CERT|SSL|TLS|SIGN|VERIFY/.test(code);
  return [/^/, found, hint.replace(/\.$/, ""), isOfTls ? undefined : "away"];
}

export function unusableStore(shown: string, error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  const [, found, whatToDo, isAway] = problemOf(error);
  return isAway === "away"
    ? new SandboxError("store_unavailable", `Failed to reach the store ${shown}: ${found}. ${whatToDo}.`)
    : unfitStore(shown, `${found}. ${whatToDo}.`);
}

export function unfitStore(shown: string, why: string): SandboxError {
  return new SandboxError("store_unusable", `Failed to use the store ${shown}: ${why}`);
}

export function reasonOf(error: unknown): string {
  return error instanceof SandboxError ? error.message : problemOf(error)[1];
}

/** What a sandbox responds whose stored entry cannot be applied: nothing of it is deleted. */
export function brokenEntry(shown: string, what: string, error: unknown): SandboxError {
  const why = redactKeys((error as Error).message);
  return new SandboxError(
    "state_unreadable",
    `Failed to apply the entry ${what} in the store ${shown}: ${why}. It stays there. Whoever runs this server must start the version that wrote it, or remove the instance.`,
  );
}

export function isFullness(error: unknown): boolean {
  return error instanceof Error && /\bOOM\b/.test(error.message);
}

export function noRoomInRedis(): SandboxError {
  return new SandboxError(
    "memory_limit_reached",
    "Redis has no room: remove unused instances with DELETE /__sandbox/instances/{id}, or increase its maxmemory.",
  );
}
