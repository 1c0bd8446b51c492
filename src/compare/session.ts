import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import { nodePlatform } from "../node/platform.js";
import { pluralize } from "../report/plain-text.js";
import { findPrefix } from "../rules/keys/key-text.js";
import { outcomeRow } from "../rules/outcomes.js";
import type { RandomStream } from "../rules/seed.js";
import { minute } from "../rules/time.js";
import { whyNotTheApi } from "./api-recognition.js";
import {
  type Attempt,
  describeAttempt,
  describeInFull,
  firstStanding,
  leaveUnjudged,
  requestName,
} from "./attempts.js";
import type { PromisedOutcomeId, Unjudged } from "./findings.js";
import { createUnknownKeys, isLimit, keysInVariables, type PlannedRequest, type Variables } from "./keys.js";
import {
  createRedactKeys,
  headerOf,
  type RedactedResponse,
  readHttpDate,
  readResponse,
  retryAfterForm,
} from "./response.js";

// What a comparison has sent, whether it may send more, and what follows a 429, which is a limit:
//
// | 429 | then |
// |---|---|
// | to a request for a limit | judged |
// | to any other, the first time, if it names at most 60 s, or no time and the key should work | wait, and go on |
// | to any other | the end |
//
// After a wait, the requests come more slowly, unless no key has worked yet: then an earlier comparison may have used up its minute.

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 90, and 400 with `probeLimits`. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Milliseconds between two requests, for which `wait` is needed. Default: 0. */
  readonly pace?: number | undefined;
  /** Gets a sentence before a key's minute is used up, and before a wait. */
  readonly announce?: (sentence: string) => void;
  /** Waits for these milliseconds, or until `stop`. Default: passes follow at once, and a limit ends the comparison. */
  readonly wait?: (milliseconds: number) => Promise<void>;
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
  /** The time of the comparison, in milliseconds since 1970. Default: now. */
  readonly time?: number;
  /** Makes an unknown key, another one each time; `index` counts them from 0. Default: in the form of a given key. */
  readonly unknownKey?: (index: number) => string;
  /** Draws the order of the requests, and unknown keys. Default: by chance. */
  readonly random?: RandomStream;
  /** Ends the comparison with what it has, also during a request; its reason is the name of a signal. */
  readonly stop?: AbortSignal;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;

/** What ends a comparison, and what it may be. `docs/compare.md` lists them. */
export const endings = {
  no_key: {
    when: "no given key has worked",
    suspicion: "wrong keys, an allow list, or a lock",
  },
  key_gone: {
    when: "the key that works no longer works",
    suspicion: "an outage, a lock or a limit",
  },
  limit: {
    when: "a 429 that was not asked for came again, or names no time of at most 60 s",
    suspicion: "a lock, or another limiter",
  },
} as const;

export type Ending = keyof typeof endings;

/** Enough for thirteen outcomes that differ. */
const defaultMaximum = 90;
/** Enough to use up the minute of a key with a `per_minute` of 100 twice. */
const defaultMaximumWithLimits = 400;
/** The least time between two requests after a 429, in milliseconds. */
const leastPace = 1000;

/** Why no more is sent, even if requests are left. */
interface SessionEnd {
  /** `not_the_api`: the host does not respond, or not like the API. `response`: an outage, a lock or a limit may have sent it. */
  readonly kind: "not_the_api" | "response" | "signal";
  /** For the outcomes that were not tried any more. */
  readonly why: string;
  /** One or two sentences for the reader; empty for a signal. */
  readonly message: string;
  /** The one whose response ended it. */
  readonly attempt?: Attempt;
}

/** What came of a request: an attempt, or why there is none. */
type SendResult =
  | { readonly kind: "sent"; readonly attempt: Attempt }
  | { readonly kind: "not_sent"; readonly why: string };

