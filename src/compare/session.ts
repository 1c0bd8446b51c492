import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { type Attempt, type AttemptRequest, describeAttempt, type Uncounted } from "./attempt.js";
import { whyNothingOfTheApi, whyNotTheApi } from "./first-response.js";
import { type ContractOutcome, findKey, keysInVariables, type Variables } from "./keys-of-outcomes.js";
import { endingDetail, isSuspicious, outageIn } from "./outages.js";
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

/** Sends the requests of a comparison, and keeps what came of each, without keys. */
export class Session {
  readonly options: CompareOptions;
  /** Every request that was sent, in order. */
  readonly attempts: Attempt[] = [];
  /** Why an outcome was not tried, or not to its end. */
  readonly untried = new Map<PromisedOutcomeId, string>();
  requests = 0;
  maxRequests: number;
  readonly #send: Send;
  readonly #unknownKeys: readonly string[];
  readonly #redact: Redact;
  #ended: Ended | undefined;
  /** Whether a request without a key is under way that shows whether the service works. */
  #isChecking = false;
  /** Responses that were no outage: the service worked after them. */
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
  left(): number {
    return this.ended === undefined ? this.maxRequests - this.requests : 0;
  }

  /** Raises the default by these requests. */
  makeRoomFor(more: number): void {
    if (this.options.maxRequests !== undefined) return;
    this.maxRequests = Math.min(defaultMaxRequests + more, mostRequests);
  }

  /** Resolves to `undefined` if the outcome cannot be tried. */
  async tryOutcome(row: ContractOutcome): Promise<Attempt | undefined> {
    const { outcome, variables } = row;
    if (variables.length === 0) return this.attempt({ outcome });
    const key = findKey(row, this.options.env);
    if ("reason" in key) return this.skip(outcome, key.reason);
    return this.attempt({ outcome, ...key });
  }

  /** Ends the comparison before the first key, if no response without one is like the API's. */
  requireApi(): void {
    if (this.ended !== undefined) return;
    const message = whyNothingOfTheApi(this.attempts, this.options.url);
    if (message === undefined) return;
    const why = "nothing was sent after the requests without a working key";
    this.#ended = { kind: "not_compared", why, message };
  }

  /** Leaves an outcome untried. */
  skip(outcome: PromisedOutcomeId, why: string): undefined {
    this.untried.set(outcome, why);
  }

  /** Sends the request for an outcome again, with another key if that is not the server's. */
  async again({ outcome, apiKey, variable }: Attempt): Promise<Attempt | undefined> {
    return this.attempt({ outcome, apiKey, variable });
  }

  /** Resolves to `undefined` if nothing may be sent. */
  async attempt(wanted: AttemptRequest): Promise<Attempt | undefined> {
    const { outcome, variable } = wanted;
    const { ended } = this;
    if (ended !== undefined) return this.skip(outcome, ended.why);
    if (this.requests >= this.maxRequests)
      return this.skip(outcome, `the ${this.maxRequests} requests of --max-requests are used up`);

    this.untried.delete(outcome);
    const apiKey = variable === undefined ? this.#inventedKey(outcome) : wanted.apiKey;
    const now = this.options.now ?? performance.now.bind(performance);
    const sentAt = now();
    const reply = await this.#ask(apiKey);
    const receivedAt = now();
    if (reply === undefined) return this.skip(outcome, String(this.ended?.why));

    const nth = this.#countOf(outcome) + 1;
    const request = { outcome, nth, apiKey, variable, sentAt, receivedAt };
    let attempt: Attempt;
    if (isNoResponse(reply)) {
      attempt = { ...request, noResponse: reply.found };
    } else {
      const uncounted = whyUncounted(request, reply, this.attempts);
      attempt = { ...request, response: reply, uncounted };
    }

    const index = this.attempts.push(attempt) - 1;
    if (attempt.uncounted?.kind === "another_limit") this.end(attempt, ` ${attempt.uncounted.why}`);
    else await this.#endAtOutage(attempt);
    // What it shows may have been taken back.
    return this.attempts[index];
  }

  /** Ends the comparison if the latest responses may be those of an outage or a lock, and takes back what they show. */
  async #endAtOutage(attempt: Attempt): Promise<void> {
    if (this.ended !== undefined || this.#isChecking) return;
    const detail = endingDetail(this.attempts);
    if (detail !== undefined) return this.#endBy(attempt, detail);
    const description = describeAttempt(attempt);
    if (this.#noOutages.has(description) || !isSuspicious(this.attempts)) return;

    // Without a key, a service that works responds as it did at first.
    this.#isChecking = true;
    const control = await this.attempt({ outcome: "401.missing" });
    this.#isChecking = false;
    if (control === undefined) return this.#endBy(attempt, "; no request without a key could follow it");

    const status = control.response?.status;
    const statusAtFirst = this.attempts[0]?.response?.status;
    const works = status !== undefined && (status === 401 || status === statusAtFirst);
    if (!works) return this.#endBy(attempt, `; a request without a key then got ${describeAttempt(control)}`);
    this.#noOutages.add(description);
  }

  #endBy(attempt: Attempt, detail: string): void {
    this.end(attempt, detail, "an outage, or a lock");
    const why = "its response may be one of an outage, or of a lock";
    for (const suspicious of outageIn(this.attempts)) this.#replace(suspicious, { kind: "outage", why });
  }

  /** Takes back what an attempt shows of its outcome, for a reason that a later one gives. */
  withdraw(attempt: Attempt, why: string): void {
    this.#replace(attempt, { kind: "another_limit", why });
  }

  #replace(attempt: Attempt, uncounted: Uncounted): void {
    this.attempts[this.attempts.indexOf(attempt)] = { ...attempt, uncounted };
  }

  /** Ends the comparison, because of a response: a service that locks or limits the address gets no more requests. */
  end(attempt: Attempt, detail = "", what = "a lock, or another limiter"): void {
    if (this.ended !== undefined) return;
    const { outcome } = attempt;
    const got = `${outcome} got ${describeAttempt(attempt)}`;
    const note = `${got}${detail}. Nothing was sent after it: it may be ${what}. Try again later.`;
    this.#ended = { kind: "response", by: outcome, why: `nothing was sent after ${got}`, note };
  }

  #countOf(outcome: PromisedOutcomeId): number {
    return this.attempts.filter((one) => one.outcome === outcome).length;
  }

  /** The key for an outcome that needs none of the server's, another one each time. */
  #inventedKey(outcome: PromisedOutcomeId): string | undefined {
    const index = this.#countOf(outcome);
    if (outcome === "401.malformed") return index === 0 ? "not-a-key" : `not-a-key${index}`;
    if (outcome === "401.unknown") return this.#unknownKeys[index];
    return undefined;
  }

  /** Resolves to `undefined` if it was stopped. */
  async #ask(apiKey: string | undefined): Promise<RedactedResponse | NoResponse | undefined> {
    this.requests += 1;
    const reply = await this.#send(apiKey);
    if (this.options.stop?.aborted === true) return undefined;

    const response = isNoResponse(reply) ? reply : readResponse(reply, this.#redact);
    if (this.requests > 1) return response;
    const message = whyNotTheApi(response, this.options.url);
    const why = "nothing was sent after the first request";
    if (message !== undefined) this.#ended = { kind: "not_compared", why, message };
    return response;
  }
}
