import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { type Attempt, type AttemptRequest, describeAttempt, type Uncounted } from "./attempt.js";
import { whyFirstIsNotTheApi, whyNoneIsOfTheApi } from "./first-response.js";
import { type ContractOutcome, findKey, keysInVariables, type Variables } from "./keys-of-outcomes.js";
import { collectOutage, describeEnd, isSuspicious } from "./outages.js";
import { createRedact, type Redact, type RedactedResponse, readResponse } from "./response.js";
import { whyUncounted } from "./uncounted.js";

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 60, and with `probeLimits` two minutes of a key more. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Gets a sentence before a key's minute is used up, and before a wait. */
  readonly announce?: (sentence: string) => void;
  /** Waits until a key's minute is over, or until `stop`. Default: a key whose minute is used up ends the comparison. */
  readonly wait?: (milliseconds: number) => Promise<void>;
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
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

/** Why nothing more is sent, even if requests are left. */
type Ended =
  | NotTheApi
  | { readonly kind: "response"; readonly why: string; readonly by: PromisedOutcomeId; readonly note: string }
  | { readonly kind: "signal"; readonly why: string };

/** Enough for all causes of 401, each with a response of its own. */
const defaultMaxRequests = 60;
/** The default for a key with a large limit. */
const mostRequests = 400;
/** A comparison sends fewer unknown keys. */
const maxUnknownKeys = 24;

/** Sends the requests of a comparison, keeps what came of each, and ends it if the service may be down or lock us out. */
export class Session {
  readonly options: CompareOptions;
  /** Every request that was sent, in order. */
  readonly attempts: Attempt[] = [];
  /** Why an outcome was not tried, or not to its end. */
  readonly untried = new Map<PromisedOutcomeId, string>();
  /** The number of requests that were sent. */
  requests = 0;
  maxRequests: number;
  readonly #send: Send;
  readonly #unknownKeys: readonly string[];
  readonly #redact: Redact;
  #ended: Ended | undefined;
  /** Whether a request without a key is under way that shows whether the service still works. */
  #isChecking = false;
  /** Descriptions of suspicious responses after which the service still worked. */
  readonly #noOutages = new Set<string>();

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.maxRequests = options.maxRequests ?? defaultMaxRequests;
    this.#unknownKeys = Array.from({ length: maxUnknownKeys }, (_, index) => options.unknownKey(index));
    const keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedact([...keys, ...this.#unknownKeys]);
  }

  get ended(): Ended | undefined {
    if (this.#ended !== undefined) return this.#ended;
    const { stop } = this.options;
    if (stop?.aborted !== true) return undefined;
    return { kind: "signal", why: `it was stopped by ${stop.reason}` };
  }

  /** The number of requests that may still be sent. */
  requestsLeft(): number {
    return this.ended === undefined ? this.maxRequests - this.requests : 0;
  }

  /** Raises the default maximum by these requests; one that the caller has set stays. */
  raiseMaxRequests(more: number): void {
    if (this.options.maxRequests !== undefined) return;
    this.maxRequests = Math.min(defaultMaxRequests + more, mostRequests);
  }

  /** Sends the first request for an outcome. Resolves to `undefined` if nothing may be sent, or no variable has its key. */
  async tryOutcome(row: ContractOutcome): Promise<Attempt | undefined> {
    const { outcome, variables } = row;
    if (variables.length === 0) return this.attempt({ outcome });

    const key = findKey(row, this.options.env);
    if ("reason" in key) {
      this.skip(outcome, key.reason);
      return undefined;
    }
    return this.attempt({ outcome, ...key });
  }

  /** Notes why an outcome was not tried, or not to its end. */
  skip(outcome: PromisedOutcomeId, why: string): void {
    this.untried.set(outcome, why);
  }

  /** Sends the request for an outcome again, with another key if that is not the server's. */
  async repeat({ outcome, apiKey, variable }: Attempt): Promise<Attempt | undefined> {
    return this.attempt({ outcome, apiKey, variable });
  }

  /** Sends a request, and keeps what came of it. Resolves to `undefined` if nothing may be sent. */
  async attempt(wanted: AttemptRequest): Promise<Attempt | undefined> {
    const { outcome, variable } = wanted;
    const whyNot = this.#whyNoRequest();
    if (whyNot !== undefined) {
      this.skip(outcome, whyNot);
      return undefined;
    }

    this.untried.delete(outcome);
    const apiKey = variable === undefined ? this.#inventKey(outcome) : wanted.apiKey;
    const now = this.options.now ?? performance.now.bind(performance);
    const sentAt = now();
    const reply = await this.#ask(apiKey);
    const receivedAt = now();
    if (reply === undefined) {
      this.skip(outcome, String(this.ended?.why));
      return undefined;
    }

    const nth = this.#countAttempts(outcome) + 1;
    const request = { outcome, nth, apiKey, variable, sentAt, receivedAt };
    let attempt: Attempt;
    if (isNoResponse(reply)) {
      attempt = { ...request, noResponse: reply.found };
    } else {
      const uncounted = whyUncounted(request, reply, this.attempts);
      attempt = { ...request, response: reply, uncounted };
    }
    const index = this.attempts.push(attempt) - 1;

    // The service gets no more requests if it limits or locks the address, or may be down.
    if (attempt.uncounted?.kind === "another_limit") this.end(attempt, ` ${attempt.uncounted.why}`);
    else await this.#endAtOutage(attempt);
    // What it shows may have been taken back.
    return this.attempts[index];
  }

  #whyNoRequest(): string | undefined {
    const { ended } = this;
    if (ended !== undefined) return ended.why;
    if (this.requests < this.maxRequests) return undefined;
    return `the ${this.maxRequests} requests of --max-requests are used up`;
  }

  /** The key for an outcome that needs none of the server's, another one each time. */
  #inventKey(outcome: PromisedOutcomeId): string | undefined {
    const index = this.#countAttempts(outcome);
    if (outcome === "401.malformed") return index === 0 ? "not-a-key" : `not-a-key${index}`;
    if (outcome === "401.unknown") return this.#unknownKeys[index];
    return undefined;
  }

