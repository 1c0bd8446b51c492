import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import { nodePlatform } from "../node/platform.js";
import { pluralize } from "../report/plain-text.js";
import { findPrefix } from "../rules/keys/key-text.js";
import { outcomeRow } from "../rules/outcomes.js";
import type { RandomStream } from "../rules/seed.js";
import { isMapping } from "../schema/type-tag.js";
import { whyNotTheApi } from "./api-recognition.js";
import type { Unjudged } from "./findings.js";
import { createUnknownKeys, keysInVariables, type PlannedRequest, type Variables } from "./keys.js";
import { describeResponse, headerOf, memberIn } from "./read-response.js";
import { createRedactKeys, quoted, type RedactedResponse, readResponse, shownText } from "./response.js";

// What a comparison has sent, and whether it may send more. What follows from a response is decided in `send.ts`.

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 60, and with `probeLimits` the requests of two minutes of a key more, up to 400. */
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

/** What ends a comparison, and what it may be. `docs/compare.md` has this table. */
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

/** Enough for all causes of 401, each with a response of its own. */
const defaultMaximum = 60;
/** The default is raised to this at most, for a key with a large limit. */
const highestDefault = 400;

/** Why no more is sent, even if requests are left. */
export interface SessionEnd {
  /** `not_the_api`: the host does not respond, or not like the API. `response`: an outage, a lock or a limit may have sent it. */
  readonly kind: "not_the_api" | "response" | "signal";
  /** For the outcomes that were not tried any more. */
  readonly why: string;
  /** One or two sentences for the reader; empty for a signal. */
  readonly message: string;
  /** The one whose response ended it. */
  readonly attempt?: Attempt;
}

export class Session {
  readonly options: CompareOptions;
  readonly startedAt: number;
  readonly attempts: Attempt[] = [];
  /** What was not tried, or not compared. */
  readonly unjudged: Unjudged[] = [];
  /** What a reader must know of the way that the comparison took. */
  readonly notes: string[] = [];
  /** The number of requests that were sent, also of one that a signal has cut off. */
  sent = 0;
  maxRequests: number;
  /** Whether a request was not sent, because none was left. */
  hasRunOut = false;
  pace: number;
  /** A comparison waits for a limit once. */
  hasWaited = false;
  /** The first given key that has worked, and the number of attempts when it did last; `undefined` as long as none has. */
  working: { readonly request: PlannedRequest; worksSince: number } | undefined;
  readonly random: RandomStream;
  readonly #send: Send;
  readonly #keysByVariable: ReadonlyMap<string, string>;
  readonly #unknownKeys: string[] = [];
  readonly #unknownKey: (index: number) => string;
  #end: SessionEnd | undefined;

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.startedAt = options.time ?? nodePlatform.time();
    this.maxRequests = options.maxRequests ?? defaultMaximum;
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
    return this.maxRequests - this.sent;
  }

  /** Why a request was not sent as often as it takes to be sure. */
  get whyNotRepeated(): string {
    if (this.end !== undefined) return this.end.why;
    if (this.requestsLeft <= 0) return this.#whyRanOut;
    if (this.working === undefined) return describeEnding("no_key");
    return "too few of its responses show it";
  }

  get #whyRanOut(): string {
    return `the requests ran out: --max-requests is ${this.maxRequests}`;
  }

  /** Raises the default maximum by these requests; a maximum that the caller has set stays. */
  raiseDefaultMaximum(more: number): void {
    if (this.options.maxRequests !== undefined) return;
    this.maxRequests = Math.min(defaultMaximum + more, highestDefault);
  }

  /** Sends one request, and keeps what came of it. */
  async sendOnce(request: PlannedRequest): Promise<SendResult> {
    const whyNot = await this.#waitForPermission();
    if (whyNot !== undefined) return { kind: "not_sent", why: whyNot };

    const { outcome, variable, otherPrefix } = request;
    const earlier = this.attempts.filter((attempt) => requestName(attempt) === requestName(request));
    const nth = earlier.length + 1;
    const apiKey = this.#keyFor(request, nth);
    const now = this.options.now ?? performance.now.bind(performance);
    this.sent += 1;
    const sentAt = now();
    const reply = this.#read(await this.#send(apiKey));
    const receivedAt = now();

    // A signal cuts off a request: its reply shows nothing.
    if (this.end?.kind === "signal") return { kind: "not_sent", why: this.end.why };
    // The first response decides whether the host may get keys.
    if (this.sent === 1) this.endIfNotTheApi(whyNotTheApi(reply, this.options.url, this.options.env));

    const sent = { outcome, variable, ...(otherPrefix && { otherPrefix }), apiKey, nth, sentAt, receivedAt };
    const got = isNoResponse(reply) ? { noResponse: reply.found } : { response: reply };
    const attempt: Attempt = { ...sent, ...got };
    this.attempts.push(attempt);
    return { kind: "sent", attempt };
  }

  async #waitForPermission(): Promise<string | undefined> {
    if (this.end === undefined && this.requestsLeft <= 0) {
      this.hasRunOut = true;
      return this.#whyRanOut;
    }
    if (this.end === undefined && this.sent > 0 && this.pace > 0) await this.wait(this.pace);
    // A signal can have ended the wait.
    return this.end?.why;
  }

  async wait(milliseconds: number): Promise<void> {
    await this.options.wait?.(milliseconds);
  }

  /** Returns the key of the nth request for an outcome: that of its variable, or a new one; `undefined` for a missing key. */
  #keyFor({ outcome, variable, otherPrefix }: PlannedRequest, nth: number): string | undefined {
    if (variable !== undefined) {
      const apiKey = this.#keysByVariable.get(variable);
      if (!otherPrefix || apiKey === undefined) return apiKey;
      const isTest = findPrefix(apiKey)?.environment === "test";
      const ofOther = isTest ? apiKey.replace("_test_", "_live_") : apiKey.replace("_live_", "_test_");
      this.#unknownKeys.push(ofOther);
      return ofOther;
    }
    if (outcome === "401.malformed") return nth === 1 ? "not-a-key" : `not-a-key${nth - 1}`;
    if (outcome !== "401.unknown") return undefined;

    const unknownKey = this.#unknownKey(nth - 1);
    this.#unknownKeys.push(unknownKey);
    return unknownKey;
  }

  /** Removes the given keys and the unknown keys from a response. A malformed key, such as `not-a-key`, is no secret. */
  #read(reply: Awaited<ReturnType<Send>>): RedactedResponse | NoResponse {
    if (isNoResponse(reply)) return reply;
    return readResponse(reply, createRedactKeys([...this.#keysByVariable.values(), ...this.#unknownKeys]));
  }

  /** Ends the comparison before it sends a key, if a message tells why the responses cannot be the API's. */
  endIfNotTheApi(message: string | undefined): void {
    if (message === undefined) return;
    this.#end ??= { kind: "not_the_api", why: "the host does not respond like the API", message };
  }

  /** Ends the comparison at a response. */
  endAt(attempt: Attempt, ending: Ending, advice: string): void {
    if (this.end !== undefined) return;
    const why = describeEnding(ending);
    const got = `${attempt.outcome} got ${describeWhole(attempt)} after ${pluralize(this.sent - 1, "request")}`;
    const message = `${why[0]?.toUpperCase()}${why.slice(1)}. ${got}, and nothing was sent after it. ${advice}`;
    this.#end = { kind: "response", why, message, attempt };
  }
}

function describeEnding(ending: Ending): string {
  const { when, suspicion } = endings[ending];
  return `${when}: ${suspicion}`;
}

// What came of a request.

/** A request that was sent, and what came of it. */
export interface Attempt extends PlannedRequest {
  /** The key that was sent, that of the variable or one that the session has made. Never printed. */
  readonly apiKey?: string | undefined;
  /** Its number among the same requests, from 1. */
  readonly nth: number;
  /** On the comparison's own clock, in milliseconds: the server's clocks may differ. */
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly response?: RedactedResponse;
  /** Why there is no response: an attempt has either this or a response. */
  readonly noResponse?: string;
  /** Why it shows nothing of its outcome; `undefined` if it is judged. */
  whyUnjudged?: string | undefined;
}

export type CompletedAttempt = Attempt & { readonly response: RedactedResponse };

/** What came of a request: an attempt, or why it was not sent. */
export type SendResult =
  | { readonly kind: "sent"; readonly attempt: Attempt }
  | { readonly kind: "not_sent"; readonly why: string };

/** Whether a response is a 200 with a mapping: an outage or a lock does not send it, whoever should have got it. */
export function hasData(response: RedactedResponse | undefined): boolean {
  return response?.status === 200 && isMapping(response.json);
}

/** Whether the service itself has responded: an outage, a lock or a gateway is no part of the contract. */
export function isOfTheService({ response, whyUnjudged }: Attempt): boolean {
  return whyUnjudged === undefined || hasData(response);
}

/** Tells the requests of a comparison apart: that of an outcome, and an unknown key with the other prefix. */
export function requestName({ outcome, otherPrefix }: PlannedRequest): string {
  return otherPrefix ? `${outcome} after the other prefix` : outcome;
}

/** Returns the attempts of each request, in the order of their first ones. */
export function groupByRequest<One extends Attempt>(attempts: readonly One[]): [One, ...One[]][] {
  const groups = new Map<string, [One, ...One[]]>();
  for (const attempt of attempts) {
    const name = requestName(attempt);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [attempt]);
    else group.push(attempt);
  }
  return [...groups.values()];
}

