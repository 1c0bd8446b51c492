import { day, minute } from "./limits.js";

/** The status of a consent request. */
export const consentStatuses = ["pending", "granted", "rejected", "revoked", "cancelled", "expired"] as const;
export type ConsentStatus = (typeof consentStatuses)[number];

/** The party that causes a transition. */
export const consentParties = ["relying_party", "farmer", "system"] as const;
export type ConsentParty = (typeof consentParties)[number];

/** The decisions about a consent request, and where they lead. */
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

/** The purposes for which a relying party can ask. */
export const purposeCodes = [
  "credit_assessment",
  "insurance_underwriting",
  "claim_assessment",
  "monitoring",
] as const;
export type PurposeCode = (typeof purposeCodes)[number];

/** Longest text of a purpose, in characters. */
export const longestPurpose = 500;

/** The ways in which farmers answer consent requests. */
export const personas = ["grants", "refuses", "silent", "grants_then_revokes"] as const;
export type Persona = (typeof personas)[number];

/** Time from a request to its answer, in milliseconds. */
const answerDelay = 120 * minute;
/** Time from granting to revoking, in milliseconds. */
const revokeDelay = 30 * day;
/** Time that a farmer has to answer, in milliseconds. */
export const timeToAnswer = 7 * day;
/** Duration of a consent by default, and at most; in milliseconds. */
export const defaultConsentTime = 90 * day;
export const maximumConsentTime = 365 * day;

/** A decision about a consent request. */
export interface ConsentDecision {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly action: ConsentAction;
}

/** A consent request as it is stored; {@link consentHistory} works out its status at an instant. Times are epoch milliseconds. */
export interface ConsentRecord {
  readonly createdAt: number;
  /** The end of the consent. */
  readonly expiresAt: number;
  readonly persona: Persona;
  /** In the order in which they were made. */
  readonly decisions: readonly ConsentDecision[];
}

/** A change of status of a consent request. */
export interface ConsentTransition {
  readonly status: ConsentStatus;
  readonly at: number;
  readonly by: ConsentParty;
}

/**
 * The transitions of a consent request up to and including an instant; the last one gives its status.
 *
 * Nothing runs on timers: farmers' own answers and expiry follow from the record. A consent has expired at the instant at
 * which it expires. A decision that is not allowed when its time comes changes nothing.
 */
export function consentHistory(record: ConsentRecord, now: number): readonly ConsentTransition[] {
  return replay(record, now).life;
}

/** The decisions about a request that changed something. */
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
    // An automatic transition comes before a decision, also in the same instant.
    pass(decision.at);
    if (!isAllowed(decision.action, current().status)) continue;
    const { to, by } = consentActions[decision.action];
    life.push({ status: to, at: decision.at, by });
    effective.push(decision);
  }
  pass(now);
  return { life, effective };
}

/** Whether a request of this status allows an action. */
export function isAllowed(action: ConsentAction, status: ConsentStatus): boolean {
  return (consentActions[action].from as readonly ConsentStatus[]).includes(status);
}

/** The instant at which a request without an answer expires. */
export function respondBy({ createdAt, expiresAt }: ConsentRecord): number {
  return Math.min(createdAt + timeToAnswer, expiresAt);
}

function automaticTransition(
  record: ConsentRecord,
  { status, at }: ConsentTransition,
): ConsentTransition | undefined {
  if (status === "pending") {
    return earlier({ status: "expired", at: respondBy(record), by: "system" }, answerOf(record));
  }
  if (status !== "granted") return undefined;
  const expiry: ConsentTransition = { status: "expired", at: record.expiresAt, by: "system" };
  // Only a grant that the persona made itself is revoked automatically; a manual grant stays.
  const regrets = record.persona === "grants_then_revokes" && at === record.createdAt + answerDelay;
  return earlier(expiry, regrets ? { status: "revoked", at: at + revokeDelay, by: "farmer" } : undefined);
}

function answerOf({ persona, createdAt }: ConsentRecord): ConsentTransition | undefined {
  if (persona === "silent") return undefined;
  const status = persona === "refuses" ? "rejected" : "granted";
  return { status, at: createdAt + answerDelay, by: "farmer" };
}

// Of two in the same instant the first: an expired request cannot be granted any more.
function earlier(one: ConsentTransition, other: ConsentTransition | undefined): ConsentTransition {
  return other !== undefined && other.at < one.at ? other : one;
}
