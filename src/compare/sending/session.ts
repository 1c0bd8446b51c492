import { isNoResponse, type NoResponse, type RawResponse } from "../../node/clients/send-once.js";
import { nodePlatform } from "../../node/platform.js";
import { findPrefix } from "../../rules/keys/key-text.js";
import { keysInVariables, type PlannedRequest, type Variables } from "../contract/keys-of-outcomes.js";
import { createRedactKeys, type RedactedResponse, readResponse } from "../response/response.js";
import { whyNotTheApi } from "./api-recognition.js";
import { type Attempt, describeAttempt, type SendResult } from "./attempt.js";

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 60, and with `probeLimits` the requests of two minutes of a key more, up to 400. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Milliseconds between two requests, for which `wait` is needed. Default: 0. */
  readonly pace?: number | undefined;
  /** Gets a sentence before a key's minute is used up, and before a wait for a limit. */
  readonly announce?: (sentence: string) => void;
  /** Waits for these milliseconds, or until `stop`. Default: nothing is waited for, and a limit ends the comparison. */
  readonly wait?: (milliseconds: number) => Promise<void>;
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
  /** The time of the comparison, in milliseconds since 1970. Default: now. */
  readonly time?: number;
  /** Makes a well-formed but unknown key, another one each time; `index` counts the unknown keys from 0. */
  readonly unknownKey: (index: number) => string;
  /** Chooses the random order of the 401s. Default: 1. */
  readonly seed?: number;
  /** Ends the comparison with what it has, also during a request; its reason is the name of a signal. */
  readonly stop?: AbortSignal;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;

/** The responses that end a comparison, with what may have sent them. `docs/compare.md` has this table. */
export const endings = {
  outage: {
    when: "a wrong response twice, if a request without a key, or one with a key that has worked, then no longer gets what it got before",
    suspicion: "an outage, a lock or a limit",
  },
  no_key: {
    when: "a 401 to the first key that should work, and to the next one",
    suspicion: "a wrong key, or a lock",
  },
  limit: {
    when: "a 429 that was not asked for: the second one, or one that cannot be waited for",
    suspicion: "a lock, or another limiter",
  },
  shared_limit: {
    when: "a 429 to another key, after a key has reached its limit: a difference (R25)",
    suspicion: "a limit of the organization",
  },
} as const;

export type Ending = keyof typeof endings;

/** Enough for all causes of 401, each with a response of its own. */
const defaultMaximum = 60;
/** The default is raised to this at most, for a key with a large limit. */
const highestDefault = 400;

/** Why no more is sent, even if requests are left. */
interface SessionEnd {
  /** `not_the_api`: the host does not respond, or not like the API. `response`: an outage, a lock or a limit may have sent it. */
  readonly kind: "not_the_api" | "response" | "signal";
  /** For the outcomes that were not tried any more: `nothing was sent after 200.test got 500`. */
  readonly why: string;
  /** One or two sentences for the reader; empty for a signal. */
  readonly message: string;
  /** The one whose response ended it. */
  readonly attempt?: Attempt;
}

