import type { ContractDifference } from "../differences/contract-difference.js";
import {
  type Attempt,
  type CompletedAttempt,
  controlWithoutKey,
  describeAttempt,
  describeLimited,
  got200,
  replaceEvidence,
} from "../sending/attempt.js";
import type { Session } from "../sending/session.js";
import { sendControl } from "../sending/watch-outages.js";
import { findOtherKey } from "./other-key.js";

// Up to three controls follow the 429 of a key that should be at its limit, and tell whose limit it is:
//
// | control | gets | the limit is |
// |---|---|---|
// | 1. without a key | 429 | `another` |
// | | what ends the comparison, or could not be sent | `unknown` |
// | | any other response | told by the second control; `own_or_shared` without another working key |
// | 2. with another working key | 200 | `own` |
// | | 429 | told by the third control |
// | | any other response, or could not be sent | `unknown` |
// | 3. without a key again | 429, or what ends the comparison, or could not be sent | `another` |
// | | any other response | `shared` |

/**
 * Whose limit a 429 is:
 * - `own`: the key's own, as another key still gets 200
 * - `own_or_shared`: not that of the address; `why` no other key could be tried
 * - `shared`: one of several keys, as `otherKey` gets a 429, too, and a request without a key does not
 * - `another`: not the key's own, such as a lock of the address or the limit of a gateway; `alsoLimited` met it, too
 * - `unknown`: a control did not get what tells it, or could not be sent
 *
 * `why` tells what the controls got, or why they could not be sent.
 */
type Limiter =
  | { readonly kind: "own" }
  | { readonly kind: "own_or_shared" | "unknown"; readonly why: string }
  | { readonly kind: "shared"; readonly why: string; readonly otherKey: Attempt }
  | { readonly kind: "another"; readonly why: string; readonly alsoLimited: Attempt };

/** Confirms with controls that a 429 is the key's own limit. Returns a difference if another key is limited, too (R25). */
export async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  if (limited.evidence.kind !== "judged") return [];
  const limiter = await findLimiter(session, limited);
  switch (limiter.kind) {
    case "own":
      return [];
    case "own_or_shared":
      session.notes.push(`R25 was not judged for ${limited.outcome}: ${limiter.why}.`);
      return [];
    case "shared":
      showsNothing(limited, limiter.why);
      session.endByResponse(limiter.otherKey, "shared_limit");
      return [describeSharedLimit(limited, limiter.otherKey)];
    case "another":
      showsNothing(limited, limiter.why);
      session.endByResponse(limiter.alsoLimited, "limit", describeLimited(limiter.alsoLimited));
      return [];
    case "unknown":
      showsNothing(limited, limiter.why);
      return [];
  }
}

function showsNothing(limited: Attempt, why: string): void {
  replaceEvidence(limited, { kind: "limit_in_doubt", why });
}

async function findLimiter(session: Session, limited: Attempt): Promise<Limiter> {
  const request = "request without a key";
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "not_sent") return { kind: "unknown", why: `no ${request} could follow it` };

  const { attempt } = control;
  const got = describeAttempt(attempt);
  if (isLimited(attempt)) {
    return { kind: "another", why: `a ${request} got ${got}, too`, alsoLimited: attempt };
  }
  // The control may have met an outage or a lock.
  if (session.progress.kind !== "running") return { kind: "unknown", why: `a ${request} got ${got}` };

  const search = findOtherKey(session.attempts, limited);
  if (search.kind === "no_key") return { kind: "own_or_shared", why: search.why };
  return findLimiterWithOtherKey(session, search.latestSuccess);
}

/** Sends a request with another key: the limit of a key must not affect it (R25). */
async function findLimiterWithOtherKey(
  session: Session,
  { outcome, variable }: CompletedAttempt,
): Promise<Limiter> {
  const request = `request with ${variable}`;
  const control = await sendControl(session, { outcome, variable });
  if (control.kind === "not_sent") return { kind: "unknown", why: `no ${request} could follow it` };

  const { attempt } = control;
  if (got200(attempt)) return { kind: "own" };
  const got = describeAttempt(attempt);
  if (!isLimited(attempt)) return { kind: "unknown", why: `a ${request} got ${got}` };
  return findSharedLimiter(session, attempt, `a ${request} got ${got}, too`);
}

/** Another key is limited, too: either all keys share the limit, or a lock of the address has begun since the first control. */
async function findSharedLimiter(session: Session, otherKey: Attempt, why: string): Promise<Limiter> {
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "sent") {
    const { attempt } = control;
    if (isLimited(attempt)) return { kind: "another", why, alsoLimited: attempt };
    // Unless the control has met an outage, which ends the comparison, the address is not limited.
    if (session.progress.kind === "running") return { kind: "shared", why, otherKey };
  }
  return { kind: "another", why, alsoLimited: otherKey };
}

function isLimited({ response }: Attempt): boolean {
  return response?.status === 429;
}

function describeSharedLimit(limited: Attempt, otherKey: Attempt): ContractDifference {
  const expected = `200 for ${otherKey.variable}, although ${limited.variable} is at its limit`;
  const found = describeAttempt(otherKey);
  return { rules: ["R25"], outcome: limited.outcome, at: "status", expected, found };
}
