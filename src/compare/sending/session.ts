import { isNoResponse, type NoResponse } from "../../node/clients/send-once.js";
import { nodePlatform } from "../../node/platform.js";
import { type RedactedResponse, readResponse } from "../response/redacted-response.js";
import { type Recognition, recognizeApi } from "./api-recognition.js";
import { type Attempt, type AttemptRequest, describeAttempt } from "./attempt.js";
import type { CompareOptions, Send } from "./compare-options.js";
import type { Ending } from "./endings.js";
import { weighResponse } from "./evidence.js";
import { Pacing } from "./pacing.js";
import { endedByResponse, type SessionProgress } from "./progress.js";
import { RequestBudget } from "./request-budget.js";
import { RequestKeys } from "./request-keys.js";

export type SendResult =
  | { readonly kind: "sent"; readonly attempt: Attempt }
  | { readonly kind: "not_sent"; readonly why: string };

/** Whether requests may be sent. */
type Permission = { readonly kind: "granted" } | { readonly kind: "refused"; readonly why: string };

/** What came of one request, by the comparison's own clock in milliseconds. */
interface TimedReply {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly reply: RedactedResponse | NoResponse;
}

/**
 * What a comparison has sent, and whether it may send more. `send` is one request, whose response is weighed by the requests
 * before it. Only the first response can end the comparison here: whether a later one does is decided by who has sent it.
 */
export class Session {
  readonly options: CompareOptions;
  readonly startedAt: number;
  readonly budget: RequestBudget;
  readonly pacing: Pacing;
  /** Every request that was sent, in order. */
  readonly attempts: Attempt[] = [];
  /** What a reader must know of the way that the comparison took. */
  readonly notes: string[] = [];
  readonly #send: Send;
  readonly #keys: RequestKeys;
  #progress: SessionProgress = { kind: "running" };

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.startedAt = options.time ?? nodePlatform.time();
    this.budget = new RequestBudget(options.maxRequests);
    this.pacing = new Pacing(options);
    this.#keys = new RequestKeys(options);
  }

  /** Whether more may be sent. A signal ends a comparison that nothing else has ended. */
  get progress(): SessionProgress {
    const { stop } = this.options;
    if (this.#progress.kind !== "running" || stop?.aborted !== true) return this.#progress;
    return { kind: "ended_by_signal", why: `it was stopped by ${stop.reason}` };
  }

  /** Whether so many requests may be sent. */
  mayStillSend(count: number): Permission {
    const { progress, budget } = this;
    if (progress.kind !== "running") return { kind: "refused", why: progress.why };
    if (count > budget.left) return { kind: "refused", why: budget.describeLack(count) };
    return { kind: "granted" };
  }

  /** Sends a request, and keeps what came of it. */
  async send(request: AttemptRequest): Promise<SendResult> {
    const permission = await this.#waitForPermission();
    if (permission.kind === "refused") return { kind: "not_sent", why: permission.why };

    const { outcome, variable } = request;
    const earlier = this.attempts.filter((attempt) => attempt.outcome === outcome);
    const nth = earlier.length + 1;
    const apiKey = this.#keys.keyFor(request, nth);
    const { sentAt, receivedAt, reply } = await this.#sendWithKey(apiKey);
    // A signal cuts off a request: its reply shows nothing.
    const { progress } = this;
    if (progress.kind === "ended_by_signal") return { kind: "not_sent", why: progress.why };

    // The first response decides whether the host may get keys.
    if (this.budget.sent === 1) {
      const { url, env } = this.options;
      this.endIfNotTheApi(recognizeApi(reply, url, env), "nothing was sent after the first request");
    }

    const sent = { outcome, nth, apiKey, variable, sentAt, receivedAt };
    let attempt: Attempt;
    if (isNoResponse(reply)) {
      attempt = { ...sent, noResponse: reply.found, evidence: { kind: "judged" } };
    } else {
      attempt = { ...sent, response: reply, evidence: weighResponse(sent, reply, this.attempts) };
    }
    this.attempts.push(attempt);
    return { kind: "sent", attempt };
  }

  /** Waits until the next request may be sent, unless no more may be. */
  async #waitForPermission(): Promise<Permission> {
    const { progress, budget } = this;
    if (progress.kind !== "running") return { kind: "refused", why: progress.why };
    if (budget.left <= 0) {
      return { kind: "refused", why: `the ${budget.maximum} requests of --max-requests are used up` };
    }
    if (budget.sent > 0) await this.pacing.waitForNext();
    // A signal can have ended the wait.
    return this.mayStillSend(1);
  }

  async #sendWithKey(apiKey: string | undefined): Promise<TimedReply> {
    const now = this.options.now ?? performance.now.bind(performance);
    this.budget.sent += 1;
    const sentAt = now();
    const rawReply = await this.#send(apiKey);
    const reply = isNoResponse(rawReply) ? rawReply : readResponse(rawReply, this.#keys.redact);
    return { sentAt, receivedAt: now(), reply };
  }

  /** Ends the comparison before it sends a key, if the responses cannot be the API's. */
  endIfNotTheApi(recognition: Recognition, why: string): void {
    if (recognition.kind === "may_be_the_api") return;
    this.#end({ kind: "not_the_api", why, message: recognition.message });
  }

  /** Ends the comparison because of a response. `got` describes it with what tells more: `401: locked after 5 requests`. */
  endByResponse(attempt: Attempt, ending: Ending, got = describeAttempt(attempt)): void {
    this.#end(endedByResponse(attempt, ending, got));
  }

  /** The first end of a comparison is the one that counts. */
  #end(progress: SessionProgress): void {
    if (this.progress.kind === "running") this.#progress = progress;
  }
}
