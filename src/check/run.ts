import type { ChangeFields } from "../sandbox/timeline.js";
import { outcomeOf } from "../spec/outcomes.js";
import { notesOn, type SeenResponse, seenResponse } from "./against.js";
import {
  type CheckedResponse,
  createRedact,
  headerOf,
  isHtml,
  isNoAnswer,
  type NoAnswer,
  readAnswer,
  type Send,
  shownText,
} from "./answer.js";
import { compareRejections, compareSuccesses, leastRepetitions, type Rejection } from "./compare.js";
import {
  findKey,
  type KeyedPath,
  keyedPaths,
  keylessPaths,
  keysInVariables,
  limitPaths,
  unusedVariables,
  type Variables,
} from "./contract.js";
import { type AnsweredAttempt, type Attempt, judgeNoLimit, perMinuteOf, whyUntried } from "./judge.js";
import { inferAssumptions } from "./learn.js";
import { liveChanges } from "./live-changes.js";
import { type CheckReport, checkReportOf } from "./report.js";

interface CheckOptions {
  readonly url: string;
  readonly env: Variables;
  readonly maxRequests: number;
  /** Whether to use up a limit on purpose. */
  readonly probeLimits: boolean;
  /** A well-formed but unknown key. */
  readonly unknownKey: string;
  readonly changes?: ChangeFields | undefined;
}

/**
 * Sends requests, one after another, and compares the responses with the contract.
 *
 * Requests without a key come first: a host gets a key only if its responses could be the API's.
 */
export async function runCheck(send: Send, options: CheckOptions): Promise<CheckReport> {
  const { env, maxRequests, unknownKey, url } = options;
  const session = createSession(send, options);
  const attempts: Attempt[] = [];
  for (const { pathId, apiKey } of keylessPaths(unknownKey)) {
    attempts.push(await session.attempt({ pathId, apiKey }));
  }
  for (const path of keyedPaths) attempts.push(await tryKeyedPath(session, path));
  const [working] = withStatus(attempts, 200);
  // The second response to the same key shows whether requests are counted.
  const repeated = working === undefined ? [] : [await session.attempt(working)];
  for (const path of limitPaths) attempts.push(await tryLimit(session, path, working));
  const all = [...attempts, ...repeated];
  const rejections = await repeatRejections(session, withStatus(attempts, 401));
  const assumptions = inferAssumptions(all);
  const answered = all.filter((one): one is AnsweredAttempt => one.answer !== undefined);
  return checkReportOf({
    url,
    requests: session.requests(),
    maxRequests,
    stopped: session.stopped(),
    attempts,
    responses: session.responses,
    compared: [...rejections.differences, ...compareSuccesses(withStatus(all, 200))],
    assumptions,
    changes: options.changes && liveChanges(options.changes, answered, assumptions),
    notes: [
      ...notesOn(session.responses),
      ...unsettledNotes(rejections.unsettled, session),
      ...unusedVariables(env).map((name) => `${name} is not used: no path has this name.`),
    ],
  });
}

/** Starts a check that removes every key from its responses. */
function createSession(send: Send, options: CheckOptions) {
  const { env, maxRequests, unknownKey, url } = options;
  const redact = createRedact([...keysInVariables(env), unknownKey]);
  const responses: SeenResponse[] = [];
  let requests = 0;
  let unanswered = 0;
  let stopped: string | undefined;

  /** Returns why nothing more is sent; `undefined` while requests are left. */
  function whyNone(): string | undefined {
    if (stopped !== undefined) return "nothing was sent after the first request";
    if (unanswered >= mostUnanswered)
      return `nothing was sent after ${unanswered} requests without a response`;
    return requests < maxRequests ? undefined : `the ${maxRequests} requests of --max-requests are used up`;
  }
  async function ask(attempt: Attempt): Promise<CheckedResponse | NoAnswer> {
    requests += 1;
    const reply = await send(attempt.apiKey);
    unanswered = isNoAnswer(reply) ? unanswered + 1 : 0;
    if (isNoAnswer(reply)) return reply;
    const answer = readAnswer(reply, redact);
    responses.push(seenResponse(attempt, answer));
    return answer;
  }
  async function attempt({ pathId, apiKey, variable }: Attempt): Promise<Attempt> {
    const tried = { pathId, apiKey, variable };
    const reason = whyNone();
    if (reason !== undefined) return { ...tried, reason };
    const reply = await ask(tried);
    if (requests === 1) stopped = whyNotTheApi(reply, url);
    if (isNoAnswer(reply)) return { ...tried, noAnswer: reply.found };
    return { ...tried, answer: reply, reason: whyUntried(pathId, reply) };
  }
  return {
    options,
    requests: () => requests,
    responses,
    stopped: () => stopped,
    left: () => (whyNone() === undefined ? maxRequests - requests : 0),
    ask,
    attempt,
  };
}

