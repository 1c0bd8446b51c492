import { isNoResponse } from "../../node/clients/send-once.js";
import { nodePlatform } from "../../node/platform.js";
import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { keysInVariables } from "../contract/keys-of-outcomes.js";
import { createRedactKeys, type RedactKeys } from "../response/redact-keys.js";
import { readResponse } from "../response/redacted-response.js";
import { type Recognition, recognizeApi } from "./api-recognition.js";
import type { Attempt, AttemptRequest } from "./attempt.js";
import type { CompareOptions, Send } from "./compare-options.js";
import type { Ending } from "./endings.js";
import { weighResponse } from "./evidence.js";
import { endedByResponse, type SessionProgress } from "./progress.js";

/** Enough for all causes of 401, each with a response of its own. */
const defaultMaxRequests = 60;
/** The default is raised to this at most, for a key with a large limit. */
const mostRequests = 400;

export type SendResult =
  | { readonly kind: "sent"; readonly attempt: Attempt }
  | { readonly kind: "not_sent"; readonly why: string };

/** Whether requests may still be sent. */
type Room = { readonly kind: "room" } | { readonly kind: "no_room"; readonly why: string };

/**
 * What a comparison has sent, and whether it may send more. `send` is one request and nothing else. What its response means
 * for the next requests is decided in `send-attempt.ts`.
 */