/** What a comparison has sent, and whether it may send more. Nothing is decided here but who may get a key. */
export class Session {
  readonly options: CompareOptions;
  readonly startedAt: number;
  readonly attempts: Attempt[] = [];
  /** Responses that were not as promised, and that did not come again. */
  readonly failures: Attempt[] = [];
  /** Responses that were not as promised, each time. */
  readonly surprises: Attempt[] = [];
  /** What a reader must know of the way that the comparison took. */
  readonly notes: string[] = [];
  /** The number of requests that were sent, also of one that a signal has cut off. */
  sent = 0;
  maxRequests: number;
  pace: number;
  /** A comparison waits for a limit once. */
  hasWaited = false;
  readonly #send: Send;
  readonly #keysByVariable: ReadonlyMap<string, string>;
  readonly #unknownKeys: string[] = [];
  #end: SessionEnd | undefined;

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.startedAt = options.time ?? nodePlatform.time();
    this.maxRequests = options.maxRequests ?? defaultMaximum;
    this.pace = options.pace ?? 0;
    this.#keysByVariable = new Map(keysInVariables(options.env));
  }

  /** Why no more may be sent; `undefined` as long as more may. A signal ends a comparison that nothing else has ended. */
  get end(): SessionEnd | undefined {
    const { stop } = this.options;
    if (this.#end !== undefined || stop?.aborted !== true) return this.#end;
    return { kind: "signal", why: `it was stopped by ${stop.reason}`, message: "" };
  }

  get requestsLeft(): number {
    return this.maxRequests - this.sent;
  }

  /** Returns why so many requests may not be sent; `undefined` if they may. */
  whyNotSend(count: number): string | undefined {
    if (this.end !== undefined) return this.end.why;
    const missing = count - this.requestsLeft;
    return missing > 0 ? `that takes ${missing} more of --max-requests` : undefined;
  }

  /** Raises the default maximum by these requests; a maximum that the caller has set stays. */
  raiseDefaultMaximum(more: number): void {
    if (this.options.maxRequests !== undefined) return;
    this.maxRequests = Math.min(defaultMaximum + more, highestDefault);
  }

  /** Sends one request, and keeps what came of it. What follows from its response is decided in `send.ts`. */
  async sendOnce(request: PlannedRequest): Promise<SendResult> {
    const whyNot = await this.#waitForPermission();
    if (whyNot !== undefined) return { kind: "not_sent", why: whyNot };

    const { outcome, variable, otherPrefix } = request;
    const nth = this.attempts.filter((attempt) => attempt.outcome === outcome).length + 1;
    const apiKey = this.#keyFor(request, nth);
    const now = this.options.now ?? performance.now.bind(performance);
    this.sent += 1;
    const sentAt = now();
    const reply = this.#read(await this.#send(apiKey));
    const receivedAt = now();

    // A signal cuts off a request: its reply shows nothing.
    if (this.end?.kind === "signal") return { kind: "not_sent", why: this.end.why };
    // The first response decides whether the host may get keys.
    if (this.sent === 1) {
      const { url, env } = this.options;
      this.endIfNotTheApi(whyNotTheApi(reply, url, env), "nothing was sent after the first request");
    }

    const sent = { outcome, variable, ...(otherPrefix && { otherPrefix }), apiKey, nth, sentAt, receivedAt };
    const attempt: Attempt = isNoResponse(reply)
      ? { ...sent, noResponse: reply.found }
      : { ...sent, response: reply };
    this.attempts.push(attempt);
    return { kind: "sent", attempt };
  }

  async #waitForPermission(): Promise<string | undefined> {
    if (this.end === undefined && this.requestsLeft <= 0) {
      return `the ${this.maxRequests} requests of --max-requests are used up`;
    }
    if (this.end === undefined && this.sent > 0 && this.pace > 0) await this.options.wait?.(this.pace);
    // A signal can have ended the wait.
    return this.end?.why;
  }

  keyOf(variable: string | undefined): string | undefined {
    return variable === undefined ? undefined : this.#keysByVariable.get(variable);
  }

  /** Returns the key of the nth request for an outcome: that of its variable, or a new one; `undefined` for a missing key. */
  #keyFor({ outcome, variable, otherPrefix }: PlannedRequest, nth: number): string | undefined {
    if (variable !== undefined) {
      const apiKey = this.keyOf(variable);
      if (!otherPrefix || apiKey === undefined) return apiKey;
      const isTest = findPrefix(apiKey)?.environment === "test";
      const ofOther = isTest ? apiKey.replace("_test_", "_live_") : apiKey.replace("_live_", "_test_");
      this.#unknownKeys.push(ofOther);
      return ofOther;
    }
    if (outcome === "401.malformed") return nth === 1 ? "not-a-key" : `not-a-key${nth - 1}`;
    if (outcome !== "401.unknown") return undefined;

    const unknownKey = this.options.unknownKey(nth - 1);
    this.#unknownKeys.push(unknownKey);
    return unknownKey;
  }

  /** Removes the given keys and the unknown keys from a response. A malformed key, such as `not-a-key`, is no secret. */
  #read(reply: Awaited<ReturnType<Send>>): RedactedResponse | NoResponse {
    if (isNoResponse(reply)) return reply;
    return readResponse(reply, createRedactKeys([...this.#keysByVariable.values(), ...this.#unknownKeys]));
  }

  /** Keeps what a service did only now and then. It is told, and nothing of it is judged. */
  addFailure(failed: Attempt, later: Attempt): void {
    failed.whyUnjudged = `one response was ${describeAttempt(failed)}, and a later one ${describeAttempt(later)}`;
    this.failures.push(failed);
  }

  /** Ends the comparison before it sends a key, if a message tells why the responses cannot be the API's. */
  endIfNotTheApi(message: string | undefined, why: string): void {
    if (message !== undefined) this.#end ??= { kind: "not_the_api", why, message };
  }

  /** Ends the comparison at a response. `got` describes it with what tells more: `502; a request without a key then got 502`. */
  endAt(attempt: Attempt, ending: Ending, got: string, advice = "Try again later."): void {
    if (this.end !== undefined) return;
    const { outcome } = attempt;
    this.#end = {
      kind: "response",
      why: `nothing was sent after ${outcome} got ${describeAttempt(attempt)}`,
      message: `${outcome} got ${got}. Nothing was sent after it: it may be ${endings[ending].suspicion}. ${advice}`,
      attempt,
    };
  }
}
