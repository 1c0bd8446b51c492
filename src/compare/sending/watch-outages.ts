import { type Attempt, type AttemptRequest, describeAttempt, type Evidence, withoutKey } from "./attempt.js";
import type { Ending } from "./endings.js";
import { collectOutage, findOutageSign } from "./outages.js";
import type { SendResult, Session } from "./session.js";

/** Sends a request whose response tells what an earlier one shows. A 429 is left to the caller. */
export async function sendControl(session: Session, wanted: AttemptRequest): Promise<SendResult> {
  const result = await session.send(wanted);
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
    case "none":
      return;
    case "ended":
      endWithOutage(session, latest, sign.ending, sign.detail);
      return;
    case "suspicious":
      await testSuspicion(session, latest);
  }
}

/** Sends a request without a key: no rejected key, and no lock of a key, can be the reason for its response. */
async function testSuspicion(session: Session, suspicious: Attempt): Promise<void> {
  const description = describeAttempt(suspicious);
  if (session.harmlessResponses.has(description)) return;

  const control = await session.send(withoutKey);
  if (control.kind === "not_sent") {
    endWithOutage(session, suspicious, "outage", "; no request without a key could follow it");
    return;
  }

  const status = control.attempt.response?.status;
  if (status === 429) {
    // Nobody can tell whether the service still works: what led to this request shows nothing.
    session.endByLimit(control.attempt);
    const attemptsBefore = session.attempts.slice(0, -1);
    takeBack(collectOutage(attemptsBefore, "outage"));
    return;
  }

  // A service that works responds as it did at first.
  const statusAtFirst = session.attempts[0]?.response?.status;
  if (status !== undefined && (status === 401 || status === statusAtFirst)) {
    session.harmlessResponses.add(description);
    return;
  }
  const got = describeAttempt(control.attempt);
  endWithOutage(session, suspicious, "outage", `; a request without a key then got ${got}`);
}

/** Ends the comparison, and takes back what the latest responses show. */
function endWithOutage(session: Session, attempt: Attempt, ending: Ending, detail: string): void {
  session.endByResponse(attempt, ending, detail);
  takeBack(collectOutage(session.attempts, ending));
}

/** Takes back what these attempts show, since an outage or a lock may have responded to them. */
function takeBack(attempts: readonly Attempt[]): void {
  const outage: Evidence = { kind: "outage", why: "its response may be one of an outage, or of a lock" };
  for (const attempt of attempts) attempt.evidence = outage;
}
