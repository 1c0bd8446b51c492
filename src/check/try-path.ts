import { outcomeOf, type PathId } from "../domain/outcomes.js";
import { type Answer, errorMember } from "./answer.js";
import { type CheckedRule, ruleOfPath } from "./checked-rules.js";
import { judgeAnswer } from "./judge-answer.js";
import { findKey, type KeyedPath } from "./key-variables.js";
import { disagreement } from "./observation.js";
import type { NoAnswer, Probe } from "./probe.js";
import type { PathRow } from "./report.js";
import type { Session } from "./session.js";
import { visible } from "./shown.js";
import { whyNotTheApi } from "./why-not-the-api.js";

/** Sends the request of a path, if there is one left, and judges its answer. */
export async function tryPath(session: Session, probe: Probe): Promise<void> {
  if (session.left() < 1) return skipPath(session, probe, session.whyNone());
  const isFirst = session.requests() === 0;
  const reply = await session.ask(probe);
  const stop = isFirst ? whyNotTheApi(reply, session.options.url) : undefined;
  if (stop !== undefined) session.stop(stop);
  recordReply(session, probe, reply);
}

/** Sends the request of a path that needs a key, if there is one. */
export async function tryKeyedPath(session: Session, path: KeyedPath): Promise<void> {
  const found = findKey(path, session.options.env);
  const { pathId } = path;
  if ("reason" in found) session.tried.push({ pathId, verdict: "not_tried", reason: found.reason });
  else await tryPath(session, { pathId, ...found });
}

/** Notes why a path is not tried. */
export function skipPath(session: Session, probe: Omit<Probe, "apiKey">, reason: string): void {
  session.tried.push({ ...rowOf(probe), verdict: "not_tried", reason });
}

/** Judges what came back for a path, and keeps it. */
export function recordReply(session: Session, probe: Probe, reply: Answer | NoAnswer): void {
  const { tried, observations, exchanges } = session;
  if ("kind" in reply) {
    tried.push({ ...rowOf(probe), verdict: "differs", got: "no answer" });
    observations.push(unanswered(probe.pathId, reply));
    return;
  }
  if (isLimitedInstead(probe.pathId, reply)) {
    const reason = "a limit was met instead; try again later";
    tried.push({ ...rowOf(probe), verdict: "not_tried", got: gotOf(reply), reason });
    // It still teaches what a 429 looks like.
    exchanges.push({ probe: { ...probe, pathId: "429.per_minute" }, answer: reply });
    return;
  }
  if (probe.pathId === "403.insufficient_scope" && reply.status === 200) {
    // Which scope the endpoint needs is not shown, so that it may need none.
    const reason = "the endpoint needs no scope, or this key has it";
    tried.push({ ...rowOf(probe), verdict: "not_tried", got: gotOf(reply), reason });
    exchanges.push({ probe, answer: reply });
    return;
  }
  tried.push({ ...rowOf(probe), verdict: "agrees", got: gotOf(reply) });
  observations.push(...judgeAnswer(probe, reply));
  exchanges.push({ probe, answer: reply });
}

function rowOf({ pathId, variable }: Omit<Probe, "apiKey">): Pick<PathRow, "pathId" | "variable"> {
  return { pathId, ...(variable !== undefined && { variable }) };
}

function gotOf(answer: Answer): string {
  const code = errorMember(answer, "code");
  return typeof code === "string" ? `${answer.status} ${visible(code)}` : String(answer.status);
}

function unanswered(pathId: PathId, { found }: NoAnswer) {
  const rule = ruleOfPath[pathId] as CheckedRule;
  return disagreement({ rules: [rule], pathId, at: "connection", expected: "an answer", found });
}

// A key that nobody holds has no limits, so that a 429 is no answer to one.
function isLimitedInstead(pathId: PathId, { status }: Answer): boolean {
  const { status: expected } = outcomeOf(pathId);
  return status === 429 && (expected === 200 || expected === 403);
}
