import type { ContractDifference } from "../differences/contract-difference.js";
import { perDayPath, perMinutePath, todayPath, wholeNumberIn } from "../response/members.js";
import {
  type Attempt,
  type CompletedAttempt,
  completedWith,
  describeAttempt,
  isPermitted,
  withoutKey,
} from "../sending/attempt.js";
import type { Session } from "../sending/session.js";
import { sendControl } from "../sending/watch-outages.js";

/**
 * Confirms that a 429 is the key's own: a request without a key gets none, and one with another working key gets 200.
 * Otherwise, the 429 shows nothing. Returns a difference if the other key is limited, too (R25).
 */
export async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  if (limited.evidence.kind !== "counts") return [];
  const control = await sendControl(session, withoutKey);
  if (control.kind === "not_sent") {
    limited.evidence = { kind: "another_limit", why: "no request without a key could follow it" };
    return [];
  }
  if (control.attempt.response?.status === 429) {
    const why = `a request without a key got ${describeAttempt(control.attempt)}, too`;
    limited.evidence = { kind: "another_limit", why };
    session.endByLimit(control.attempt);
    return [];
  }

  const working = findOtherKey(session, limited);
  if (working === undefined) {
    session.notes.push(`R25 was not judged for ${limited.outcome}: it needs another working key.`);
    return [];
  }
  return compareWithOtherKey(session, limited, working);
}

/** A key at its limit must not affect another one (R25). */
async function compareWithOtherKey(
  session: Session,
  limited: Attempt,
  working: Attempt,
): Promise<ContractDifference[]> {
  const { outcome, apiKey, variable } = working;
  const control = await sendControl(session, { outcome, apiKey, variable });
  if (control.kind === "not_sent") {
    limited.evidence = { kind: "another_limit", why: `no request with ${variable} could follow it` };
    return [];
  }
  const { attempt } = control;
  if (isPermitted(attempt)) return [];

  const got = describeAttempt(attempt);
  limited.evidence = { kind: "another_limit", why: `a request with ${variable} got ${got}, too` };
  if (attempt.response?.status !== 429) return [];

  // A lock of the address may have begun in between.
  const last = await sendControl(session, withoutKey);
  if (last.kind === "sent" && last.attempt.response?.status === 429) {
    session.endByLimit(last.attempt);
    return [];
  }
  session.endByResponse(attempt, "shared_limit", "");
  if (last.kind === "not_sent") return [];
  const expected = `200 for ${variable}, although ${limited.variable} is at its limit`;
  return [{ rules: ["R25"], outcome: limited.outcome, at: "status", expected, found: got }];
}

/** Finds the latest 200 of another key whose own limits are not used up. */
export function findOtherKey(session: Session, limited: Attempt): CompletedAttempt | undefined {
  const successes = completedWith(session.attempts, 200);
  return successes.findLast(({ apiKey, response }) => {
    if (apiKey === limited.apiKey) return false;
    const ofKey = successes.filter((success) => success.apiKey === apiKey);
    const perMinute = wholeNumberIn(response, perMinutePath) ?? Number.POSITIVE_INFINITY;
    const perDay = wholeNumberIn(response, perDayPath) ?? Number.POSITIVE_INFINITY;
    const today = wholeNumberIn(response, todayPath) ?? 0;
    return ofKey.length < perMinute && today < perDay;
  });
}