/** Whether an attempt got a 200 of the service, also with a key that should be rejected. */
export function got200(attempt: Attempt): attempt is CompletedAttempt {
  return hasData(attempt.response);
}

/** The 200s of the keys that should get one. */
export function rightful200s(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter(got200).filter(({ outcome }) => outcomeRow(outcome).status === 200);
}

/** Whether an attempt got the status of its outcome, and its response is judged: no outage or lock may have sent it. */
export function reachedItsOutcome(attempt: Attempt): attempt is CompletedAttempt {
  const { outcome, response, whyUnjudged } = attempt;
  return response?.status === outcomeRow(outcome).status && whyUnjudged === undefined;
}

/** Describes the response of an attempt: `401 unauthorized`. */
export function describeAttempt({ response, noResponse }: Attempt): string {
  return response === undefined ? `no response: ${noResponse}` : describeResponse(response);
}

/** The same with the words of an error, and how long to wait: what a lock says of itself. */
function describeWhole(attempt: Attempt): string {
  const { response } = attempt;
  const words = [describeAttempt(attempt)];
  if (response === undefined) return describeAttempt(attempt);
  const message = memberIn(response, ["error", "message"]);
  if (typeof message === "string" && message !== "") words.push(quoted(message));
  const retryAfter = headerOf(response, "retry-after");
  if (retryAfter !== undefined) words.push(`(Retry-After: ${shownText(retryAfter)})`);
  return words.join(" ");
}

/** The same with the request id, by which an owner of the service finds it. */
export function describeWithId(attempt: Attempt): string {
  const id = attempt.response && headerOf(attempt.response, "x-request-id");
  return id ? `${describeWhole(attempt)}, request ${shownText(id)}` : describeWhole(attempt);
}
