import { handle } from "../../../src/api/handle.js";
import { headerPairs } from "../../../src/api/http-messages.js";
import type { RandomStream } from "../../../src/rules/seed.js";
import type { SandboxState } from "../../../src/sandbox/sandbox-state.js";
import { asked } from "../../support/send.js";
import type { VirtualTime } from "./virtual-time.js";

/** A response as a client gets it. */
export interface Reply {
  readonly status: number;
  /** In their case and order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** Milliseconds until its first byte, and until its last one. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** How a request ended without a whole response. */
export type TroubleKind = "reset" | "timeout" | "truncated";

class Trouble extends Error {
  readonly kind: TroubleKind;
  constructor(kind: TroubleKind) {
    super(kind);
    this.kind = kind;
  }
}

/** An expectation of a client that a response does not meet. It is final. */
export class Unexpected extends Error {}

/** A client, as it decides at each place where clients differ. A flaw replaces some of these decisions. */
export interface Client {
  /** How often it sends a request while the service fails. */
  readonly tries: number;
  /** How often it sends a request while the key is at its limit. */
  readonly limitTries: number;
  /** Its first pause after a failure; the next ones double, up to the longest one. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** When it stops waiting for a response. */
  readonly timeoutMs: number;
  /** The longest wait that it accepts. */
  readonly longestWaitMs: number;
  /** How often it sends a request that gets neither a success nor a 429; `hasWorked`: after a response with 200. */
  readonly triesAfter: (reply: Reply, code: string | undefined, hasWorked: boolean) => number;
  /** After how many milliseconds without a response it sends the request a second time; 0: both at once, and the first success wins. Default: never. */
  readonly hedgeMs?: number;
  /** The only key that is sent again after a rejection. Default: each one. */
  readonly resentKey?: string;
  /** The key that it uses in place of one that is rejected. */
  readonly secondKeys: Readonly<Record<string, string>>;
  /** The milliseconds that a response requires; `undefined` if it requires none. */
  readonly waitAfter: (reply: Reply) => number | undefined;
  /** The pause after a 429 without `Retry-After`. */
  readonly waitForLimit: (reply: Reply) => number;
  readonly survives: (trouble: TroubleKind | "status" | "invalid") => boolean;
  readonly parse: (reply: Reply) => Body;
  /** Looks at a complete response; throws {@link Unexpected}. */
  readonly look: (reply: Reply, body: Body) => void;
  /** Whether it returns the last accepted response of a key in place of a rejection. */
  readonly storesAccepted: boolean;
  /** Whether it sends a request again if it cannot read the response. */
  readonly readsAgain: boolean;
  /** Whether it keeps the accepted response of a key, and sends it once. */
  readonly caches: boolean;
  /** How long it keeps it. Default: for good. */
  readonly keepsMs?: number;
  /** Whether it keeps a rejection as well. */
  readonly keepsRejected?: boolean;
  /** Where it keeps responses, and shares calls. Default: in one place for all its functions. */
  readonly place?: string;
  /** Whether calls with one key at the same time share its request. */
  readonly shares?: boolean;
  /** How much longer it waits than a response requires. */
  readonly marginMs?: number;
  /** The share by which its pauses vary: its own on either side, and those that a response requires only above. */
  readonly jitter?: number;
  /** How many of its failures all its calls together may follow with another request. Default: any number. */
  readonly retryBudget?: number;
  /** How long after its start a call may send another request. Default: at any time. */
  readonly deadlineMs?: number;
  /** How many requests with one key it sends at once, and how far apart. */
  readonly limiter?: { readonly atOnce?: number; readonly everyMs?: number };
  /** How long it sends nothing with a key after a 429 or a 503, at least. `failsFast`: calls get the same 429 then, in place of a wait. */
  readonly breaker?: { readonly coolMs: number; readonly failsFast: boolean };
}

// biome-ignore lint/suspicious/noExplicitAny: a client reads what a response has
export type Body = any;

export interface Result {
  readonly status: number;
  /** How often the client has waited for the end of a limit. */
  readonly waits: number;
  readonly code: string | undefined;
  readonly body: Body;
}

/** How a client reaches its sandbox, and how it waits. */
export interface Connection {
  readonly time: VirtualTime;
  readonly sandbox: () => SandboxState;
  readonly wait: (ms: number) => Promise<void>;
  /** The milliseconds of the clock that it waits by. */
  readonly now: () => number;
  readonly random: RandomStream;
  /** The kept responses with their times, by place and key. */
  readonly stored: Map<string, { readonly result: Result; readonly at: number }>;
  /** The calls that have no result yet, by place and key. */
  readonly running: Map<string, Promise<Result>>;
  readonly gates: Map<string | undefined, Gate>;
  /** The keys that have got a 200. */
  readonly worked: Set<string | undefined>;
  /** How many failures of all calls another request has followed. */
  readonly retries: { count: number };
  readonly secretOf: (ref: string) => string | undefined;
}

/** The milliseconds of a request in the network. */
const networkMs = 2;

/** Sends `GET /me` and resolves to the whole response, as a network with this sandbox at its other end does. */
async function send(
  { time, sandbox }: Connection,
  apiKey: string | undefined,
  timeoutMs: number,
): Promise<Reply> {
  const started = time.stopwatch();
  const elapsed = () => time.stopwatch() - started;
  await time.sleep(networkMs);
  const {
    response,
    delivery,
    at,
    date = at,
  } = handle(sandbox(), asked(apiKey === undefined ? {} : { apiKey }));
  const { latencyMs = 0, kind = "send", cutAfter, bytesPerSecond } = delivery ?? {};
  const firstMs = elapsed() + latencyMs;
  const lastMs =
    firstMs + (bytesPerSecond === undefined ? 0 : (1000 * response.body.length) / bytesPerSecond);
  const isLate = kind === "hang" || lastMs > timeoutMs;
  await time.sleep(Math.max(0, (isLate ? timeoutMs : lastMs) - elapsed()));
  if (isLate) throw new Trouble("timeout");
  if (kind === "reset") throw new Trouble("reset");
  if (cutAfter !== undefined) throw new Trouble("truncated");
  const headers = [...headerPairs(response.headers), ["Date", new Date(date).toUTCString()] as const];
  const header = (name: string) => headers.find(([other]) => other.toLowerCase() === name)?.[1];
  return { status: response.status, headers, header, text: response.body, firstMs, lastMs };
}

/** Sends a request again if its response is late, and resolves to the first response. */
async function sendHedged(
  connection: Connection,
  apiKey: string | undefined,
  { timeoutMs, hedgeMs }: Client,
): Promise<Reply> {
  const first = send(connection, apiKey, timeoutMs);
  if (hedgeMs === undefined) return first;
  if (hedgeMs === 0) {
    const both = await Promise.allSettled([first, send(connection, apiKey, timeoutMs)]);
    const replies = both.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const isFinal = ({ status }: Reply) => status < 500;
    return replies.find(({ status }) => status === 200) ?? replies.find(isFinal) ?? replies[0] ?? first;
  }
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  first.then(end, end);
  const second = connection.time
    .sleep(hedgeMs)
    .then(() => (isDone ? first : send(connection, apiKey, timeoutMs)));
  return Promise.any([first, second]).catch((error: AggregateError) => {
    throw error.errors[0];
  });
}

/** What a client does after a try: it ends with a result, or waits before the next try. */
type Step = { readonly result: Result } | { readonly pauseMs: number };

/** Reads who a key belongs to, with as many tries as the client makes. Throws if it gives up. */
export async function whoami(
  client: Client,
  connection: Connection,
  ref: string,
  apiKey = connection.secretOf(ref),
): Promise<Result> {
  const { stored, running, now } = connection;
  const at = placeOf(client, apiKey);
  const kept = stored.get(at);
  if (client.caches && kept !== undefined && now() - kept.at < (client.keepsMs ?? Number.POSITIVE_INFINITY)) {
    return kept.result;
  }
  const same = client.shares ? running.get(at) : undefined;
  if (same !== undefined) return same;
  const call = callOnce(client, connection, ref, apiKey).finally(() => running.delete(at));
  if (client.shares) running.set(at, call);
  return call;
}

const placeOf = ({ place = "" }: Client, apiKey = "") => `${place} ${apiKey}`;

async function callOnce(
  client: Client,
  connection: Connection,
  ref: string,
  apiKey: string | undefined,
): Promise<Result> {
  const { stored, now } = connection;
  const isMeant = client.resentKey === undefined || client.resentKey === ref;
  const sender = isMeant ? client : { ...client, triesAfter: () => 1 };
  const result = await sendUntilDone(sender, connection, apiKey);
  const second = isRejection(result.status) ? client.secondKeys[ref] : undefined;
  if (second !== undefined) return whoami({ ...client, secondKeys: {} }, connection, second);
  const at = placeOf(client, apiKey);
  const isKept = result.status === 200 || (client.keepsRejected && isRejection(result.status));
  if (isKept && (client.caches || client.storesAccepted)) stored.set(at, { result, at: now() });
  const kept = client.storesAccepted && isRejection(result.status) ? stored.get(at) : undefined;
  return kept?.result ?? result;
}

async function sendUntilDone(
  client: Client,
  connection: Connection,
  apiKey: string | undefined,
): Promise<Result> {
  const counts = { startedAt: connection.now(), failures: 0, limits: 0, rejections: 0 };
  for (;;) {
    const step = await tryOnce(client, connection, apiKey, counts);
    if ("result" in step) return step.result;
    await connection.wait(step.pauseMs);
  }
}

interface Counts {
  readonly startedAt: number;
  failures: number;
  limits: number;
  rejections: number;
}

async function tryOnce(
  client: Client,
  connection: Connection,
  apiKey: string | undefined,
  counts: Counts,
): Promise<Step> {
  const orGiveUp = (error: Error, asks?: number): Step => {
    counts.failures += 1;
    const backoffMs = Math.min(client.pauseMs * 2 ** (counts.failures - 1), client.longestPauseMs);
    const pauseMs = asks ?? varied(client, connection, backoffMs);
    if (counts.failures >= client.tries || pauseMs > client.longestWaitMs) throw error;
    if (isOver(client, connection, counts, pauseMs)) throw error;
    connection.retries.count += 1;
    return { pauseMs };
  };
  const gate = connection.gates.get(apiKey) ?? new Gate(client, connection);
  connection.gates.set(apiKey, gate);
  try {
    const reply = await gate.pass(() => sendHedged(connection, apiKey, client));
    const hasWorked = connection.worked.has(apiKey);
    if (reply.status === 200) connection.worked.add(apiKey);
    if (reply.status < 500) return stepAfter(client, connection, reply, counts, hasWorked);
    if (!client.survives("status")) throw new Unexpected(`status ${reply.status}`);
    return orGiveUp(
      new Unexpected(`status ${reply.status}`),
      longer(client, connection, client.waitAfter(reply)),
    );
  } catch (error) {
    if (error instanceof Trouble && client.survives(error.kind)) return orGiveUp(error);
    if (error instanceof SyntaxError && client.survives("invalid")) return orGiveUp(error);
    if (error instanceof Unexpected && client.readsAgain) return orGiveUp(error);
    throw error;
  }
}

/** Whether another request after a failure would be too late, or one too many. */
function isOver(
  { deadlineMs = Number.POSITIVE_INFINITY, retryBudget = Number.POSITIVE_INFINITY }: Client,
  { retries, now }: Connection,
  { startedAt }: Counts,
  pauseMs: number,
): boolean {
  return now() + pauseMs - startedAt > deadlineMs || retries.count >= retryBudget;
}

const isRejection = (status: number) => status === 401 || status === 403;

/** A pause that a response requires, as the client makes it. */
function longer(client: Client, { random }: Connection, ms: number | undefined): number | undefined {
  const { marginMs = 0, jitter = 0 } = client;
  return ms === undefined ? undefined : ms * (1 + jitter * share(random)) + marginMs;
}

/** A pause of the client's own. */
const varied = ({ jitter = 0 }: Client, { random }: Connection, ms: number) =>
  jitter === 0 ? ms : ms * (1 + jitter * (2 * share(random) - 1));

const share = (random: RandomStream) => random() / 4_294_967_296;

/** What requests with one key pass: a limiter, and a circuit breaker that opens when the service asks for a pause. */
class Gate {
  readonly #client: Client;
  readonly #connection: Connection;
  #atOnce = 0;
  readonly #waiting: (() => void)[] = [];
  #nextAt = Number.NEGATIVE_INFINITY;
  #openUntil = Number.NEGATIVE_INFINITY;
  /** The 429 that has opened the circuit. */
  #limited: Reply | undefined;

