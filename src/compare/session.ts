import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { type ContractOutcome, findKey, keysInVariables, type Variables } from "./contract.js";
import { whyNotTheApi } from "./first-response.js";
import { type Attempt, describeAttempt } from "./judge.js";
import { createRedact, type Redact, type RedactedResponse, readResponse } from "./response.js";
import { whyUnshown } from "./shown.js";

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 60, and with `probeLimits` two minutes of a key more. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Gets a sentence before a key's minute is used up. */
  readonly announce?: (sentence: string) => void;
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
  /** Ends the comparison with what it has, also during a request; its reason is the name of a signal. */
  readonly stop?: AbortSignal;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;

/** A request to send: without a variable, it has no key of the server's. */
interface AttemptRequest extends Pick<Attempt, "outcome" | "apiKey" | "variable"> {
  /** The outcome of a 200, if the key may still work. */
  readonly working?: PromisedOutcomeId;
}

/** Enough for all causes of 401, each with a response of its own. */
const usualMaxRequests = 60;
/** The default for a key with a large limit. */
const mostRequests = 400;
const maxWithoutResponse = 2;
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
  /** Why nothing is sent after the first request. */
  stopped: string | undefined;
  /** The request whose response ended the comparison. */
  lock: Attempt | undefined;
  readonly #send: Send;
  readonly #unknownKeys: readonly string[];
  readonly #redact: Redact;
  #withoutResponse = 0;

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.maxRequests = options.maxRequests ?? usualMaxRequests;
    this.#unknownKeys = Array.from({ length: maxUnknownKeys }, (_, index) => options.unknownKey(index));
    const keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedact([...keys, ...this.#unknownKeys]);
  }

  /** The number of requests that may still be sent. */
  left(): number {
    return this.whyEnded() === undefined ? this.maxRequests - this.requests : 0;
  }

  /** Raises the default by these requests. */
  makeRoomFor(more: number): void {
    if (this.options.maxRequests === undefined)
      this.maxRequests = Math.min(usualMaxRequests + more, mostRequests);
  }

  /** Resolves to `undefined` if the outcome cannot be tried. */
  async tryOutcome(row: ContractOutcome): Promise<Attempt | undefined> {
    const { outcome, variables } = row;
    if (variables.length === 0) return this.attempt({ outcome });
    const key = findKey(row, this.options.env);
    if (!("reason" in key)) return this.attempt({ outcome, ...key });
    return this.leave(outcome, key.reason);
  }

  /** Leaves an outcome untried. */
  leave(outcome: PromisedOutcomeId, why: string): undefined {
    this.untried.set(outcome, why);
  }

  /** Sends the request for an outcome again, with another key if that is not the server's. */
  async again({ outcome, apiKey, variable }: Attempt): Promise<Attempt | undefined> {
    return this.attempt({ outcome, apiKey, variable });
  }

  /** Resolves to `undefined` if nothing may be sent. */
  async attempt(request: AttemptRequest): Promise<Attempt | undefined> {
    const { variable, working } = request;
    const whyNoMore = this.#whyNoMore();
    if (whyNoMore !== undefined) return this.leave(request.outcome, whyNoMore);
    this.untried.delete(request.outcome);
    const apiKey = variable === undefined ? this.#inventedKey(request.outcome) : request.apiKey;
    const reply = await this.#ask(apiKey);
    if (reply === undefined) return this.leave(request.outcome, String(this.whyEnded()));
    const hasWorked = working !== undefined && !isNoResponse(reply) && reply.status === 200;
    const outcome = hasWorked ? working : request.outcome;
    const sent = { outcome, nth: this.#countOf(outcome) + 1, apiKey, variable };
    const attempt: Attempt = isNoResponse(reply)
      ? { ...sent, noResponse: reply.found }
      : { ...sent, response: reply, reason: whyUnshown(sent, reply, this.attempts) };
    this.attempts.push(attempt);
    if (isLock(attempt)) this.lock = attempt;
    return attempt;
  }

  /** Takes back what an attempt shows of its outcome, for a reason that a later one gives. */
  withdraw(attempt: Attempt, reason: string): void {
    this.attempts[this.attempts.indexOf(attempt)] = { ...attempt, reason };
  }

  /** Why nothing more is sent, even if requests are left. */
  whyEnded(): string | undefined {
    if (this.options.stop?.aborted === true) return `it was stopped by ${this.options.stop.reason}`;
    if (this.stopped !== undefined) return "nothing was sent after the first request";
    if (this.lock !== undefined)
      return `nothing was sent after ${this.lock.outcome} got ${describeAttempt(this.lock)}`;
    return this.#withoutResponse < maxWithoutResponse
      ? undefined
      : `nothing was sent after ${this.#withoutResponse} requests without a response`;
  }

  #whyNoMore(): string | undefined {
    const isUsedUp = this.requests >= this.maxRequests;
    return (
      this.whyEnded() ??
      (isUsedUp ? `the ${this.maxRequests} requests of --max-requests are used up` : undefined)
    );
  }

  #countOf(outcome: PromisedOutcomeId): number {
    return this.attempts.filter((one) => one.outcome === outcome).length;
  }

  /** The key for an outcome that needs none of the server's, another one each time. */
  #inventedKey(outcome: PromisedOutcomeId): string | undefined {
    const index = this.#countOf(outcome);
    if (outcome === "401.malformed") return `not-a-key${index || ""}`;
    return outcome === "401.unknown" ? this.#unknownKeys[index] : undefined;
  }

  /** Resolves to `undefined` if it was stopped. */
  async #ask(apiKey: string | undefined): Promise<RedactedResponse | NoResponse | undefined> {
    this.requests += 1;
    const reply = await this.#send(apiKey);
    if (this.options.stop?.aborted === true) return undefined;
    this.#withoutResponse = isNoResponse(reply) ? this.#withoutResponse + 1 : 0;
    const response = isNoResponse(reply) ? reply : readResponse(reply, this.#redact);
    if (this.requests === 1) this.stopped = whyNotTheApi(response, this.options.url);
    return response;
  }
}

/** More requests could lengthen a lock, or count against a limit that others share. */
function isLock({ response, reason }: Attempt): boolean {
  return response?.status === 503 || (response?.status === 429 && reason !== undefined);
}
