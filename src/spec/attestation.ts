import { type ConsentRecord, type ConsentStatus, type ConsentTransition, consentHistory } from "./consent.js";

/** The data that a farmer can consent to share; one attestation is made for each. */
export const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"] as const;
export type Permission = (typeof permissions)[number];

/** The progress of producing an attestation. */
export const productionStatuses = ["processing", "ready", "failed"] as const;
export type ProductionStatus = (typeof productionStatuses)[number];

/** The validity of a ready attestation. */
export const validityStatuses = ["active", "suspended", "revoked", "expired"] as const;
export type ValidityStatus = (typeof validityStatuses)[number];

/** The time from a consent to its attestations, in milliseconds. */
export const productionTime = 60_000;

/** A suspension of an attestation, or its end; `at` is epoch milliseconds. */
export interface Suspension {
  readonly at: number;
  readonly permission: Permission;
  readonly suspended: boolean;
}

/** The state of an attestation. Times are epoch milliseconds. */
export interface AttestationState {
  readonly production: ProductionStatus;
  /** `null` until the attestation is ready, and for one that failed. */
  readonly validity: ValidityStatus | null;
  /** When the farmer granted the consent. */
  readonly requestedAt: number;
  /** When it was ready or failed. */
  readonly producedAt: number | null;
  /** When the consent ended, and the attestation with it. */
  readonly endedAt: number | null;
}

/**
 * The state of a permission's attestation at an instant; `undefined` before the farmer consents.
 *
 * A grant starts its production, and the end of the consent ends it. If the consent ends during production, the
 * attestation has failed.
 */
export function attestationAt(
  consent: ConsentRecord,
  { succeeds, suspensions }: { readonly succeeds: boolean; readonly suspensions: readonly Suspension[] },
  permission: Permission,
  now: number,
): AttestationState | undefined {
  const life = consentHistory(consent, now);
  const granted = life.find(({ status }) => status === "granted");
  if (granted === undefined) return undefined;
  const last = life.at(-1) as ConsentTransition;
  const endedAt = last === granted ? null : last.at;
  const requestedAt = granted.at;
  const readyAt = requestedAt + productionTime;
  if (endedAt !== null && endedAt < readyAt) {
    return { production: "failed", validity: null, requestedAt, producedAt: endedAt, endedAt };
  }
  if (now < readyAt) {
    return { production: "processing", validity: null, requestedAt, producedAt: null, endedAt: null };
  }
  if (!succeeds) {
    return { production: "failed", validity: null, requestedAt, producedAt: readyAt, endedAt: null };
  }
  const latest = suspensions.findLast((one) => one.permission === permission && one.at <= now);
  const validity = validityOf(last.status, latest?.suspended === true);
  return { production: "ready", validity, requestedAt, producedAt: readyAt, endedAt };
}

function validityOf(consent: ConsentStatus, isSuspended: boolean): ValidityStatus {
  if (consent === "expired") return "expired";
  if (consent !== "granted") return "revoked";
  return isSuspended ? "suspended" : "active";
}