  #countAttempts(outcome: PromisedOutcomeId): number {
    return this.attempts.filter((one) => one.outcome === outcome).length;
  }

  /** Sends a request, and removes every key from its response. Resolves to `undefined` if it was stopped. */
  async #ask(apiKey: string | undefined): Promise<RedactedResponse | NoResponse | undefined> {
    this.requests += 1;
    const reply = await this.#send(apiKey);
    if (this.options.stop?.aborted === true) return undefined;

    const response = isNoResponse(reply) ? reply : readResponse(reply, this.#redact);
    if (this.requests > 1) return response;

    // The first response decides whether the host may get keys.
    const message = whyFirstIsNotTheApi(response, this.options.url);
    const why = "nothing was sent after the first request";
    if (message !== undefined) this.#ended = { kind: "not_compared", why, message };
    return response;
  }

  /** Ends the comparison before the first key, if no response without one is like the API's. */
  requireApi(): void {
    if (this.ended !== undefined) return;
    const message = whyNoneIsOfTheApi(this.attempts, this.options.url);
    if (message === undefined) return;
    const why = "nothing was sent after the requests without a working key";
    this.#ended = { kind: "not_compared", why, message };
  }

  /** Ends the comparison if the latest responses may be those of an outage or a lock. */
  async #endAtOutage(attempt: Attempt): Promise<void> {
    if (this.ended !== undefined || this.#isChecking) return;
    const detail = describeEnd(this.attempts);
    if (detail !== undefined) {
      this.#endWithOutage(attempt, detail);
      return;
    }
    const description = describeAttempt(attempt);
    if (this.#noOutages.has(description) || !isSuspicious(this.attempts)) return;

    // Without a key, a service that works responds as it did at first.
    this.#isChecking = true;
    const control = await this.attempt({ outcome: "401.missing" });
    this.#isChecking = false;
    if (control === undefined) {
      this.#endWithOutage(attempt, "; no request without a key could follow it");
      return;
    }

    const status = control.response?.status;
    const statusAtFirst = this.attempts[0]?.response?.status;
    const works = status !== undefined && (status === 401 || status === statusAtFirst);
    if (works) this.#noOutages.add(description);
    else this.#endWithOutage(attempt, `; a request without a key then got ${describeAttempt(control)}`);
  }

  /** Ends the comparison, and takes back what the latest responses show. */
  #endWithOutage(attempt: Attempt, detail: string): void {
    this.end(attempt, detail, "an outage, or a lock");
    const why = "its response may be one of an outage, or of a lock";
    for (const suspicious of collectOutage(this.attempts)) {
      this.#setUncounted(suspicious, { kind: "outage", why });
    }
  }

  /** Takes back what a 429 shows of its outcome, for a reason that a later request gives. */
  withdraw(attempt: Attempt, why: string): void {
    this.#setUncounted(attempt, { kind: "another_limit", why });
  }

  #setUncounted(attempt: Attempt, uncounted: Uncounted): void {
    this.attempts[this.attempts.indexOf(attempt)] = { ...attempt, uncounted };
  }

  /** Ends the comparison because of a response; `suspicion` is what it may be. */
  end(attempt: Attempt, detail = "", suspicion = "a lock, or another limiter"): void {
    if (this.ended !== undefined) return;
    const { outcome } = attempt;
    const got = `${outcome} got ${describeAttempt(attempt)}`;
    const note = `${got}${detail}. Nothing was sent after it: it may be ${suspicion}. Try again later.`;
    this.#ended = { kind: "response", by: outcome, why: `nothing was sent after ${got}`, note };
  }
}
