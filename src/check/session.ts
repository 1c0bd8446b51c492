import { type Answer, readAnswer } from "./answer.js";
import type { Exchange } from "./exchange.js";
import { secretsIn, type Variables } from "./key-variables.js";
import type { Observation } from "./observation.js";
import { isNoAnswer, type NoAnswer, type Probe, type Send } from "./probe.js";
import { createRedact } from "./redact.js";
import type { PathRow } from "./report.js";

/** What to check, and how much of it. */
export interface CheckOptions {
  /** The URL that is asked, for the report. */
  readonly url: string;
  /** Where the keys are. */
  readonly env: Variables;
  readonly maxRequests: number;
  /** Whether a limit may be used up on purpose. */
  readonly probeLimits: boolean;
  /** A well-formed key that nobody holds. */
  readonly unknownKey: string;
}

/** A check that is under way: its budget, and what it has gathered so far. */
export interface Session {
  readonly options: CheckOptions;
  readonly tried: PathRow[];
  readonly observations: Observation[];
  readonly exchanges: Exchange[];
  /** Further answers to the first rejected request. */
  readonly controls: Answer[];
  readonly requests: () => number;
  /** How many more requests may be sent. */
  readonly left: () => number;
  /** Why no more requests are sent. */
  readonly whyNone: () => string;
  /** Sends one request; what comes back has no key in it any more. */
  readonly ask: (probe: Probe) => Promise<Answer | NoAnswer>;
  /** Sends nothing from now on, for the reason given. */
  readonly stop: (reason: string) => void;
  readonly stopped: () => string | undefined;
}

/** After so many requests in a row without an answer nobody waits for more. */
const mostUnanswered = 2;

/** Begins a check. */
export function createSession(send: Send, options: CheckOptions): Session {
  const { env, maxRequests, unknownKey } = options;
  const redact = createRedact([...secretsIn(env), unknownKey]);
  let requests = 0;
  let unanswered = 0;
  let stopped: string | undefined;
  return {
    options,
    tried: [],
    observations: [],
    exchanges: [],
    controls: [],
    requests: () => requests,
    left: () => (stopped !== undefined || unanswered >= mostUnanswered ? 0 : maxRequests - requests),
    whyNone() {
      if (stopped !== undefined) return "nothing was sent after the first request";
      if (unanswered >= mostUnanswered)
        return `nothing was sent after ${unanswered} requests without an answer`;
      return `the ${maxRequests} requests of --max-requests are used up`;
    },
    async ask({ apiKey }) {
      requests += 1;
      const reply = await send(apiKey);
      unanswered = isNoAnswer(reply) ? unanswered + 1 : 0;
      return isNoAnswer(reply) ? reply : readAnswer(reply, redact);
    },
    stop(reason) {
      stopped = reason;
    },
    stopped: () => stopped,
  };
}