export class Session {
  readonly options: CompareOptions;
  readonly startedAt: number;
  readonly attempts: Attempt[] = [];
  /** Why no request was sent for an outcome. */
  readonly whyNotTried = new Map<PromisedOutcomeId, string>();
  readonly unjudged: Unjudged[] = [];
  /** What a reader must know of the way that the comparison took. */
  readonly notes: string[] = [];
  /** The number of requests that were sent, also of one that a signal has cut off. */
  sent = 0;
  readonly maxRequests: number;
  /** Whether a request was not sent, because none was left. */
  hasRunOut = false;
  pace: number;
  /** The first given key that has worked, and the number of attempts when it did last; `undefined` as long as none has. */
  working: { readonly request: PlannedRequest; worksSince: number } | undefined;
  readonly random: RandomStream;
  readonly #send: Send;
  readonly #keysByVariable: ReadonlyMap<string, string>;
  readonly #unknownKeys: string[] = [];
  readonly #unknownKey: (index: number) => string;
  #hasWaited = false;
  #end: SessionEnd | undefined;

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.startedAt = options.time ?? nodePlatform.time();
    this.maxRequests =
      options.maxRequests ?? (options.probeLimits ? defaultMaximumWithLimits : defaultMaximum);
    this.pace = options.pace ?? 0;
    this.#keysByVariable = new Map(keysInVariables(options.env));
    this.random = options.random ?? nodePlatform.random;
    this.#unknownKey = options.unknownKey ?? createUnknownKeys(options.env, this.random);
  }

  /** Why no more may be sent; `undefined` as long as more may. A signal ends a comparison that nothing else has ended. */
  get end(): SessionEnd | undefined {
    const { stop } = this.options;
    if (this.#end !== undefined || stop?.aborted !== true) return this.#end;
    return { kind: "signal", why: `it was stopped by ${stop.reason}`, message: "" };
  }

  get requestsLeft(): number {
    return Math.max(this.maxRequests - this.sent, 0);
  }

  /** Why a request was not sent as often as it takes to be sure. */
  get whyNotRepeated(): string {
    if (this.end !== undefined) return this.end.why;
    if (this.requestsLeft === 0) return `the requests ran out: --max-requests is ${this.maxRequests}`;
    if (this.working === undefined) return describeEnding("no_key");
    return "too few responses show it";
  }

  /** Sends a request, and again if its limit was waited for. */
  async send(request: PlannedRequest): Promise<SendResult> {
    const result = await this.sendOnce(request);
    if (result.kind === "not_sent" || this.end !== undefined) return result;
    const { attempt } = result;
    if (attempt.response?.status !== 429 || isLimit(attempt.outcome)) return result;
    const hasWaited = await this.#waitForLimit(attempt, attempt.response);
    return hasWaited ? this.send(request) : result;
  }

  /** Sends one request, and keeps what came of it. */
  async sendOnce(request: PlannedRequest): Promise<SendResult> {
    if (this.end === undefined && this.requestsLeft === 0) {
      this.hasRunOut = true;
      return { kind: "not_sent", why: this.whyNotRepeated };
    }
    if (this.end === undefined && this.sent > 0 && this.pace > 0) await this.wait(this.pace);
    // A signal can have ended the wait.
    const whyEnded = this.end?.why;
    if (whyEnded !== undefined) return { kind: "not_sent", why: whyEnded };

    const { outcome, variable, otherPrefix } = request;
    const earlier = this.attempts.filter((attempt) => requestName(attempt) === requestName(request));
    const apiKey = this.#keyFor(request, earlier.length);
    const now = this.options.now ?? performance.now.bind(performance);
    this.sent += 1;
    const sentAt = now();
    const reply = this.#read(await this.#send(apiKey));
    const receivedAt = now();

    // A signal cuts off a request: its reply shows nothing.
    if (this.end?.kind === "signal") return { kind: "not_sent", why: this.end.why };
    // The first response decides whether the host may get keys.
    const message = this.sent === 1 ? whyNotTheApi(reply, this.options.url, this.options.env) : undefined;
    if (message !== undefined) {
      this.#end = { kind: "not_the_api", why: "the host does not respond like the API", message };
      return { kind: "not_sent", why: this.#end.why };
    }

    const sent = { outcome, variable, ...(otherPrefix && { otherPrefix }), apiKey, sentAt, receivedAt };
    const got = isNoResponse(reply) ? { failure: reply.found } : { response: reply };
    const attempt: Attempt = { ...sent, ...got, standing: firstStanding(outcome, got.response) };
    this.attempts.push(attempt);
    return { kind: "sent", attempt };
  }

  async wait(milliseconds: number): Promise<void> {
    await this.options.wait?.(milliseconds);
  }

  /** Returns the key of a request after earlier ones: that of its variable, or a new one; `undefined` for a missing key. */
  #keyFor({ outcome, variable, otherPrefix }: PlannedRequest, earlier: number): string | undefined {
    if (variable !== undefined) {
      const apiKey = this.#keysByVariable.get(variable);
      if (!otherPrefix || apiKey === undefined) return apiKey;
      const isTest = findPrefix(apiKey)?.environment === "test";
      const ofOther = isTest ? apiKey.replace("_test_", "_live_") : apiKey.replace("_live_", "_test_");
      this.#unknownKeys.push(ofOther);
      return ofOther;
    }
    if (outcome === "401.malformed") return `not-a-key${earlier || ""}`;
    if (outcome !== "401.unknown") return undefined;

    const unknownKey = this.#unknownKey(earlier);
    this.#unknownKeys.push(unknownKey);
    return unknownKey;
  }

  /** Removes the given keys and the unknown keys from a response. A malformed key, such as `not-a-key`, is no secret. */
  #read(reply: Awaited<ReturnType<Send>>): RedactedResponse | NoResponse {
    if (isNoResponse(reply)) return reply;
    return readResponse(reply, createRedactKeys([...this.#keysByVariable.values(), ...this.#unknownKeys]));
  }

  /** Waits for a limit, or ends the comparison. Returns whether it has waited. */
  async #waitForLimit(limited: Attempt, response: RedactedResponse): Promise<boolean> {
    const wait = readWait(limited, response);
    if (wait !== undefined && wait > minute) {
      this.endAt(limited, "limit", `Try again in ${Math.ceil(wait / 1000)} s.`);
      return false;
    }
    if (wait === undefined || this.#hasWaited || this.options.wait === undefined || this.requestsLeft === 0) {
      const pace = Math.max(2 * this.pace, leastPace) / 1000;
      this.endAt(limited, "limit", `Try again later, or with --pace ${pace}s.`);
      return false;
    }

    this.#hasWaited = true;
    let then = "sends the request again";
    if (this.working !== undefined) {
      // A gateway has let all requests through in the time until its limit is over: after 10 in 5 s and a wait of 55 s, 6 s each.
      const [first = limited] = this.attempts;
      const allowedPace = (limited.sentAt - first.sentAt + wait) / (this.attempts.length - 1);
      this.pace = Math.max(this.pace, Math.ceil(allowedPace), leastPace);
      then = `goes on with one request in ${this.pace / 1000} s`;
    }
    const found = `${limited.outcome} got ${describeAttempt(limited)}`;
    this.options.announce?.(`${found}. Waits ${Math.ceil(wait / 1000)} s, and ${then}.`);
    this.notes.push(`${found}. The comparison waited.`);
    await this.wait(wait);
    return true;
  }

  /** Ends the comparison at the response to the key that works: what came since it worked last shows nothing. */
  endAtWorking(attempt: Attempt, worksSince: number): void {
    const why = `${attempt.variable}, which has worked, then got ${describeAttempt(attempt)}`;
    for (const since of this.attempts.slice(worksSince)) leaveUnjudged(since, why);
    this.endAt(attempt, "key_gone", "Try again later.");
  }

  /** Ends the comparison at a response. */
  endAt(attempt: Attempt, ending: Ending, advice: string): void {
    if (this.end !== undefined) return;
    const why = describeEnding(ending);
    const got = `${attempt.outcome} got ${describeInFull(attempt)} after ${pluralize(this.sent - 1, "request")}`;
    const message = `${why[0]?.toUpperCase()}${why.slice(1)}. ${got}, and nothing was sent after it. ${advice}`;
    this.#end = { kind: "response", why, message, attempt };
  }
}

function describeEnding(ending: Ending): string {
  const { when, suspicion } = endings[ending];
  return `${when}: ${suspicion}`;
}

/** Reads the wait of a 429 in milliseconds: a minute for a key that should work, if it names none; `undefined` if nobody knows. */
function readWait({ outcome }: Attempt, response: RedactedResponse): number | undefined {
  const retryAfter = headerOf(response, "retry-after");
  if (retryAfter === undefined) return outcomeRow(outcome).status === 200 ? minute : undefined;
  const form = retryAfterForm(retryAfter);
  if (form === "invalid") return undefined;
  if (form === "seconds") return 1000 * Number(retryAfter);
  // A date is compared with that of the response: the clocks of the two machines may differ.
  const wait = readHttpDate(retryAfter) - readHttpDate(headerOf(response, "date") ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
