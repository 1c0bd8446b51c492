import { isNoResponse, type NoResponse, type RawResponse } from "../node/clients/send-once.js";
import { outcomeOf, type PromisedOutcomeId } from "../rules/outcomes.js";
import { learnAssumptions, type Observation } from "./assumptions.js";
import { compareRejections, compareSuccesses } from "./comparisons.js";
import {
  type ContractOutcome,
  contractOutcomes,
  findKey,
  keysInVariables,
  type Variables,
} from "./contract.js";
import { type Attempt, type CompletedAttempt, judgeAttempt, undocumentedIn, whyUntried } from "./judge.js";
import {
  createRedact,
  headerOf,
  isHtml,
  memberIn,
  minuteOf,
  type Redact,
  type RedactedResponse,
  readResponse,
  shownText,
} from "./response.js";
import { type Comparison, comparedOutcome } from "./result.js";

interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 44, and with `probeLimits` one minute of a key more. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Gets a sentence before a key's minute is used up. */
  readonly announce?: (sentence: string) => void;
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;

/** Requests without a key come first: a host gets a key only if its responses could be the API's. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  const { env, url } = options;
  const session = new Session(send, options);
  const attempts: Attempt[] = [];
  for (const row of contractOutcomes.filter((one) => !isLimit(one)))
    attempts.push(await tryOutcome(session, row));
  const successes = withStatus(attempts, 200);
  // The second response to the same key shows whether requests are counted.
  if (successes[0] !== undefined) successes.push(...withStatus([await session.attempt(successes[0])], 200));
  const rejections = await compareRejections(withStatus(attempts, 401), session);
  for (const row of contractOutcomes.filter(isLimit))
    attempts.push(await tryLimit(session, row, successes[0]));
  const permitted = attempts.find(({ outcome }) => outcome === "403.insufficient_scope")?.response;
  const differences = [
    ...attempts.flatMap(judgeAttempt),
    ...rejections.differences,
    ...compareSuccesses(successes, permitted),
  ];
  const { requests, maxRequests, stopped, undocumented } = session;
  const learned = learnAssumptions(stopped === undefined ? session.observations : []);
  const verdict = differences.length > 0 ? "differs" : "agrees";
  return {
    url,
    requests,
    maxRequests,
    stopped,
    notes: [
      ...Array.from(undocumented, (name) => `${name} is not in the contract.`),
      ...rejections.notes,
      ...learned.notes,
      ...notesOnVariables(attempts, env),
    ],
    verdict: stopped === undefined ? verdict : "stopped",
    outcomes: attempts.map((attempt) => comparedOutcome(attempt, differences)),
    assumptions: learned.assumptions,
    unseen: learned.unseen,
    differences,
  };
}

const usualMaxRequests = 44;
/** The default for a key with a large limit. */
const mostRequests = 400;
const maxWithoutResponse = 2;
/** A comparison sends fewer unknown keys. */
const maxUnknownKeys = 16;

/** The requests of a comparison, which removes every key from their responses. */
class Session {
  readonly options: CompareOptions;
  readonly #unknownKeys: readonly string[];
  readonly #redact: Redact;
  /** The names in responses that the contract does not have. */
  readonly undocumented = new Set<string>();
  readonly observations: Observation[] = [];
  requests = 0;
  maxRequests: number;
  /** Why nothing is sent after the first request. */
  stopped: string | undefined;
  readonly #send: Send;
  #withoutResponse = 0;

