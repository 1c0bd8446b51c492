import {
  type Attempt,
  type AttemptRequest,
  controlWithoutKey,
  describeAttempt,
  describeLimited,
  type Evidence,
  replaceEvidence,
} from "./attempt.js";
import type { Ending } from "./endings.js";
import { attemptsSinceLock, attemptsSinceOutage } from "./outage-reach.js";
import { findOutageSign } from "./outage-sign.js";
import type { SendResult, Session } from "./session.js";

/** Sends a request whose response tells what an earlier one shows. A 429 is left to the caller. */
export async function sendControl(session: Session, request: AttemptRequest): Promise<SendResult> {
  const result = await session.send(request);
  if (result.kind === "sent" && result.attempt.response?.status !== 429) {
    await endAtOutage(session, result.attempt);
  }
  return result;
}

/** Ends the comparison if the responses up to the latest attempt may be those of an outage or a lock. */
export async function endAtOutage(session: Session, latest: Attempt): Promise<void> {
  if (session.progress.kind !== "running") return;
  const sign = findOutageSign(session.attempts);
  switch (sign.kind) {
    case "works":
      return;
    case "out_or_locked":
      endWithOutage(session, latest, sign.ending, sign.got);
      return;
    case "suspicious":
      await testSuspicion(session, latest);
  }
}

/** Sends a request without a key: no rejected key, and no lock of a key, can be the reason for its response. */
async function testSuspicion(session: Session, suspicious: Attempt): Promise<void> {
  const got = describeAttempt(suspicious);
  const control = await session.send(controlWithoutKey);
  if (control.kind === "not_sent") {
    endWithOutage(session, suspicious, "outage", `${got}; no request without a key could follow it`);
    return;
  }
  const { attempt } = control;
  if (attempt.response?.status === 429) {
    // Nobody can tell whether the service still works: the responses before this one show nothing.
    session.endByResponse(attempt, "limit", describeLimited(attempt));
    withdrawAll(attemptsSinceOutage(session.attempts.slice(0, -1)));
    return;
  }

  if (isLikeAtFirst(attempt, session)) return;
  const gotThen = describeAttempt(attempt);
  endWithOutage(session, suspicious, "outage", `${got}; a request without a key then got ${gotThen}`);
}

/** A service that works responds to a request without a key as it did at first, or with a 401. */
function isLikeAtFirst({ response }: Attempt, { attempts }: Session): boolean {
  if (response === undefined) return false;
  return response.status === 401 || response.status === attempts[0]?.response?.status;
}

/** Ends the comparison, and withdraws what the responses have shown since the outage or the lock may have begun. */
function endWithOutage(session: Session, attempt: Attempt, ending: Ending, got: string): void {
  session.endByResponse(attempt, ending, got);
  const { attempts } = session;
  withdrawAll(ending === "locked" ? attemptsSinceLock(attempts) : attemptsSinceOutage(attempts));
}

function withdrawAll(attempts: readonly Attempt[]): void {
  const evidence: Evidence = { kind: "outage", why: "its response may be one of an outage, or of a lock" };
  for (const attempt of attempts) replaceEvidence(attempt, evidence);
}
