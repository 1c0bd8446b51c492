import { type ConsentRecord, type ConsentStation, consentAt } from "./consent.js";

/** What a farmer can consent to have attested; one attestation is made for each. */
export const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"] as const;
export type Permission = (typeof permissions)[number];

/** Whether an attestation is there yet. */
export const productionStatuses = ["processing", "ready", "failed"] as const;
export type ProductionStatus = (typeof productionStatuses)[number];

/** Whether one that is there can be relied on. */
export const validityStatuses = ["active", "suspended", "revoked", "expired"] as const;
export type ValidityStatus = (typeof validityStatuses)[number];

/** How long it takes to make an attestation, in milliseconds. */
export const productionTime = 60_000;

/** A suspension of an attestation, or its end; `at` is epoch milliseconds. */
export interface SuspensionDeed {
  readonly at: number;
  readonly permission: Permission;
  readonly suspended: boolean;
}

/** Where an attestation stands. Times are epoch milliseconds. */
export interface AttestationState {
  readonly production: ProductionStatus;
  /** `null` until the attestation is ready, and for one that failed. */
  readonly validity: ValidityStatus | null;
  /** When the farmer granted the consent that it stands on. */
  readonly requestedAt: number;
  /** When it was ready or failed. */
  readonly producedAt: number | null;
  /** When it ended: the consent did. */
  readonly endedAt: number | null;
}

/**
 * Where the attestation of a permission stands at an instant; `undefined` when there is none, since the farmer has not
 * consented by then.
 *
 * It is made once the consent is granted, whatever comes after; it ends with the consent. One whose production the end
 * of the consent overtakes has failed.
 */
export function attestationAt(
  consent: ConsentRecord,
  { succeeds, suspensions }: { readonly succeeds: boolean; readonly suspensions: readonly SuspensionDeed[] },
  permission: Permission,
  now: number,
): AttestationState | undefined {
  const life = consentAt(consent, now);
  const granted = life.find(({ status }) => status === "granted");
  if (granted === undefined) return undefined;
  const end = endOf(life);
  const requestedAt = granted.at;
  const readyAt = requestedAt + productionTime;
  if (end !== undefined && end.at < readyAt) {
    return { production: "failed", validity: null, requestedAt, producedAt: end.at, endedAt: end.at };
  }
  if (now < readyAt) {
    return { production: "processing", validity: null, requestedAt, producedAt: null, endedAt: null };
  }
  if (!succeeds) {
    return { production: "failed", validity: null, requestedAt, producedAt: readyAt, endedAt: null };
  }
  const isSuspended = suspensions.findLast((deed) => deed.permission === permission && deed.at <= now);
  const whileConsented = isSuspended?.suspended === true ? "suspended" : "active";
  const validity =
    end === undefined
      ? whileConsented
      : end.status === "expired"
        ? ("expired" as const)
        : ("revoked" as const);
  return { production: "ready", validity, requestedAt, producedAt: readyAt, endedAt: end?.at ?? null };
}

function endOf(life: readonly ConsentStation[]): ConsentStation | undefined {
  const last = life.at(-1);
  return last?.status === "granted" ? undefined : last;
}
