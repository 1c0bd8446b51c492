import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { type Attempt, type AttemptRequest, describeAttempt } from "./attempt.js";
import { whyNotTheApi } from "./first-response.js";
import { type ContractOutcome, findKey, keysInVariables, type Variables } from "./keys-of-outcomes.js";
import { createRedact, isHtml, type Redact, type RedactedResponse, readResponse } from "./response.js";
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
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
  /** Ends the comparison with what it has, also during a request; its reason is the name of a signal. */
  readonly stop?: AbortSignal;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;

/** Why nothing more is sent, even if requests are left. */
type Ended =
  | { readonly kind: "not_compared"; readonly why: string; readonly message: string }
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

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.maxRequests = options.maxRequests ?? defaultMaxRequests;
    this.#unknownKeys = Array.from({ length: maxUnknownKeys }, (_, index) => options.unknownKey(index));
    const keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedact([...keys, ...this.#unknownKeys]);
  }

  get ended(): Ended | undefined {
    const { stop } = this.options;
    const isStopped = stop?.aborted === true;
    return (
      this.#ended ?? (isStopped ? { kind: "signal", why: `it was stopped by ${stop.reason}` } : undefined)
    );
  }

  /** The number of requests that may still be sent. */
  left(): number {
    return this.ended === undefined ? this.maxRequests - this.requests : 0;
  }

  /** Raises the default by these requests. */
  makeRoomFor(more: number): void {
    if (this.options.maxRequests === undefined)
      this.maxRequests = Math.min(defaultMaxRequests + more, mostRequests);
  }

  /** Resolves to `undefined` if the outcome cannot be tried. */
  async tryOutcome(row: ContractOutcome): Promise<Attempt | undefined> {
    const { outcome, variables } = row;
    if (variables.length === 0) return this.attempt({ outcome });
    const key = findKey(row, this.options.env);
    if (!("reason" in key)) return this.attempt({ outcome, ...key });
    return this.skip(outcome, key.reason);
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
  async attempt({ outcome, variable, ...key }: AttemptRequest): Promise<Attempt | undefined> {
    const { ended } = this;
    if (ended !== undefined) return this.skip(outcome, ended.why);
    if (this.requests >= this.maxRequests)
      return this.skip(outcome, `the ${this.maxRequests} requests of --max-requests are used up`);
    this.untried.delete(outcome);
    const apiKey = variable === undefined ? this.#inventedKey(outcome) : key.apiKey;
    const reply = await this.#ask(apiKey);
    if (reply === undefined) return this.skip(outcome, String(this.ended?.why));
    const request = { outcome, nth: this.#countOf(outcome) + 1, apiKey, variable };
    const attempt: Attempt = isNoResponse(reply)
      ? { ...request, noResponse: reply.found }
      : { ...request, response: reply, uncounted: whyUncounted(request, reply, this.attempts) };
    const before = this.attempts.at(-1);
    this.attempts.push(attempt);
    const detail = endingDetail(attempt, before);
    if (detail !== undefined) this.end(attempt, detail);
    return attempt;
  }

  /** Takes back what an attempt shows of its outcome, for a reason that a later one gives. */
  withdraw(attempt: Attempt, why: string): void {
    this.attempts[this.attempts.indexOf(attempt)] = {
      ...attempt,
      uncounted: { kind: "another_limit", why },
    };
  }

  /** Ends the comparison, because of a response: a service that locks or limits the address gets no more requests. */
  end({ outcome, ...attempt }: Attempt, detail = ""): void {
    if (this.ended !== undefined) return;
    const got = `${outcome} got ${describeAttempt({ outcome, ...attempt })}`;
    const note = `${got}${detail}. Nothing was sent after it: it may be a lock, or another limiter. Try again later.`;
    this.#ended = { kind: "response", by: outcome, why: `nothing was sent after ${got}`, note };
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
    const response = isNoResponse(reply) ? reply : readResponse(reply, this.#redact);
    const message = this.requests === 1 ? whyNotTheApi(response, this.options.url) : undefined;
    if (message !== undefined)
      this.#ended = { kind: "not_compared", why: "nothing was sent after the first request", message };
    return response;
  }
}

/** What a response shows that ends the comparison; `undefined` if it does not end it. */
function endingDetail(attempt: Attempt, before: Attempt | undefined): string | undefined {
  const { response, uncounted } = attempt;
  if (response?.status === 503) return "";
  if (uncounted?.kind === "another_limit") return ` ${uncounted.why}`;
  const areBoth = (is: (one: Attempt) => boolean) => is(attempt) && before !== undefined && is(before);
  if (areBoth(({ response }) => response !== undefined && isHtml(response)))
    return ", the second HTML page in a row";
  return areBoth(({ noResponse }) => noResponse !== undefined) ? ", the second time in a row" : undefined;
}
