import {
  type Answer,
  type Attempt,
  headerOf,
  isHtml,
  isNoAnswer,
  type NoAnswer,
  type Probe,
  readAnswer,
  type Send,
  shown,
} from "./answer.js";
import { secretsIn, type Variables } from "./keys.js";
import { createRedact } from "./redact.js";

export interface CheckOptions {
  /** The URL of the endpoint, for the report. */
  readonly url: string;
  /** The environment with the keys. */
  readonly env: Variables;
  readonly maxRequests: number;
  /** Whether a limit may be used up on purpose. */
  readonly probeLimits: boolean;
  /** A well-formed key that is unknown. */
  readonly unknownKey: string;
}

/** The requests of a running check. */
export interface Session {
  readonly options: CheckOptions;
  readonly requests: () => number;
  /** The number of requests that may still be sent. */
  readonly left: () => number;
  /** Why nothing could be compared; `undefined` while it can. */
  readonly stopped: () => string | undefined;
  /** Sends one request; every key is taken out of the answer. */
  readonly ask: (probe: Probe) => Promise<Answer | NoAnswer>;
  /** Sends the request of a path, if there is one left. */
  readonly attempt: (probe: Probe) => Promise<Attempt>;
}

/** The most requests in a row without an answer. */
const mostUnanswered = 2;

/** Begins a check. */
export function createSession(send: Send, options: CheckOptions): Session {
  const { env, maxRequests, unknownKey, url } = options;
  const redact = createRedact([...secretsIn(env), unknownKey]);
  let requests = 0;
  let unanswered = 0;
  let stopped: string | undefined;

  const left = () => (stopped !== undefined || unanswered >= mostUnanswered ? 0 : maxRequests - requests);
  const whyNone = () => {
    if (stopped !== undefined) return "nothing was sent after the first request";
    if (unanswered >= mostUnanswered)
      return `nothing was sent after ${unanswered} requests without an answer`;
    return `the ${maxRequests} requests of --max-requests are used up`;
  };
  const ask = async ({ apiKey }: Probe) => {
    requests += 1;
    const reply = await send(apiKey);
    unanswered = isNoAnswer(reply) ? unanswered + 1 : 0;
    return isNoAnswer(reply) ? reply : readAnswer(reply, redact);
  };
  return {
    options,
    requests: () => requests,
    left,
    stopped: () => stopped,
    ask,
    async attempt(probe) {
      if (left() < 1) return { probe, reason: whyNone() };
      const isFirst = requests === 0;
      const reply = await ask(probe);
      if (isFirst) stopped = whyNotTheApi(reply, url);
      return { probe, reply };
    },
  };
}

/**
 * Returns why the answer to the first request, which has no key, is not the API's; `undefined` when it may be.
 *
 * A redirect, a captive portal or a misspelt address must not get a key.
 */
function whyNotTheApi(reply: Answer | NoAnswer, url: string): string | undefined {
  if (isNoAnswer(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to check ${url}: ${found}. ${hint} No key was sent.`;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    const to = location === undefined ? "" : ` to ${shown(location)}`;
    return why(
      `it redirects${to} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or a captive portal redirects, get past it first.",
    );
  }
  if (isHtml(reply)) {
    return why(
      `it answers with an HTML page (${status}), not with JSON`,
      "A gateway that has nothing behind it, a proxy, a captive portal or another web site answers like this.",
    );
  }
  if (status !== 404) return undefined;
  return why(
    "there is nothing at this path (404)",
    "The base URL is what stands before /v1/relying-party/me.",
  );
}
