import { type ContractOutcome, findKey } from "../contract/keys-of-outcomes.js";
import type { Attempt, AttemptRequest } from "./attempt.js";
import type { SendResult, Session } from "./session.js";
import { waitForLimit } from "./waits.js";
import { endAtOutage } from "./watch-outages.js";

/** Sends the first request for an outcome, unless no variable has its key. */
export async function tryOutcome(session: Session, row: ContractOutcome): Promise<SendResult> {
  const { outcome, variables } = row;
  if (variables.length === 0) return sendAttempt(session, { outcome });

  const key = findKey(row, session.options.env);
  if (key.kind === "no_key") return { kind: "not_sent", why: key.why };
  return sendAttempt(session, { outcome, variable: key.variable });
}

/** Sends the request for an outcome again: with the same key if it is the server's, otherwise with a new one. */
export async function repeatAttempt(session: Session, attempt: Attempt): Promise<SendResult> {
  const { outcome, variable } = attempt;
  return sendAttempt(session, { outcome, variable });
}

/**
 * Sends a request. After a 429 that was not asked for, waits for the limit and sends the request again, once in a
 * comparison; then the result is that of the later request. Ends the comparison if the service limits or locks the address,
 * or may be down.
 */
export async function sendAttempt(session: Session, request: AttemptRequest): Promise<SendResult> {
  const result = await session.send(request);
  if (result.kind === "not_sent" || session.progress.kind !== "running") return result;

  const { attempt } = result;
  const { kind } = attempt.evidence;
  const isLimitedUnasked = kind === "limit_in_doubt" || kind === "minute_used_before";
  if (!isLimitedUnasked) {
    await endAtOutage(session, attempt);
    return result;
  }

  const wait = await waitForLimit(session, attempt);
  return wait.kind === "waited" ? repeatAttempt(session, attempt) : result;
}
