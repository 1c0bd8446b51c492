import type { Attempt, Evidence } from "./attempt.js";

/**
 * What a later request has shown of an attempt, whose response then shows nothing of its outcome:
 * - `address_limited`: a request without a key got a 429, too, so a gateway limits the address
 * - `limit_not_confirmed`: a request that should have confirmed the limit of a key could not be sent
 * - `others_limited`: a request that no limit of this key can affect got a 429, too
 * - `control_failed`: such a request failed in another way
 * - `outage`: an outage, or a lock, may have sent the response
 *
 * `request` is the later request in words: `request without a key`.
 */
type LaterFinding =
  | { readonly kind: "address_limited" | "outage" }
  | { readonly kind: "limit_not_confirmed"; readonly request: string }
  | { readonly kind: "others_limited" | "control_failed"; readonly request: string; readonly got: string };

/** Withdraws what an attempt has shown. Nothing else changes the evidence of an attempt after its response. */
export function withdrawEvidence(attempt: Attempt, finding: LaterFinding): void {
  // The member is readonly for everybody else.
  const changed: { evidence: Evidence } = attempt;
  changed.evidence = evidenceAfter(finding);
}

function evidenceAfter(finding: LaterFinding): Evidence {
  switch (finding.kind) {
    case "address_limited":
      return { kind: "earlier_limit", why: "a gateway limits this address" };
    case "limit_not_confirmed":
      return { kind: "limit_of_others", why: `no ${finding.request} could follow it` };
    case "others_limited":
      return { kind: "limit_of_others", why: `a ${finding.request} got ${finding.got}, too` };
    case "control_failed":
      return { kind: "limit_of_others", why: `a ${finding.request} got ${finding.got}` };
    case "outage":
      return { kind: "outage", why: "its response may be one of an outage, or of a lock" };
  }
}