  constructor(client: Client, connection: Connection) {
    this.#client = client;
    this.#connection = connection;
  }

  async pass(request: () => Promise<Reply>): Promise<Reply> {
    const limited = await this.#enter();
    if (limited !== undefined) return limited;
    try {
      const reply = await request();
      this.#open(reply);
      return reply;
    } finally {
      this.#atOnce -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Waits for its turn; resolves to the 429 that ends the call before it. */
  async #enter(): Promise<Reply | undefined> {
    const { limiter: { atOnce = Number.POSITIVE_INFINITY, everyMs = 0 } = {}, breaker } = this.#client;
    const { now, wait } = this.#connection;
    for (;;) {
      if (breaker?.failsFast && this.#openUntil > now() && this.#limited) return this.#limited;
      const pauseMs = Math.max(this.#openUntil, this.#nextAt) - now();
      if (pauseMs > 0) await wait(pauseMs);
      else if (this.#atOnce < atOnce) break;
      else await new Promise<void>((begin) => this.#waiting.push(begin));
    }
    this.#atOnce += 1;
    this.#nextAt = everyMs === 0 ? this.#nextAt : now() + everyMs;
    return undefined;
  }

  #open(reply: Reply): void {
    const { breaker, waitAfter, waitForLimit, longestWaitMs } = this.#client;
    if (breaker === undefined || (reply.status !== 429 && reply.status !== 503)) return;
    this.#limited = reply.status === 429 ? reply : undefined;
    const asked = waitAfter(reply) ?? (reply.status === 429 ? waitForLimit(reply) : 0);
    if (asked <= longestWaitMs) this.#openUntil = this.#connection.now() + Math.max(breaker.coolMs, asked);
  }
}

function stepAfter(
  client: Client,
  connection: Connection,
  reply: Reply,
  counts: Counts,
  hasWorked: boolean,
): Step {
  const { status } = reply;
  const body = client.parse(reply);
  client.look(reply, body);
  const result = { status, code: body.error?.code, body, waits: counts.limits };
  if (status >= 400 && status !== 429) {
    counts.rejections += 1;
    return counts.rejections >= client.triesAfter(reply, body.error?.code, hasWorked)
      ? { result }
      : { pauseMs: client.pauseMs };
  }
  if (status !== 429) return { result };
  counts.limits += 1;
  const asked = client.waitAfter(reply) ?? client.waitForLimit(reply);
  const pauseMs = longer(client, connection, asked) ?? asked;
  return counts.limits >= client.limitTries || pauseMs > client.longestWaitMs ? { result } : { pauseMs };
}

/** The milliseconds of `Retry-After`, in seconds or as a date. */
export function retryAfter({ header }: Reply): number | undefined {
  const value = header("retry-after");
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? 1000 * Number(value) : Math.max(0, Date.parse(value) - dateOf(header));
}

const dateOf = (header: Reply["header"]) => Date.parse(header("date") ?? "");

/** The milliseconds until the next minute of the service. */
export function untilNextMinute({ header }: Reply): number {
  return 60_000 - (dateOf(header) % 60_000);
}

/** A client without a flaw. */
export const goodClient: Omit<Client, "tries" | "limitTries" | "pauseMs" | "timeoutMs"> = {
  longestPauseMs: 4000,
  longestWaitMs: 120_000,
  triesAfter: () => 1,
  secondKeys: {},
  waitAfter: retryAfter,
  waitForLimit: untilNextMinute,
  survives: () => true,
  parse: ({ text }) => JSON.parse(text),
  look: () => {},
  storesAccepted: false,
  readsAgain: false,
  caches: false,
};