  constructor(send: Send, options: CompareOptions) {
    this.#send = send;
    this.options = options;
    this.maxRequests = options.maxRequests ?? usualMaxRequests;
    this.#unknownKeys = Array.from({ length: maxUnknownKeys }, (_, index) => options.unknownKey(index));
    const keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedact([...keys, ...this.#unknownKeys]);
  }

  left(): number {
    return this.#whyNone() === undefined ? this.maxRequests - this.requests : 0;
  }

  /** Raises the default by a minute of requests. */
  makeRoomFor(minute: number): void {
    if (this.options.maxRequests === undefined)
      this.maxRequests = Math.min(usualMaxRequests + minute, mostRequests);
  }

  /** The key for an outcome that needs none of the server's, another one each time. */
  inventedKey(outcome: string, index: number): string | undefined {
    if (outcome === "401.malformed") return `not-a-key${index || ""}`;
    return outcome === "401.unknown" ? this.#unknownKeys[index] : undefined;
  }

  async attempt({ outcome, apiKey, variable }: Attempt): Promise<Attempt> {
    const attempt = { outcome, apiKey, variable };
    const reason = this.#whyNone();
    if (reason !== undefined) return { ...attempt, reason };
    const reply = await this.#ask(apiKey);
    if (isNoResponse(reply)) return { ...attempt, noResponse: reply.found };
    this.#observe(outcome, reply);
    return { ...attempt, response: reply, reason: whyUntried(outcome, reply) };
  }

  async resend({ outcome, apiKey, variable }: CompletedAttempt, index: number) {
    const reply = await this.#ask(variable === undefined ? this.inventedKey(outcome, index) : apiKey);
    if (isNoResponse(reply)) return undefined;
    this.#observe(outcome, reply);
    return reply.status === 401 ? reply : undefined;
  }

  #observe(outcome: PromisedOutcomeId, response: RedactedResponse): void {
    const { status } = response;
    const isExpected = outcomeOf(outcome).status === status;
    // A success in place of an error shows nothing about the outcome.
    if (isExpected || status !== 200)
      this.observations.push({ of: isExpected ? outcome : String(status), response });
  }

  #whyNone(): string | undefined {
    if (this.stopped !== undefined) return "nothing was sent after the first request";
    if (this.#withoutResponse >= maxWithoutResponse)
      return `nothing was sent after ${this.#withoutResponse} requests without a response`;
    return this.requests < this.maxRequests
      ? undefined
      : `the ${this.maxRequests} requests of --max-requests are used up`;
  }

  async #ask(apiKey: string | undefined): Promise<RedactedResponse | NoResponse> {
    this.requests += 1;
    const reply = await this.#send(apiKey);
    this.#withoutResponse = isNoResponse(reply) ? this.#withoutResponse + 1 : 0;
    const response = isNoResponse(reply) ? reply : readResponse(reply, this.#redact);
    if (this.requests === 1) this.stopped = whyNotTheApi(response, this.options.url);
    if (!isNoResponse(response)) for (const name of undocumentedIn(response)) this.undocumented.add(name);
    return response;
  }
}

/** `undefined` if the response may be the API's: a redirect, a captive portal or a misspelled address must not get a key. */
function whyNotTheApi(reply: RedactedResponse | NoResponse, url: string): string | undefined {
  if (isNoResponse(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to compare ${url}: ${found}. ${hint} No key was sent.`;
  const location = headerOf(reply, "location");
  const to = location === undefined ? "" : ` to ${shownText(location)}`;
  if (status >= 300 && status < 400)
    return why(
      `it redirects${to} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  if (isHtml(reply))
    return why(
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal or another web site responds like this.",
    );
  if (status !== 404) return undefined;
  return why("there is nothing at this path (404)", "The base URL is the part before /v1/relying-party/me.");
}

/** Returns the attempts that got this status, if it is also their outcome's. */
function withStatus(attempts: readonly Attempt[], status: number): CompletedAttempt[] {
  return attempts
    .filter((one): one is CompletedAttempt => one.response?.status === status)
    .filter(({ outcome }) => outcomeOf(outcome).status === status);
}

async function tryOutcome(session: Session, row: ContractOutcome): Promise<Attempt> {
  const { outcome, variables } = row;
  if (variables.length === 0) return session.attempt({ outcome, apiKey: session.inventedKey(outcome, 0) });
  const key = findKey(row, session.options.env);
  return "reason" in key ? { outcome, ...key } : session.attempt({ outcome, ...key });
}

/** Reaches a limit: with a key at its limit, or by using up a working key's minute if enough requests are left. */
async function tryLimit(
  session: Session,
  row: ContractOutcome,
  working?: CompletedAttempt,
): Promise<Attempt> {
  const { outcome } = row;
  if (!session.options.probeLimits)
    return { outcome, reason: "limits are only reached on purpose with --probe-limits" };
  const keyed = await tryOutcome(session, row);
  // A minute may have passed since its key reached the limit.
  const spare = keyed.apiKey === undefined ? working : keyed;
  if (outcome !== "429.per_minute" || spare?.response?.status !== 200) return keyed;
  const perMinute = Number(memberIn(spare.response, ["data", "limits", "per_minute"]));
  const needed = perMinute + 1;
  if (!Number.isInteger(needed))
    return { outcome, reason: "the response to the working key has no per_minute" };
  session.makeRoomFor(needed);
  if (session.left() < needed)
    return {
      outcome,
      reason: `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${session.requests + needed} has room for them`,
    };
  session.options.announce?.(
    `Sends up to ${needed} requests with ${spare.variable}, until one gets 429. They use up this key's minute.`,
  );
  return useUpMinute(session, { ...spare, outcome }, perMinute);
}

async function useUpMinute(session: Session, spare: Attempt, perMinute: number): Promise<Attempt> {
  const minutes = new Set<number>();
  for (let count = 1; ; count++) {
    const attempt = await session.attempt(spare);
    if (attempt.response?.status !== 200) return attempt;
    minutes.add(minuteOf(attempt.response));
    if (count <= perMinute) continue;
    if (minutes.size !== 1 || minutes.has(Number.NaN)) {
      return {
        ...attempt,
        reason: `a minute may have ended while ${count} requests were sent; none got 429`,
      };
    }
    const { outcome } = spare;
    const successes = `200 for ${count} requests in one minute; per_minute is ${perMinute}`;
    return {
      ...attempt,
      difference: { rules: ["R22"], outcome, at: "status", expected: "429", found: successes },
    };
  }
}

function notesOnVariables(attempts: readonly Attempt[], env: Variables): string[] {
  const noKey =
    "No key is set. Set SVC_API_KEY to a working key, and SVC_KEY_<REF> for the other outcomes: each shows its variable.";
  const { outcome } = attempts.find(({ variable }) => variable === "SVC_KEY_LEGACY") ?? {};
  const untried = `SVC_KEY_LEGACY_LIVE was not tried: ${outcome} was compared with SVC_KEY_LEGACY.`;
  return [
    ...(keysInVariables(env).length === 0 ? [noKey] : []),
    ...(outcome !== undefined && env.SVC_KEY_LEGACY_LIVE ? [untried] : []),
    ...unusedVariables(env).map((name) => `${name} is not used: no outcome has this name.`),
  ];
}

export function isLimit({ outcome }: ContractOutcome): boolean {
  return outcome.startsWith("429");
}

/** Returns the variables that look like keys but belong to no outcome. */
export function unusedVariables(env: Variables): string[] {
  const used = new Set(contractOutcomes.flatMap(({ variables }) => variables));
  const names = keysInVariables(env).map(([name]) => name);
  return names.filter((name) => !used.has(name)).sort();
}
