import { isNoResponse, type NoResponse, type RawResponse } from "../../node/clients/send-once.js";
import { nodePlatform } from "../../node/platform.js";
import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import {
  type ContractOutcome,
  findKey,
  keysInVariables,
  type Variables,
} from "../contract/keys-of-outcomes.js";
import { createRedactKeys, type RedactKeys } from "../response/redact-keys.js";
import { type RedactedResponse, readResponse } from "../response/redacted-response.js";
import { type Recognition, recognizeApi, recognizeApiInAll } from "./api-recognition.js";
import {
  type Attempt,
  type AttemptRequest,
  describeAttempt,
  type Evidence,
  type Room,
  type SendResult,
  withoutKey,
} from "./attempt.js";
import { type Ending, endings } from "./endings.js";
import { weighResponse } from "./evidence.js";
import { collectOutage, findOutageSign } from "./outages.js";
import { waitForLimit } from "./waits.js";

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 60, and with `probeLimits` two minutes of a key more. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Milliseconds between two requests. Default: 0. */
  readonly pace?: number | undefined;
  /** Gets a sentence before a key's minute is used up, and before a wait for a limit. */
  readonly announce?: (sentence: string) => void;
  /** Waits for these milliseconds, or until `stop`. Default: nothing is waited for, and a limit ends the comparison. */
  readonly wait?: (milliseconds: number) => Promise<void>;
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
  /** The time of the comparison, in milliseconds since 1970. Default: now. */
  readonly time?: number;
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
  /** Ends the comparison with what it has, also during a request; its reason is the name of a signal. */
  readonly stop?: AbortSignal;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;

/** The host does not respond, or not like the API. */
export interface NotTheApi {
  readonly kind: "not_compared";
  readonly why: string;
  /** In one or two sentences. */
  readonly message: string;
}

/** Whether more may be sent; `why` is why not, even if requests are left. */
export type SessionProgress =
  | { readonly kind: "running" }
  | NotTheApi
  | {
      readonly kind: "ended_by_response";
      readonly why: string;
      readonly by: PromisedOutcomeId;
      readonly note: string;
    }
  | { readonly kind: "ended_by_signal"; readonly why: string };

/** Enough for all causes of 401, each with a response of its own. */
const defaultMaxRequests = 60;
/** The default for a key with a large limit. */
const mostRequests = 400;
/** A comparison sends fewer unknown keys. */
const maxUnknownKeys = 24;

/** Sends the requests of a comparison, keeps what came of each, and ends it if the service may be down or lock us out. */
export class Session {
  readonly options: CompareOptions;
  readonly startedAt: number;
  /** Every request that was sent, in order. */
  readonly attempts: Attempt[] = [];
  /** What a reader must know of the way that the comparison took. */
  readonly notes: string[] = [];
  /** Why an outcome was not tried, or not to its end. */
  readonly untried = new Map<PromisedOutcomeId, string>();
  /** The number of requests that were sent. */
  requests = 0;
  maxRequests: number;
  /** Milliseconds between two requests. */
  pace: number;
  /** Whether a limit was waited for: a comparison does so once. */
  hasWaited = false;
  readonly #send: Send;
  readonly #unknownKeys: readonly string[];
  readonly #redact: RedactKeys;
  #progress: SessionProgress = { kind: "running" };
  /** Descriptions of suspicious responses after which the service still worked. */
  readonly #noOutages = new Set<string>();

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.startedAt = options.time ?? nodePlatform.time();
    this.maxRequests = options.maxRequests ?? defaultMaxRequests;
    this.pace = options.pace ?? 0;
    this.#unknownKeys = Array.from({ length: maxUnknownKeys }, (_, index) => options.unknownKey(index));
    const keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedactKeys([...keys, ...this.#unknownKeys]);
  }

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

  /** Sends the first request for an outcome, unless no variable has its key. */
  async tryOutcome(row: ContractOutcome): Promise<SendResult> {
    const { outcome, variables } = row;
    if (variables.length === 0) return this.attempt({ outcome });

    const key = findKey(row, this.options.env);
    if (key.kind === "no_key") return this.#notSent(outcome, key.why);
    return this.attempt({ outcome, apiKey: key.apiKey, variable: key.variable });
  }

  /** Notes why an outcome was not tried, or not to its end. */
  skip(outcome: PromisedOutcomeId, why: string): void {
    this.untried.set(outcome, why);
  }

  #notSent(outcome: PromisedOutcomeId, why: string): SendResult {
    this.skip(outcome, why);
    return { kind: "not_sent", why };
  }

  /** Sends the request for an outcome again, with another key if that is not the server's. */
  async repeat({ outcome, apiKey, variable }: Attempt): Promise<SendResult> {
    return this.attempt({ outcome, apiKey, variable });
  }

  /** Waits for a limit. */
  async wait(milliseconds: number): Promise<void> {
    this.hasWaited = true;
    await this.options.wait?.(milliseconds);
  }

  /**
   * Sends a request, and keeps what came of it; once, it waits for a limit that was not asked for, and sends the request
   * again. Ends the comparison if the service limits or locks the address, or may be down.
   */
  async attempt(wanted: AttemptRequest): Promise<SendResult> {
    const result = await this.#sendOne(wanted);
    if (result.kind === "not_sent" || this.progress.kind !== "running") return result;
    const { attempt } = result;
    const { kind } = attempt.evidence;
    if (kind === "another_limit" || kind === "used_up") {
      return { kind: "sent", attempt: await waitForLimit(this, attempt) };
    }
    await this.#endAtOutage(attempt);
    return result;
  }

