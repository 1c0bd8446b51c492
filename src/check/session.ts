import { isNoResponse, type NoResponse, type Send } from "../node/clients/send-once.js";
import { keysInVariables, type Variables } from "./contract.js";
import { type Attempt, type CompletedAttempt, undocumentedIn, whyUntried } from "./judge.js";
import {
  type CheckedResponse,
  createRedact,
  headerOf,
  isHtml,
  type Redact,
  readResponse,
  shownText,
} from "./response.js";

export interface CheckOptions {
  readonly url: string;
  readonly env: Variables;
  readonly maxRequests: number;
  readonly probeLimits: boolean;
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
}

const maxWithoutResponse = 2;
/** A check sends fewer unknown keys. */
const maxUnknownKeys = 16;

/** The requests of a check, which removes every key from their responses. */
export class Session {
  readonly options: CheckOptions;
  readonly #unknownKeys: readonly string[];
  readonly #redact: Redact;
  /** The names in responses that the contract does not have. */
  readonly undocumented = new Set<string>();
  requests = 0;
  /** Why nothing is sent after the first request. */
  stopped: string | undefined;
  readonly #send: Send;
  #withoutResponse = 0;

  constructor(send: Send, options: CheckOptions) {
    this.#send = send;
    this.options = options;
    this.#unknownKeys = Array.from({ length: maxUnknownKeys }, (_, index) => options.unknownKey(index));
    const keys = keysInVariables(options.env).map(([, apiKey]) => apiKey);
    this.#redact = createRedact([...keys, ...this.#unknownKeys]);
  }

  /** The number of requests that may still be sent. */
  left(): number {
    return this.#whyNone() === undefined ? this.options.maxRequests - this.requests : 0;
  }

  /** The key for a path that needs none of the server's, another one each time. */
  inventedKey(pathId: string, index: number): string | undefined {
    if (pathId === "401.malformed") return `not-a-key${index || ""}`;
    return pathId === "401.unknown" ? this.#unknownKeys[index] : undefined;
  }

  async attempt({ pathId, apiKey, variable }: Attempt): Promise<Attempt> {
    const attempt = { pathId, apiKey, variable };
    const reason = this.#whyNone();
    if (reason !== undefined) return { ...attempt, reason };
    const reply = await this.#ask(apiKey);
    if (isNoResponse(reply)) return { ...attempt, noResponse: reply.found };
    return { ...attempt, response: reply, reason: whyUntried(pathId, reply) };
  }

  /** Sends the request again, with another key if that is not the server's. Resolves to `undefined` if the response is not a 401. */
  async resend({ pathId, apiKey, variable }: CompletedAttempt, index: number) {
    const reply = await this.#ask(variable === undefined ? this.inventedKey(pathId, index) : apiKey);
    return isNoResponse(reply) || reply.status !== 401 ? undefined : reply;
  }

  #whyNone(): string | undefined {
    const { maxRequests } = this.options;
    if (this.stopped !== undefined) return "nothing was sent after the first request";
    if (this.#withoutResponse >= maxWithoutResponse)
      return `nothing was sent after ${this.#withoutResponse} requests without a response`;
    return this.requests < maxRequests
      ? undefined
      : `the ${maxRequests} requests of --max-requests are used up`;
  }

  async #ask(apiKey: string | undefined): Promise<CheckedResponse | NoResponse> {
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
function whyNotTheApi(reply: CheckedResponse | NoResponse, url: string): string | undefined {
  if (isNoResponse(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to check ${url}: ${found}. ${hint} No key was sent.`;
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
