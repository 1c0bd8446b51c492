import { day, minute } from "./limits.js";

/** The status of a consent request. */
export const consentStatuses = ["pending", "granted", "rejected", "revoked", "cancelled", "expired"] as const;
export type ConsentStatus = (typeof consentStatuses)[number];

/** The party that causes a transition. */
export const consentParties = ["relying_party", "farmer", "system"] as const;
export type ConsentParty = (typeof consentParties)[number];

/** The decisions about a consent request, with the statuses before and after. */
export const consentActions = {
  grant: { by: "farmer", from: ["pending"], to: "granted" },
  reject: { by: "farmer", from: ["pending"], to: "rejected" },
  revoke: { by: "farmer", from: ["granted"], to: "revoked" },
  cancel: { by: "relying_party", from: ["pending", "granted"], to: "cancelled" },
} as const satisfies Readonly<Record<string, ConsentActionRow>>;
export type ConsentAction = keyof typeof consentActions;

interface ConsentActionRow {
  readonly by: ConsentParty;
  readonly from: readonly ConsentStatus[];
  readonly to: ConsentStatus;
}

/** The purposes of a consent request. */
export const purposeCodes = [
  "credit_assessment",
  "insurance_underwriting",
  "claim_assessment",
  "monitoring",
] as const;
export type PurposeCode = (typeof purposeCodes)[number];

/** Longest text of a purpose, in characters. */
export const longestPurpose = 500;

/** How farmers respond to consent requests. */
export const personas = ["grants", "refuses", "silent", "grants_then_revokes"] as const;
export type Persona = (typeof personas)[number];

/** Time from a request to the farmer's decision, in milliseconds. */
const decisionDelay = 120 * minute;
/** Time from granting to revoking, in milliseconds. */
const revokeDelay = 30 * day;
/** Time that a farmer has to decide, in milliseconds. */
export const timeToDecide = 7 * day;
/** The default and the maximum duration of a consent, in milliseconds. */
export const defaultConsentTime = 90 * day;
export const maximumConsentTime = 365 * day;

/** A decision about a consent request. */
export interface ConsentDecision {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly action: ConsentAction;
}

/** A stored consent request; {@link consentHistory} derives its status. Times are epoch milliseconds. */
export interface ConsentRecord {
  readonly createdAt: number;
  /** The end of the consent. */
  readonly expiresAt: number;
  readonly persona: Persona;
  /** In the order of their times. */
  readonly decisions: readonly ConsentDecision[];
}

/** A change of status of a consent request. */
export interface ConsentTransition {
  readonly status: ConsentStatus;
  readonly at: number;
  readonly by: ConsentParty;
}

/**
 * The transitions of a consent request up to and including an instant; the last one has its status.
 *
 * Nothing runs on timers: farmers' own decisions and expiry are derived from the record. A consent has expired at the
 * instant of its expiry. A decision that is not allowed at its time has no effect.
 */
export function consentHistory(record: ConsentRecord, now: number): readonly ConsentTransition[] {
  return replay(record, now).life;
}

/** The decisions about a request that have an effect. */
export function effectiveDecisions(record: ConsentRecord): readonly ConsentDecision[] {
  return replay(record, Number.POSITIVE_INFINITY).effective;
}

function replay(
  record: ConsentRecord,
  now: number,
): { readonly life: readonly ConsentTransition[]; readonly effective: readonly ConsentDecision[] } {
  const life: ConsentTransition[] = [{ status: "pending", at: record.createdAt, by: "relying_party" }];
  const effective: ConsentDecision[] = [];
  const current = () => life.at(-1) as ConsentTransition;
  const pass = (until: number) => {
    for (;;) {
      const next = automaticTransition(record, current());
      if (next === undefined || next.at > until) return;
      life.push(next);
    }
  };
  for (const decision of record.decisions) {
    if (decision.at > now) break;
    // An automatic transition precedes a decision at the same instant.
    pass(decision.at);
    if (!isAllowed(decision.action, current().status)) continue;
    const { to, by } = consentActions[decision.action];
    life.push({ status: to, at: decision.at, by });
    effective.push(decision);
  }
  pass(now);
  return { life, effective };
}

/** Whether an action is allowed in this status. */
export function isAllowed(action: ConsentAction, status: ConsentStatus): boolean {
  return (consentActions[action].from as readonly ConsentStatus[]).includes(status);
}

/** When a request expires without a decision. */
export function respondBy({ createdAt, expiresAt }: ConsentRecord): number {
  return Math.min(createdAt + timeToDecide, expiresAt);
}

function automaticTransition(
  record: ConsentRecord,
  { status, at }: ConsentTransition,
): ConsentTransition | undefined {
  if (status === "pending") {
    return earlier({ status: "expired", at: respondBy(record), by: "system" }, decisionOf(record));
  }
  if (status !== "granted") return undefined;
  const expiry: ConsentTransition = { status: "expired", at: record.expiresAt, by: "system" };
  // Only the persona's own grant is revoked automatically; a manual grant stays.
  const regrets = record.persona === "grants_then_revokes" && at === record.createdAt + decisionDelay;
  return earlier(expiry, regrets ? { status: "revoked", at: at + revokeDelay, by: "farmer" } : undefined);
}

function decisionOf({ persona, createdAt }: ConsentRecord): ConsentTransition | undefined {
  if (persona === "silent") return undefined;
  const status = persona === "refuses" ? "rejected" : "granted";
  return { status, at: createdAt + decisionDelay, by: "farmer" };
}

// At the same instant, the first one wins: an expired request can no longer be granted.
function earlier(one: ConsentTransition, other: ConsentTransition | undefined): ConsentTransition {
  return other !== undefined && other.at < one.at ? other : one;
}
