import type { ContractDifference } from "../differences/contract-difference.js";
import {
  type Attempt,
  type CompletedAttempt,
  controlWithoutKey,
  describeAttempt,
  got200,
} from "../sending/attempt.js";
import type { Session } from "../sending/session.js";
import { sendControl } from "../sending/watch-outages.js";
import { withdrawEvidence } from "../sending/withdraw-evidence.js";
import { findOtherKey } from "./other-key.js";

// Up to three controls follow the 429 of a key at its limit. What each of them shows:
//
// | control | 200, or 401 without a key | 429 | another response | not sent |
// |---|---|---|---|---|
// | without a key | no lock of the address: go on | a lock, or a gateway: the end | no lock: go on | the 429 shows nothing |
// | with another working key | the 429 is the key's own | go on | the 429 shows nothing | the 429 shows nothing |
// | without a key again | all keys share the limit: R25, the end | a lock began meanwhile: the end | R25, the end | the end |
//
// In each row, the 429 to a control also shows that the 429 of the key is not its own. Each row has its function.

/** Confirms with controls that a 429 is the key's own limit. Returns a difference if another key is limited, too (R25). */
export async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  if (limited.evidence.kind !== "counts") return [];
  const request = "request without a key";
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "not_sent") {
    withdrawEvidence(limited, { kind: "limit_not_confirmed", request });
    return [];
  }
  const { attempt } = control;
  if (attempt.response?.status === 429) {
    withdrawEvidence(limited, { kind: "others_limited", request, got: describeAttempt(attempt) });
    session.endByLimit(attempt);
    return [];
  }

  const otherKey = findOtherKey(session.attempts, limited);
  if (otherKey === undefined) {
    session.notes.push(`R25 was not judged for ${limited.outcome}: it needs another working key.`);
    return [];
  }
  return confirmWithOtherKey(session, limited, otherKey);
}

/** A key at its limit must not affect another one (R25); `otherKey` is the latest 200 of the other key. */
async function confirmWithOtherKey(
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
  withdrawEvidence(limited, { kind: "others_limited", request, got });
  return judgeSharedLimit(session, limited, attempt);
}

/** The limit is one of all keys, unless a lock of the address has begun since the first control. */
async function judgeSharedLimit(
  session: Session,
  limited: Attempt,
  limitedOther: Attempt,
): Promise<ContractDifference[]> {
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "sent" && control.attempt.response?.status === 429) {
    session.endByLimit(control.attempt);
    return [];
  }
  session.endByResponse(limitedOther, "shared_limit");
  if (control.kind === "not_sent") return [];

  const expected = `200 for ${limitedOther.variable}, although ${limited.variable} is at its limit`;
  const found = describeAttempt(limitedOther);
  return [{ rules: ["R25"], outcome: limited.outcome, at: "status", expected, found }];
}
