import { outcomeOf } from "../domain/outcomes.js";
import { type Exchange, isNoAnswer, type Probe, type Send } from "./answer.js";
import { compareRejections, compareSuccesses } from "./compare.js";
import { judgeNoLimit, perMinuteOf } from "./judge.js";
import { findKey, type KeyedPath, keyedPaths, limitPaths, unusedVariables } from "./keys.js";
import { inferAssumptions } from "./learn.js";
import { type CheckReport, reportOf } from "./report.js";
import { type CheckOptions, createSession, type Session } from "./session.js";

/**
 * Sends requests, one after another, and compares the answers with the contract.
 *
 * Those without a key come first: no key is sent to a host that does not answer them as the API could.
 */
export async function runCheck(send: Send, options: CheckOptions): Promise<CheckReport> {
  const session = createSession(send, options);
  await session.tryPath({ pathId: "401.missing", apiKey: undefined, variable: undefined });
  await session.tryPath({ pathId: "401.malformed", apiKey: "not-a-key", variable: undefined });
  await session.tryPath({ pathId: "401.unknown", apiKey: options.unknownKey, variable: undefined });
  await settleRejections(session);
  for (const path of keyedPaths) await tryKeyedPath(session, path);
  await settleRejections(session);
  const [working] = answersOf(session, 200);
  await askAgain(session, working);
  for (const path of limitPaths) await tryLimit(session, path, working);
  return summarize(session);
}

// Repeats the first rejected request while that may show whether answers differ by themselves.
async function settleRejections(session: Session): Promise<void> {
  const { controls } = session;
  while (compareRejections(answersOf(session, 401), controls).wantsControl && session.left() > 0) {
    const [first] = answersOf(session, 401) as [Exchange];
    const reply = await session.ask(first.probe);
    if (isNoAnswer(reply) || reply.status !== 401) return;
    controls.push(reply);
  }
}

async function tryKeyedPath(session: Session, path: KeyedPath): Promise<void> {
  const found = findKey(path, session.options.env);
  const { pathId } = path;
  if ("reason" in found) session.skip({ pathId }, found.reason);
  else await session.tryPath({ pathId, ...found });
}

// The second answer to the same key shows whether requests are counted.
async function askAgain(session: Session, working: Exchange | undefined): Promise<void> {
  if (working === undefined || session.left() < 1) return;
  const reply = await session.ask(working.probe);
  if (!isNoAnswer(reply) && reply.status === 200) {
    session.exchanges.push({ probe: working.probe, answer: reply });
  }
}

/**
 * Meets a limit, when that is asked for: with one request of a key that is at its limit, else by using up the minute of
 * a working key, if the requests that are left suffice for it.
 */
async function tryLimit(session: Session, path: KeyedPath, working: Exchange | undefined): Promise<void> {
  const { env, probeLimits } = session.options;
  const { pathId } = path;
  if (!probeLimits) return session.skip({ pathId }, "limits are only met on purpose with --probe-limits");
  const hasKey = "apiKey" in findKey(path, env);
  if (hasKey || pathId !== "429.per_minute" || working === undefined) return tryKeyedPath(session, path);
  const perMinute = perMinuteOf(working);
  if (perMinute === undefined) {
    return session.skip({ pathId }, "the answer to the working key has no per_minute");
  }
  const needed = perMinute + 1;
  if (session.left() >= needed) return useUpMinute(session, { ...working.probe, pathId }, perMinute);
  const enough = session.requests() + needed;
  session.skip(
    { pathId },
    `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${enough} has room for them`,
  );
}

async function useUpMinute(session: Session, probe: Probe, perMinute: number): Promise<void> {
  const sent: Exchange[] = [];
  while (sent.length <= perMinute) {
    const reply = await session.ask(probe);
    if (isNoAnswer(reply) || reply.status !== 200) return session.record(probe, reply);
    sent.push({ probe, answer: reply });
  }
  const verdict = judgeNoLimit(sent, perMinute);
  const { pathId, variable } = probe;
  const row = { pathId, ...(variable !== undefined && { variable }) };
  if (typeof verdict === "string") return session.skip(row, verdict);
  session.tried.push({ ...row, verdict: "differs", got: "200" });
  session.observations.push(verdict);
}

function summarize(session: Session): CheckReport {
  const { options, tried, observations, exchanges, controls } = session;
  const rejections = compareRejections(answersOf(session, 401), controls);
  return reportOf({
    url: options.url,
    requests: session.requests(),
    maxRequests: options.maxRequests,
    stopped: session.stopped(),
    tried,
    observations: [...observations, ...rejections.observations, ...compareSuccesses(answersOf(session, 200))],
    assumptions: inferAssumptions(exchanges),
    notes: [
      ...(rejections.varyByThemselves ? [variesNote] : []),
      ...unusedVariables(options.env).map((name) => `${name} is not used: its name tells no path.`),
    ],
  });
}

const variesNote =
  "Answers to one and the same request differ in their form, so the 401 were compared by what they say; the profile varied answers like this.";

/** Returns the exchanges that got the status that their path is for. */
function answersOf({ exchanges }: Session, status: number): Exchange[] {
  return exchanges.filter(
    ({ probe, answer }) => answer.status === status && outcomeOf(probe.pathId).status === status,
  );
}
