import { outcomeOf, type PathId } from "../domain/outcomes.js";
import { type Answer, type Attempt, type Exchange, isNoAnswer, type Probe, type Send } from "./answer.js";
import { compareRejections, compareSuccesses } from "./compare.js";
import { exchangesOf, judgeNoLimit, perMinuteOf } from "./judge.js";
import { findKey, type KeyedPath, keyedPaths, keylessPaths, limitPaths, unusedVariables } from "./keys.js";
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
  const attempts: Attempt[] = [];
  for (const { pathId, apiKey } of keylessPaths(options.unknownKey)) {
    attempts.push(await session.attempt({ pathId, apiKey, variable: undefined }));
  }
  const controls: Answer[] = [];
  await settleRejections(session, attempts, controls);
  for (const path of keyedPaths) attempts.push(await tryKeyedPath(session, path));
  await settleRejections(session, attempts, controls);
  const [working] = withStatus(exchangesOf(attempts), 200);
  const repeated = await askAgain(session, working);
  for (const path of limitPaths) attempts.push(await tryLimit(session, path, working));
  const exchanges = [...exchangesOf(attempts), ...repeated];
  const rejections = compareRejections(withStatus(exchanges, 401), controls);
  return reportOf({
    url: options.url,
    requests: session.requests(),
    maxRequests: options.maxRequests,
    stopped: session.stopped(),
    attempts,
    compared: [...rejections.observations, ...compareSuccesses(withStatus(exchanges, 200))],
    assumptions: inferAssumptions(exchanges),
    notes: [
      ...(rejections.varyByThemselves ? [variesNote] : []),
      ...unusedVariables(options.env).map((name) => `${name} is not used: its name tells no path.`),
    ],
  });
}

const variesNote =
  "Answers to one and the same request differ in their form, so the 401 were compared by what they say; the profile varied answers like this.";

/** Returns the exchanges that got the status of their path, this one. */
function withStatus(exchanges: readonly Exchange[], status: number): Exchange[] {
  return exchanges.filter(
    ({ probe, answer }) => answer.status === status && outcomeOf(probe.pathId).status === status,
  );
}

// Repeats the first rejected request while that may show whether answers differ by themselves.
async function settleRejections(
  session: Session,
  attempts: readonly Attempt[],
  controls: Answer[],
): Promise<void> {
  const rejected = withStatus(exchangesOf(attempts), 401);
  while (compareRejections(rejected, controls).wantsControl && session.left() > 0) {
    const [first] = rejected as [Exchange];
    const reply = await session.ask(first.probe);
    if (isNoAnswer(reply) || reply.status !== 401) return;
    controls.push(reply);
  }
}

// The second answer to the same key shows whether requests are counted.
async function askAgain(session: Session, working: Exchange | undefined): Promise<Exchange[]> {
  if (working === undefined || session.left() < 1) return [];
  const answer = await session.ask(working.probe);
  return isNoAnswer(answer) || answer.status !== 200 ? [] : [{ probe: working.probe, answer }];
}

async function tryKeyedPath(session: Session, path: KeyedPath): Promise<Attempt> {
  const found = findKey(path, session.options.env);
  const { pathId } = path;
  return "reason" in found ? skipped(pathId, found.reason) : session.attempt({ pathId, ...found });
}

function skipped(pathId: PathId, reason: string): Attempt {
  return { probe: { pathId, apiKey: undefined, variable: undefined }, reason };
}

/**
 * Meets a limit, when that is asked for: with one request of a key that is at its limit, else by using up the minute of
 * a working key, if the requests that are left suffice for it.
 */
async function tryLimit(session: Session, path: KeyedPath, working: Exchange | undefined): Promise<Attempt> {
  const { env, probeLimits } = session.options;
  const { pathId } = path;
  if (!probeLimits) return skipped(pathId, "limits are only met on purpose with --probe-limits");
  const hasKey = "apiKey" in findKey(path, env);
  if (hasKey || pathId !== "429.per_minute" || working === undefined) return tryKeyedPath(session, path);
  const perMinute = perMinuteOf(working);
  if (perMinute === undefined) return skipped(pathId, "the answer to the working key has no per_minute");
  const needed = perMinute + 1;
  if (session.left() >= needed) {
    return useUpMinute(session, { ...working.probe, pathId }, perMinute);
  }
  const enough = session.requests() + needed;
  return skipped(
    pathId,
    `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${enough} has room for them`,
  );
}

async function useUpMinute(session: Session, probe: Probe, perMinute: number): Promise<Attempt> {
  const sent: Exchange[] = [];
  while (sent.length <= perMinute) {
    const reply = await session.ask(probe);
    if (isNoAnswer(reply) || reply.status !== 200) return { probe, reply };
    sent.push({ probe, answer: reply });
  }
  const verdict = judgeNoLimit(sent, perMinute);
  if (typeof verdict === "string") return { probe, reason: verdict };
  return { probe, reply: sent.at(-1)?.answer, difference: verdict };
}
