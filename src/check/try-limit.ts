import type { Exchange } from "./exchange.js";
import { judgeNoLimit, perMinuteOf } from "./judge-limit.js";
import { findKey, type KeyedPath } from "./key-variables.js";
import type { Probe } from "./probe.js";
import type { Session } from "./session.js";
import { recordReply, skipPath, tryKeyedPath } from "./try-path.js";

/**
 * Meets a limit, when that is asked for: with one request of a key that is at its limit, else by using up the minute of
 * a working key, if the requests that are left suffice for it.
 */
export async function tryLimit(
  session: Session,
  path: KeyedPath,
  working: Exchange | undefined,
): Promise<void> {
  const { env, probeLimits } = session.options;
  const { pathId } = path;
  const skip = (reason: string) => skipPath(session, { pathId, variable: undefined }, reason);
  if (!probeLimits) return skip("limits are only met on purpose with --probe-limits");
  const hasKey = "apiKey" in findKey(path, env);
  if (hasKey || pathId !== "429.per_minute" || working === undefined) return tryKeyedPath(session, path);
  const perMinute = perMinuteOf(working);
  if (perMinute === undefined) return skip("the answer to the working key has no per_minute");
  const needed = perMinute + 1;
  if (session.left() < needed) {
    const enough = session.requests() + needed;
    return skip(
      `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${enough} has room for them`,
    );
  }
  await useUp(session, { ...working.probe, pathId }, perMinute);
}

async function useUp(session: Session, probe: Probe, perMinute: number): Promise<void> {
  const sent: Exchange[] = [];
  while (sent.length <= perMinute) {
    const reply = await session.ask(probe);
    if ("kind" in reply || reply.status !== 200) return recordReply(session, probe, reply);
    sent.push({ probe, answer: reply });
  }
  const verdict = judgeNoLimit(sent, perMinute);
  if (typeof verdict === "string") return skipPath(session, probe, verdict);
  const { pathId, variable } = probe;
  session.tried.push({ pathId, ...(variable !== undefined && { variable }), verdict: "differs", got: "200" });
  session.observations.push(verdict);
}