type Session = ReturnType<typeof createSession>;

const mostUnanswered = 2;

/**
 * Returns why the response to the first request, which has no key, is not the API's; `undefined` if it may be.
 *
 * A redirect, a captive portal or a misspelled address must not get a key.
 */
function whyNotTheApi(reply: CheckedResponse | NoAnswer, url: string): string | undefined {
  if (isNoAnswer(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to check ${url}: ${found}. ${hint} No key was sent.`;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    return why(
      `it redirects${location === undefined ? "" : ` to ${shownText(location)}`} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  }
  if (isHtml(reply)) {
    return why(
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal or another web site responds like this.",
    );
  }
  if (status !== 404) return undefined;
  return why("there is nothing at this path (404)", "The base URL is the part before /v1/relying-party/me.");
}

/** Returns the attempts that got this status, if it is also their path's. */
function withStatus(attempts: readonly Attempt[], status: number): AnsweredAttempt[] {
  return attempts
    .filter((one): one is AnsweredAttempt => one.answer?.status === status)
    .filter(({ pathId }) => outcomeOf(pathId).status === status);
}

/**
 * Repeats the first rejected request and those that differ, in turn, until nothing follows the cause or each was repeated
 * often enough: twice as often if responses vary by themselves.
 *
 * Each round starts with another request: a balancer that takes its nodes in turn must not give each cause its own node.
 */
async function repeatRejections(session: Session, rejected: readonly AnsweredAttempt[]) {
  const rejections = rejected.map((one): Rejection => ({ ...one, answers: [one.answer] }));
  const most = Math.max(0, Math.floor(session.left() / leastRepetitions) - 1);
  for (let round = 0; ; round++) {
    const compared = compareRejections(rejections);
    const enough = leastRepetitions * (compared.noise.length > 0 ? 2 : 1);
    const suspects = compared.suspects.filter(({ answers }) => answers.length <= enough).slice(0, most);
    const repeated = [...rejections.slice(0, 1), ...suspects];
    if (suspects.length === 0 || session.left() < repeated.length) return compared;
    const start = round % repeated.length;
    for (const one of [...repeated.slice(start), ...repeated.slice(0, start)]) {
      const reply = await session.ask(one);
      if (isNoAnswer(reply) || reply.status !== 401) return compareRejections(rejections);
      one.answers.push(reply);
    }
  }
}

function unsettledNotes(unsettled: readonly AnsweredAttempt[], session: Session): string[] {
  const enough = session.requests() + leastRepetitions * (unsettled.length + 1);
  const paths = unsettled.map(({ pathId }) => pathId).join(", ");
  const note = `${paths}: the response differs from 401.missing, perhaps by chance. To see if it reveals the cause (R14), check again with --max-requests ${enough}.`;
  return unsettled.length === 0 ? [] : [note];
}

async function tryKeyedPath(session: Session, path: KeyedPath): Promise<Attempt> {
  const { pathId } = path;
  const found = findKey(path, session.options.env);
  return "reason" in found ? { pathId, ...found } : session.attempt({ pathId, ...found });
}

/**
 * Reaches a limit if requested: with one request of a key at its limit, or by using up a working key's minute if enough
 * requests are left.
 */
async function tryLimit(
  session: Session,
  path: KeyedPath,
  working: AnsweredAttempt | undefined,
): Promise<Attempt> {
  const { env, probeLimits } = session.options;
  const { pathId } = path;
  if (!probeLimits) return { pathId, reason: "limits are only reached on purpose with --probe-limits" };
  const hasKey = "apiKey" in findKey(path, env);
  if (hasKey || pathId !== "429.per_minute" || working === undefined) return tryKeyedPath(session, path);
  const perMinute = perMinuteOf(working);
  if (perMinute === undefined) return { pathId, reason: "the response to the working key has no per_minute" };
  const needed = perMinute + 1;
  if (session.left() >= needed) return useUpMinute(session, { ...working, pathId }, perMinute);
  const enough = session.requests() + needed;
  const reason = `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${enough} has room for them`;
  return { pathId, reason };
}

async function useUpMinute(session: Session, probe: AnsweredAttempt, perMinute: number): Promise<Attempt> {
  const answers: CheckedResponse[] = [];
  while (answers.length <= perMinute) {
    const sent = await session.attempt(probe);
    if (sent.answer?.status !== 200) return sent;
    answers.push(sent.answer);
  }
  return { ...probe, answer: answers.at(-1), ...judgeNoLimit(answers, perMinute) };
}
