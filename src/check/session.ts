import { outcomeOf, type PathId } from "../domain/outcomes.js";
import {
  type Answer,
  type Exchange,
  headerOf,
  isHtml,
  isNoAnswer,
  memberAt,
  type NoAnswer,
  type Probe,
  readAnswer,
  type Send,
  shown,
} from "./answer.js";
import { judgeAnswer } from "./judge.js";
import { secretsIn, type Variables } from "./keys.js";
import { createRedact } from "./redact.js";
import type { PathRow } from "./report.js";
import { type CheckedRule, type Observation, ruleOfPath } from "./rules.js";

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

/** A running check: its budget, and what it has gathered so far. */
export interface Session {
  readonly options: CheckOptions;
  readonly tried: PathRow[];
  readonly observations: Observation[];
  readonly exchanges: Exchange[];
  /** Further answers to the first rejected request. */
  readonly controls: Answer[];
  readonly requests: () => number;
  /** The number of requests that may still be sent. */
  readonly left: () => number;
  /** Why nothing could be compared; `undefined` while it can. */
  readonly stopped: () => string | undefined;
  /** Sends one request; every key is taken out of the answer. */
  readonly ask: (probe: Probe) => Promise<Answer | NoAnswer>;
  /** Sends the request of a path, if there is one left, and judges its answer. */
  readonly tryPath: (probe: Probe) => Promise<void>;
  /** Judges the reply for a path, and keeps it. */
  readonly record: (probe: Probe, reply: Answer | NoAnswer) => void;
  /** Notes why a path is not tried. */
  readonly skip: (path: Pick<PathRow, "pathId" | "variable">, reason: string) => void;
}

/** The most requests in a row without an answer. */
const mostUnanswered = 2;

/** Begins a check. */
export function createSession(send: Send, options: CheckOptions): Session {
  const { env, maxRequests, unknownKey, url } = options;
  const redact = createRedact([...secretsIn(env), unknownKey]);
  const tried: PathRow[] = [];
  const observations: Observation[] = [];
  const exchanges: Exchange[] = [];
  let requests = 0;
  let unanswered = 0;
  let stopped: string | undefined;

  const whyNone = () => {
    if (stopped !== undefined) return "nothing was sent after the first request";
    if (unanswered >= mostUnanswered)
      return `nothing was sent after ${unanswered} requests without an answer`;
    return `the ${maxRequests} requests of --max-requests are used up`;
  };
  const session: Session = {
    options,
    tried,
    observations,
    exchanges,
    controls: [],
    requests: () => requests,
    left: () => (stopped !== undefined || unanswered >= mostUnanswered ? 0 : maxRequests - requests),
    stopped: () => stopped,
    async ask({ apiKey }) {
      requests += 1;
      const reply = await send(apiKey);
      unanswered = isNoAnswer(reply) ? unanswered + 1 : 0;
      return isNoAnswer(reply) ? reply : readAnswer(reply, redact);
    },
    async tryPath(probe) {
      if (session.left() < 1) return session.skip(probe, whyNone());
      const isFirst = requests === 0;
      const reply = await session.ask(probe);
      if (isFirst) stopped = whyNotTheApi(reply, url);
      session.record(probe, reply);
    },
    record(probe, reply) {
      const { pathId } = probe;
      const row = rowOf(probe);
      if (isNoAnswer(reply)) {
        const rules = [ruleOfPath[pathId] as CheckedRule];
        tried.push({ ...row, verdict: "differs", got: "no answer" });
        observations.push({ rules, pathId, at: "connection", expected: "an answer", found: reply.found });
        return;
      }
      const got = describeGot(reply);
      const reason = whyUntried(pathId, reply);
      if (reason === undefined) {
        tried.push({ ...row, verdict: "agrees", got });
        observations.push(...judgeAnswer(probe, reply));
      } else {
        tried.push({ ...row, verdict: "not_tried", got, reason });
      }
      // A limit met instead still teaches what a 429 looks like.
      const actual = reason !== undefined && reply.status === 429 ? "429.per_minute" : pathId;
      exchanges.push({ probe: { ...probe, pathId: actual }, answer: reply });
    },
    skip: (path, reason) => void tried.push({ ...rowOf(path), verdict: "not_tried", reason }),
  };
  return session;
}

function rowOf({ pathId, variable }: Pick<Probe, "pathId"> & { readonly variable?: string | undefined }) {
  return { pathId, ...(variable !== undefined && { variable }) };
}

function describeGot(answer: Answer): string {
  const code = memberAt(answer, "error", "code");
  return typeof code === "string" ? `${answer.status} ${shown(code)}` : String(answer.status);
}

/** Returns why an answer says nothing about its path; `undefined` when it is to be judged. */
function whyUntried(pathId: PathId, { status }: Answer): string | undefined {
  const { status: expected } = outcomeOf(pathId);
  // An unknown key has no limits, so that a 429 to one is judged.
  if (status === 429 && (expected === 200 || expected === 403)) {
    return "a limit was met instead; try again later";
  }
  // The scope that the endpoint needs is not shown, so it may need none.
  const isPermitted = pathId === "403.insufficient_scope" && status === 200;
  return isPermitted ? "the endpoint needs no scope, or this key has it" : undefined;
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
