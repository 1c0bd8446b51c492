import { createClient } from "@redis/client";
import { defaultPrefix, type RedisAddress } from "../../node/addresses.js";
import { describeConnectionError } from "../../node/clients/send-once.js";
import { clearInterval, nodePlatform, setImmediate, setInterval, setTimeout } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { base62From } from "../../rules/seed.js";
import { appendScript, type StoredLine, storeFormat, storeKeys } from "./redis-scripts.js";

type Reply = string | number | null | readonly Reply[];

/** A change or a read that waits for the next call of the script. */
export interface WaitingCall {
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
  waiting: WaitingCall[];
  /** The changes that wait until it is this server's turn; `undefined` if none does. */
  paused: WaitingCall[] | undefined;
  /** Whether a call must be made although nothing waits. */
  readonly mustCall: () => boolean;
  /** Returns its arguments of the script. */
  readonly argumentsFor: (calls: readonly WaitingCall[]) => readonly string[];
  /** Called with the reply for what waited. Those that waited for too long were rejected. */
  readonly onReply: (reply: AppendReply, calls: readonly WaitingCall[], time: number) => void;
  /** Called if there is no reply. */
  readonly onLost: (calls: readonly WaitingCall[], error: unknown) => void;
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

type Script = readonly [script: string, keys: readonly string[], argv: readonly string[]];

/**
 * A connection to a Redis. Until `begin`, it throws errors of the network, TLS or Redis; then `store_unavailable`.
 *
 * Everything that waits goes out in one call of one script, for all sandboxes. The next call follows its reply. Nothing is sent
 * twice: the outcome of a call without a reply is unknown, and its callers get `store_unavailable` after the timeout.
 */
export class RedisConnection {
  readonly shown: string;
  readonly keys: ReturnType<typeof storeKeys>;
  readonly warn: (what: string) => void;
  readonly note: (what: string) => void;
  /** Names this server in its lines. */
  readonly server = base62From(nodePlatform.random, 12);
  losses = 0;
  readonly #timeout: number;
  readonly #client: ReturnType<typeof openClient>;
  readonly #expiring: ReturnType<typeof setInterval>;
  #state: State = "starting";
  /** Why it is away, and since when (on the stopwatch). */
  #away = { since: 0, reason: "" };
  /** The first error. */
  #failure: unknown;
  /** When the current call started; `undefined` if there is none. */
  #calledAt: number | undefined;
  /** The calls in a row that failed. A pause follows each, twice as long as the one before. */
  #failedCalls = 0;
  /** When it last left a server that has become a copy, or loads (on the stopwatch). */
  #leftAt = Number.NEGATIVE_INFINITY;
  /** The clock of Redis minus the stopwatch. */
  #timeAt = 0;
  readonly #queue = new Set<Followed>();
  /** What waits for Redis, and until when (on the stopwatch). */
  readonly #awaited = new Map<Pick<WaitingCall, "reject">, number>();