  /** Sends a request whose response tells what an earlier one shows. A 429 is left to the caller. */
  async control(wanted: AttemptRequest): Promise<SendResult> {
    const result = await this.#sendOne(wanted);
    if (result.kind === "sent" && result.attempt.response?.status !== 429) {
      await this.#endAtOutage(result.attempt);
    }
    return result;
  }

  /** Sends a request, and keeps what came of it. Later requests can take back what it shows. */
  async #sendOne(wanted: AttemptRequest): Promise<SendResult> {
    const { outcome, variable } = wanted;
    const permission = await this.#keepPace();
    if (permission.kind === "no_room") return this.#notSent(outcome, permission.why);

    this.untried.delete(outcome);
    const apiKey = variable === undefined ? this.#inventKey(outcome) : wanted.apiKey;
    const now = this.options.now ?? performance.now.bind(performance);
    const sentAt = now();
    const reply = await this.#ask(apiKey);
    const receivedAt = now();
    const progress = this.progress;
    if (progress.kind === "ended_by_signal") return this.#notSent(outcome, progress.why);

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

    if (this.requests > 0 && this.pace > 0) await this.options.wait?.(this.pace);
    const after = this.progress;
    if (after.kind !== "running") return { kind: "no_room", why: after.why };
    return { kind: "room" };
  }

  /** The key for an outcome that needs none of the server's, another one each time; none for a missing key. */
  #inventKey(outcome: PromisedOutcomeId): string | undefined {
    const index = this.#countAttempts(outcome);
    if (outcome === "401.malformed") return index === 0 ? "not-a-key" : `not-a-key${index}`;
    if (outcome === "401.unknown") return this.#unknownKeys[index];
    return undefined;
  }

  #countAttempts(outcome: PromisedOutcomeId): number {
    return this.attempts.filter((one) => one.outcome === outcome).length;
  }

  /** Sends a request, and removes every key from its response. */
  async #ask(apiKey: string | undefined): Promise<RedactedResponse | NoResponse> {
    this.requests += 1;
    const reply = await this.#send(apiKey);
    const response = isNoResponse(reply) ? reply : readResponse(reply, this.#redact);

    // The first response decides whether the host may get keys.
    const isStopped = this.options.stop?.aborted === true;
    if (this.requests === 1 && !isStopped) {
      const why = "nothing was sent after the first request";
      this.#endUnlessApi(recognizeApi(response, this.options.url, this.options.env), why);
    }
    return response;
  }

  /** Ends the comparison before the first key, if no response without one is like the API's. */
  requireApi(): void {
    if (this.progress.kind !== "running") return;
    const why = "nothing was sent after the requests without a working key";
    this.#endUnlessApi(recognizeApiInAll(this.attempts, this.options.url), why);
  }

  #endUnlessApi(recognition: Recognition, why: string): void {
    if (recognition.kind === "may_be_the_api") return;
    this.#progress = { kind: "not_compared", why, message: recognition.message };
  }

  /** Ends the comparison if the latest responses may be those of an outage or a lock. */
  async #endAtOutage(attempt: Attempt): Promise<void> {
    if (this.progress.kind !== "running") return;
    const sign = findOutageSign(this.attempts);
    if (sign.kind === "ended") {
      this.#endWithOutage(attempt, sign.ending, sign.detail);
      return;
    }
    const description = describeAttempt(attempt);
    if (sign.kind === "none" || this.#noOutages.has(description)) return;

    // Without a key, no rejected key or lock of one can be the reason for the response.
    const control = await this.#sendOne(withoutKey);
    if (control.kind === "not_sent") {
      this.#endWithOutage(attempt, "outage", "; no request without a key could follow it");
      return;
    }

    const status = control.attempt.response?.status;
    if (status === 429) {
      // Nobody can tell whether the service still works: what led to this request shows nothing.
      this.endByLimit(control.attempt);
      const untilControl = this.attempts.slice(0, -1);
      takeBack(collectOutage(untilControl, "outage"));
      return;
    }

    // A service that works responds as it did at first.
    const statusAtFirst = this.attempts[0]?.response?.status;
    const works = status !== undefined && (status === 401 || status === statusAtFirst);
    if (works) {
      this.#noOutages.add(description);
      return;
    }
    const got = describeAttempt(control.attempt);
    this.#endWithOutage(attempt, "outage", `; a request without a key then got ${got}`);
  }

  /** Ends the comparison, and takes back what the latest responses show. */
  #endWithOutage(attempt: Attempt, ending: Ending, detail: string): void {
    this.end(attempt, ending, detail);
    takeBack(collectOutage(this.attempts, ending));
  }

  /** Ends the comparison because of a 429 that is not a key's own limit. */
  endByLimit(limited: Attempt, detail = ""): void {
    const { evidence } = limited;
    const why = evidence.kind === "counts" ? "" : ` ${evidence.why}`;
    this.end(limited, "limit", `${why}${detail}`);
  }

  /** Ends the comparison because of a response; `detail` is what to add to it in words. */
  end(attempt: Attempt, ending: Ending, detail: string): void {
    if (this.progress.kind !== "running") return;
    const { outcome } = attempt;
    const got = `${outcome} got ${describeAttempt(attempt)}`;
    const { suspicion } = endings[ending];
    const note = `${got}${detail}. Nothing was sent after it: it may be ${suspicion}. Try again later.`;
    const why = `nothing was sent after ${got}`;
    this.#progress = { kind: "ended_by_response", by: outcome, why, note };
  }
}

/** Takes back what these attempts show, since an outage or a lock may have responded to them. */
function takeBack(suspicious: readonly Attempt[]): void {
  const why = "its response may be one of an outage, or of a lock";
  const outage: Evidence = { kind: "outage", why };
  for (const attempt of suspicious) attempt.evidence = outage;
}
