import type { ContractDifference } from "../differences/contract-difference.js";
import {
  type Attempt,
  type CompletedAttempt,
  controlWithoutKey,
  describeAttempt,
  got200,
  replaceEvidence,
} from "../sending/attempt.js";
import type { Session } from "../sending/session.js";
import { sendControl } from "../sending/watch-outages.js";
import { findOtherKey } from "./other-key.js";

// Up to three controls follow the 429 of a key that should be at its limit: without a key, with another working key and, if
// that one gets 429, too, without a key again. They tell whose limit the 429 is.

/**
 * Whose limit a 429 is:
 * - `own`: the key's own, as another key still gets 200
 * - `own_or_shared`: not that of the address; `why` no other key could be tried
 * - `address`: a lock, or a gateway, which limits the `control` without a key, too
 * - `shared`: one of several keys, as `otherKey` gets a 429, too, and a request without a key does not
 * - `address_or_shared`: one of the last two, as `otherKey` gets a 429, too, and no later control could tell which
 * - `unknown`: a control did not get what tells it, or could not be sent
 *
 * `why` tells what the controls got, or why they could not be sent.
 */
type Limiter =
  | { readonly kind: "own" }
  | { readonly kind: "own_or_shared" | "unknown"; readonly why: string }
  | { readonly kind: "address"; readonly why: string; readonly control: Attempt }
  | { readonly kind: "shared" | "address_or_shared"; readonly why: string; readonly otherKey: Attempt };

/** Confirms with controls that a 429 is the key's own limit. Returns a difference if another key is limited, too (R25). */
export async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  if (limited.evidence.kind !== "judged") return [];
  const limiter = await findLimiter(session, limited);
  if (limiter.kind === "own") return [];
  if (limiter.kind === "own_or_shared") {
    session.notes.push(`R25 was not judged for ${limited.outcome}: ${limiter.why}.`);
    return [];
  }

  replaceEvidence(limited, { kind: "limit_of_others", why: limiter.why });
  switch (limiter.kind) {
    case "unknown":
      return [];
    case "address":
      session.endByLimit(limiter.control);
      return [];
    case "address_or_shared":
      // If the comparison has ended already, that end stays.
      session.endByResponse(limiter.otherKey, "shared_limit");
      return [];
    case "shared":
      session.endByResponse(limiter.otherKey, "shared_limit");
      return [describeSharedLimit(limited, limiter.otherKey)];
  }
}

async function findLimiter(session: Session, limited: Attempt): Promise<Limiter> {
  const request = "request without a key";
  const control = await sendControl(session, controlWithoutKey);
  if (control.kind === "not_sent") return { kind: "unknown", why: `no ${request} could follow it` };

  const { attempt } = control;
  const got = describeAttempt(attempt);
  if (isLimited(attempt)) return { kind: "address", why: `a ${request} got ${got}, too`, control: attempt };
  // The control may have met an outage or a lock.
  if (session.progress.kind !== "running") return { kind: "unknown", why: `a ${request} got ${got}` };

  const search = findOtherKey(session.attempts, limited);
  if (search.kind === "no_key") return { kind: "own_or_shared", why: search.why };
  return findLimiterWithOtherKey(session, search.latestSuccess);
}

/** Sends a request with another key: the limit of a key must not affect it (R25). */
async function findLimiterWithOtherKey(
  session: Session,
  { outcome, apiKey, variable }: CompletedAttempt,
): Promise<Limiter> {
  const request = `request with ${variable}`;
  const control = await sendControl(session, { outcome, apiKey, variable });
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
    if (isLimited(attempt)) return { kind: "address", why, control: attempt };
    // Unless the control has met an outage, which ends the comparison, the address is not limited.
    if (session.progress.kind === "running") return { kind: "shared", why, otherKey };
  }
  return { kind: "address_or_shared", why, otherKey };
}

function isLimited({ response }: Attempt): boolean {
  return response?.status === 429;
}

function describeSharedLimit(limited: Attempt, otherKey: Attempt): ContractDifference {
  const expected = `200 for ${otherKey.variable}, although ${limited.variable} is at its limit`;
  const found = describeAttempt(otherKey);
  return { rules: ["R25"], outcome: limited.outcome, at: "status", expected, found };
}