  constructor({ address, prefix = defaultPrefix, timeout = 2000, onWarning, onNote }: ConnectionOptions) {
    const { shown, url } = address;
    this.shown = shown;
    this.keys = storeKeys(prefix);
    this.warn = (what) => onWarning(`The store ${shown} ${what}.`);
    this.note = (what) => onNote(`The store ${shown} ${what}.`);
    this.#timeout = timeout;
    this.#client = openClient(url, timeout, (retries, cause) =>
      this.#state === "starting" ? cause : pauseAfter(retries + 1),
    );
    this.#expiring = setInterval(() => setImmediate(() => this.#expire()), pauses.expiry).unref();
    // Without a listener, the library throws.
    this.#client.on("error", (error) => {
      this.#failure ??= error;
      this.#happened("failed", error);
    });
    this.#client.on("ready", () => {
      if (this.#state !== "open" && this.#state !== "away") return;
      this.#append([], []).catch((error) => this.#happened("failed", error));
      this.callSoon();
    });
  }

  /** Throws errors of the network, TLS or Redis. */
  async connect(): Promise<void> {
    await this.#call(() => this.#client.connect().then(() => this.#append([], [])));
  }

  /** From now on, the client reconnects, and every error is `store_unavailable`. */
  begin(): void {
    if (this.#state === "starting") this.#state = "open";
  }

  close(): void {
    this.#state = "closed";
    clearInterval(this.#expiring);
    for (const call of this.#awaited.keys()) call.reject(this.unavailable());
    this.#awaited.clear();
    this.#queue.clear();
    this.#client.destroy();
  }

  get state(): State {
    return this.#state;
  }

  /** The problem with it, as half a sentence; `undefined` if Redis responded the last time. */
  get problem(): string | undefined {
    if (this.#state === "closed") return "it is closed";
    return this.#state === "away" ? this.#away.reason : undefined;
  }

  unavailable(reason = this.problem): SandboxError {
    const why = reason ?? `it did not respond within ${this.#timeout} ms`;
    return new SandboxError("store_unavailable", `Failed to use the store ${this.shown}: ${why}.`);
  }

  /** The time of Redis, for an instant on the stopwatch (default: now). */
  time(at = now()): number {
    return at + this.#timeAt;
  }

  /** Calls the listener with the id of a sandbox whose turn another server gives up, or waits for. */
  hearOfTurns(listener: (id: string) => void): void {
    const { keys } = this;
    // A user without this right hears nothing, and asks again later.
    this.#client.subscribe(keys.turnsOf(this.server), (hash) => listener(keys.idOf(hash))).catch(() => {});
  }

  /** Passes on until when its outcome is awaited (on the stopwatch). */
  within<Result>(start: (until: number) => Promise<Result>, max = this.#timeout): Promise<Result> {
    return new Promise((resolve, reject) => {
      const call = { reject };
      const until = now() + Math.min(this.#timeout, max);
      this.#awaited.set(call, until);
      start(until)
        .then(resolve, reject)
        .finally(() => this.#awaited.delete(call));
    });
  }

  command(...argv: string[]): Promise<Reply> {
    return this.#call(() => this.#client.sendCommand<Reply>(argv));
  }

  runScript(...script: Script): Promise<Reply> {
    return this.command(...commandOf(...script));
  }

  /** Lets something wait for the next call. Rejects if Redis has been away for the timeout. */
  enqueue(followed: Followed, call: WaitingCall): void {
    if (this.#isAway()) {
      call.reject(this.unavailable());
      return;
    }
    this.#awaited.set(call, now() + this.#timeout);
    if (call.isChange && followed.paused !== undefined) {
      followed.paused.push(call);
      return;
    }
    followed.waiting.push(call);
    this.callSoon(followed);
  }

  /** Lets something that was not stored wait again, for the rest of its time. */
  enqueueAgain(followed: Followed, calls: readonly WaitingCall[]): void {
    followed.waiting.unshift(...calls);
    this.callSoon(followed);
  }

  /** Whether it has not waited for too long. */
  isAwaited(call: WaitingCall): boolean {
    return this.#awaited.has(call);
  }

  /** Takes those that have not waited for too long. */
  takeAwaited(calls: readonly WaitingCall[]): WaitingCall[] {
    return calls.filter((call) => this.#awaited.delete(call));
  }

  /** Rejects those that have not waited for too long. */
  rejectAll(calls: readonly WaitingCall[], error: unknown): void {
    for (const call of this.takeAwaited(calls)) call.reject(error);
  }

  /** Makes the next call, also for a sandbox where nothing waits. */
  callSoon(followed?: Followed): void {
    if (followed !== undefined) this.#queue.add(followed);
    if (this.#calledAt !== undefined || this.#state === "closed" || !this.#client.isReady) return;
    if (![...this.#queue].some(isReady)) return;
    this.#calledAt = now();
    setImmediate(() => this.#gather(this.#awaited.size - 1, 0));
  }

  /**
   * Connects again, at most once a second, if an error shows that this Redis is a copy of another one, or loads: the name of the
   * store may lead to the other one by now.
   */
  leaveCopy(error: unknown): void {
    const isCopy =
      error instanceof Error && /^(?:-|.*\b)?(?:READONLY|MASTERDOWN|LOADING)\b/.test(error.message);
    if (!isCopy || now() - this.#leftAt < pauses.longest) return;
    this.#leftAt = now();
    // Redis ends the connection, and the library connects again by the name.
    this.#client.sendCommand(["QUIT"]).catch(() => {});
  }

  #happened(what: "failed" | "responded", error?: unknown): void {
    const before = this.#state;
    if (before === "starting" || before === "closed") return;
    this.#state = what === "failed" ? "away" : "open";
    if (before === this.#state) return;
    if (this.#state === "away") {
      const reason = reasonOf(error);
      this.#away = { since: now(), reason };
      this.warn(`is away: ${reason}. Requests get 503 until it is back`);
    } else this.note("is back");
  }

  #isAway(): boolean {
    return this.#state === "closed" || (this.#state === "away" && now() - this.#away.since > this.#timeout);
  }

  #expire(): void {
    const time = now();
    const silence = () => new Error(`timeout of ${this.#timeout} ms`);
    if (this.#calledAt !== undefined && time - this.#calledAt >= this.#timeout)
      this.#happened("failed", silence());
    for (const [call, deadline] of this.#awaited) {
      if (deadline > time) continue;
      this.#awaited.delete(call);
      call.reject(this.#state === "starting" ? silence() : this.unavailable());
    }
  }

  /** Calls Redis. Rejects before that if it has been away for longer than the timeout; until then, the library waits for it. */
  async #call<Result>(act: () => Promise<Result>): Promise<Result> {
    if (this.#isAway()) throw this.unavailable();
    try {
      return await this.within(act);
    } catch (error) {
      if (this.#state === "starting") throw this.#failure ?? error;
      if (error instanceof SandboxError) throw error;
      throw isFullness(error) ? noRoomInRedis() : this.unavailable(reasonOf(error));
    }
  }

  /** Appends batches, if there are any, and reads the clock of Redis. */
  async #append(keys: readonly string[], argv: readonly string[]) {
    const reply = await this.#client.sendCommand<Reply>(
      commandOf(appendScript, keys, [storeFormat, this.server, this.keys.turnsOf(""), ...argv]),
    );
    const [at, ...ofEach] = reply as readonly [string, ...AppendReply[]];
    this.#timeAt = Number(at) - now();
    this.#happened("responded");
    return { time: Number(at), ofEach };
  }

  // While more arrive, each iteration of the event loop adds to one call, which costs more than an append.
  #gather(known: number, turns: number): void {
    const { size } = this.#awaited;
    if (turns < maxTurns && size > known) {
      setImmediate(() => this.#gather(size, turns + 1));
      return;
    }
    this.#appendAll().finally(() => {
      const callNext = () => {
        this.#calledAt = undefined;
        this.callSoon();
      };
      if (this.#failedCalls === 0) callNext();
      else setTimeout(callNext, pauseAfter(this.#failedCalls)).unref();
    });
  }

  async #appendAll(): Promise<void> {
    const batch = this.#takeAll();
    if (batch.length === 0) return;
    const keys = batch.flatMap(({ followed }) => followed.keys);
    const argv = batch.flatMap(({ followed, calls }) => followed.argumentsFor(calls));
    const replies = await this.#append(keys, argv).catch((error) => {
      this.#failedCalls += 1;
      this.leaveCopy(error);
      this.#happened("failed", error);
      for (const { followed, calls } of batch) followed.onLost(calls, error);
    });
    if (replies !== undefined) this.#failedCalls = 0;
    for (const [index, reply] of replies?.ofEach.entries() ?? []) {
      const { followed, calls } = batch[index] as (typeof batch)[number];
      followed.onReply(reply, calls, replies?.time as number);
    }
  }

  #takeAll() {
    return [...this.#queue].filter(isReady).flatMap((followed) => {
      const calls = followed.waiting.filter((call) => this.#awaited.has(call));
      followed.waiting = [];
      this.#queue.delete(followed);
      return calls.length === 0 && !followed.mustCall() ? [] : { followed, calls };
    });
  }
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

const pauseAfter = (failures: number) => Math.min(pauses.longest, pauses.first * 2 ** (failures - 1));

function commandOf(...[script, keys, argv]: Script): string[] {
  return ["EVAL", script, String(keys.length), ...keys, ...argv];
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