export class Session {
  readonly options: CompareOptions;
  readonly startedAt: number;
  /** Every request that was sent, in order. */
  readonly attempts: Attempt[] = [];
  /** What a reader must know of the way that the comparison took. */
  readonly notes: string[] = [];
  /** The number of requests that were sent, also of one that a signal has cut off. */
  requests = 0;
  maxRequests: number;
  /** Descriptions of suspicious responses after which the service still worked. */
  readonly harmlessResponses = new Set<string>();
  readonly #send: Send;
  /** Each key that was sent or may be sent, to be removed from every response. */
  readonly #keys: string[];
  #redact: RedactKeys;
  #pace: number;
  #hasWaited = false;
  readonly #whysNotTried = new Map<PromisedOutcomeId, string>();
  #progress: SessionProgress = { kind: "running" };

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.startedAt = options.time ?? nodePlatform.time();
    this.maxRequests = options.maxRequests ?? defaultMaxRequests;
    this.#pace = options.pace ?? 0;
    this.#keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedactKeys(this.#keys);
  }

  /** Whether more may be sent. A signal ends a comparison that nothing else has ended. */
  get progress(): SessionProgress {
    const { stop } = this.options;
    if (this.#progress.kind !== "running" || stop?.aborted !== true) return this.#progress;
    return { kind: "ended_by_signal", why: `it was stopped by ${stop.reason}` };
  }

  /** The number of requests that may still be sent. */
  requestsLeft(): number {
    return this.progress.kind === "running" ? this.maxRequests - this.requests : 0;
  }

  /** Whether the next requests may be sent; `needed` is their number with all that follow, for the reason. */
  roomFor(next: number, needed = next): Room {
    const left = this.requestsLeft();
    if (next <= left) return { kind: "room" };
    const { progress } = this;
    if (progress.kind !== "running") return { kind: "no_room", why: progress.why };
    return { kind: "no_room", why: `that takes ${needed - left} more of --max-requests` };
  }

  /** Raises the default maximum by these requests; one that the caller has set stays. */
  raiseMaxRequests(more: number): void {
    if (this.options.maxRequests !== undefined) return;
    this.maxRequests = Math.min(defaultMaxRequests + more, mostRequests);
  }

  /**
   * Why an outcome is not tried: its latest request was not sent, or its key is not at the limit. It has no meaning for an
   * outcome with a response that counts.
   */
  get whysNotTried(): ReadonlyMap<PromisedOutcomeId, string> {
    return this.#whysNotTried;
  }

  /** Keeps why an outcome is not tried, until a request for it is sent. */
  keepWhyNotTried(outcome: PromisedOutcomeId, why: string): void {
    this.#whysNotTried.set(outcome, why);
  }

  /** Whether a limit was waited for: a comparison does so once. */
  get hasWaited(): boolean {
    return this.#hasWaited;
  }

  /** Waits for a limit. */
  async waitForLimit(milliseconds: number): Promise<void> {
    this.#hasWaited = true;
    await this.options.wait?.(milliseconds);
  }

  /** Milliseconds between two requests. */
  get pace(): number {
    return this.#pace;
  }

  /** Sends the next requests with this pace, unless they already are slower. */
  slowDown(pace: number): void {
    this.#pace = Math.max(this.#pace, pace);
  }

  /** Sends a request, and keeps what came of it. */
  async send(wanted: AttemptRequest): Promise<SendResult> {
    const { outcome, variable } = wanted;
    const permission = await this.#keepPace();
    if (permission.kind === "no_room") return this.#notSent(outcome, permission.why);

    // From now on, what comes of this request is the reason.
    this.#whysNotTried.delete(outcome);
    const apiKey = variable === undefined ? this.#inventKey(outcome) : wanted.apiKey;
    const now = this.options.now ?? performance.now.bind(performance);
    this.requests += 1;
    const sentAt = now();
    const rawReply = await this.#send(apiKey);
    const reply = isNoResponse(rawReply) ? rawReply : readResponse(rawReply, this.#redact);
    const receivedAt = now();
    const progress = this.progress;
    if (progress.kind === "ended_by_signal") return this.#notSent(outcome, progress.why);

    // The first response decides whether the host may get keys.
    if (this.requests === 1) {
      const { url, env } = this.options;
      this.endUnlessApi(recognizeApi(reply, url, env), "nothing was sent after the first request");
    }

    const nth = this.#countAttempts(outcome) + 1;
    const request = { outcome, nth, apiKey, variable, sentAt, receivedAt };
    let attempt: Attempt;
    if (isNoResponse(reply)) {
      attempt = { ...request, noResponse: reply.found, evidence: { kind: "counts" } };
    } else {
      attempt = { ...request, response: reply, evidence: weighResponse(request, reply, this.attempts) };
    }
    this.attempts.push(attempt);
    return { kind: "sent", attempt };
  }

  /** Waits until the next request may be sent, unless there is none. */
  async #keepPace(): Promise<Room> {
    const before = this.progress;
    if (before.kind !== "running") return { kind: "no_room", why: before.why };
    if (this.requests >= this.maxRequests) {
      return { kind: "no_room", why: `the ${this.maxRequests} requests of --max-requests are used up` };
    }

    if (this.requests > 0 && this.#pace > 0) await this.options.wait?.(this.#pace);
    const after = this.progress;
    if (after.kind !== "running") return { kind: "no_room", why: after.why };
    return { kind: "room" };
  }

  #notSent(outcome: PromisedOutcomeId, why: string): SendResult {
    this.keepWhyNotTried(outcome, why);
    return { kind: "not_sent", why };
  }

  /** The key for an outcome that needs none of the server's, another one each time; none for a missing key. */
  #inventKey(outcome: PromisedOutcomeId): string | undefined {
    const index = this.#countAttempts(outcome);
    if (outcome === "401.malformed") return index === 0 ? "not-a-key" : `not-a-key${index}`;
    if (outcome === "401.unknown") return this.#inventUnknownKey(index);
    return undefined;
  }

  #inventUnknownKey(index: number): string {
    const apiKey = this.options.unknownKey(index);
    this.#keys.push(apiKey);
    this.#redact = createRedactKeys(this.#keys);
    return apiKey;
  }

  #countAttempts(outcome: PromisedOutcomeId): number {
    return this.attempts.filter((attempt) => attempt.outcome === outcome).length;
  }

  /** Ends the comparison before it sends a key, if the responses cannot be the API's. */
  endUnlessApi(recognition: Recognition, why: string): void {
    if (recognition.kind === "may_be_the_api") return;
    this.#end({ kind: "not_compared", why, message: recognition.message });
  }

  /** Ends the comparison because of a 429 that is not a key's own limit. */
  endByLimit(limited: Attempt, detail = ""): void {
    const { evidence } = limited;
    const why = evidence.kind === "counts" ? "" : ` ${evidence.why}`;
    this.endByResponse(limited, "limit", `${why}${detail}`);
  }

  /** Ends the comparison because of a response; `detail` is what to add to the response in words. */
  endByResponse(attempt: Attempt, ending: Ending, detail: string): void {
    this.#end(endedByResponse(attempt, ending, detail));
  }

  /** The first end of a comparison is the one that counts. */
  #end(progress: SessionProgress): void {
    if (this.progress.kind === "running") this.#progress = progress;
  }
}
