import type { ContractDifference } from "../differences/contract-difference.js";
import { perDayPath, perMinutePath, todayPath, wholeNumberIn } from "../response/members.js";
import {
  type Attempt,
  type CompletedAttempt,
  completedWith,
  describeAttempt,
  got200,
  withoutKey,
} from "../sending/attempt.js";
import type { Session } from "../sending/session.js";
import { sendControl } from "../sending/watch-outages.js";
import { withdrawEvidence } from "../sending/withdraw-evidence.js";

// Up to three controls follow the 429 of a key at its limit. What each of them shows:
//
// | control | 200, or 401 without a key | 429 | another response | not sent |
// |---|---|---|---|---|
// | without a key | no lock of the address: go on | a lock, or a gateway: the end | no lock: go on | the 429 shows nothing |
// | with another working key | the 429 is the key's own | go on | the 429 shows nothing | the 429 shows nothing |
// | without a key again | all keys share the limit: R25, the end | a lock began meanwhile: the end | R25, the end | the end |
//
// In each row, the 429 to a control also shows that the 429 of the key is not its own.

/** Confirms with controls that a 429 is the key's own limit. Returns a difference if another key is limited, too (R25). */
export async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  if (limited.evidence.kind !== "counts") return [];
  const control = await sendControl(session, withoutKey);
  if (control.kind === "not_sent") {
    withdrawEvidence(limited, { kind: "limit_not_confirmed", request: "request without a key" });
    return [];
  }
  if (control.attempt.response?.status === 429) {
    const got = describeAttempt(control.attempt);
    withdrawEvidence(limited, { kind: "limit_of_others", request: "request without a key", got });
    session.endByLimit(control.attempt);
    return [];
  }

  const otherKey = findOtherKey(session, limited);
  if (otherKey === undefined) {
    session.notes.push(`R25 was not judged for ${limited.outcome}: it needs another working key.`);
    return [];
  }
  return compareWithOtherKey(session, limited, otherKey);
}

/** A key at its limit must not affect another one (R25); `otherKey` is the latest 200 of the other key. */
async function compareWithOtherKey(
  session: Session,
  limited: Attempt,
  otherKey: CompletedAttempt,
): Promise<ContractDifference[]> {
  const { outcome, apiKey, variable } = otherKey;
  const request = `request with ${variable}`;
  const control = await sendControl(session, { outcome, apiKey, variable });
  if (control.kind === "not_sent") {
    withdrawEvidence(limited, { kind: "limit_not_confirmed", request });
    return [];
  }
  const { attempt } = control;
  if (got200(attempt)) return [];

  const got = describeAttempt(attempt);
  if (attempt.response?.status !== 429) {
    withdrawEvidence(limited, { kind: "control_failed", request, got });
    return [];
  }
  withdrawEvidence(limited, { kind: "limit_of_others", request, got });

  // The limit is one of all keys, unless a lock of the address has begun since the first control.
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
