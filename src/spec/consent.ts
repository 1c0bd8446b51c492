import { day, minute } from "./api-key.js";
import { randomStream } from "./seed.js";

export const consentStatuses = ["pending", "granted", "rejected", "revoked", "cancelled", "expired"] as const;
export type ConsentStatus = (typeof consentStatuses)[number];

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
const timeToDecide = 7 * day;
/** The default and the maximum duration of a consent, in milliseconds. */
export const defaultConsentTime = 90 * day;
export const maximumConsentTime = 365 * day;

export interface ConsentDecision {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly action: ConsentAction;
}

/** A stored consent request; {@link consentHistory} derives its status. Times are epoch milliseconds. */
export interface ConsentRecord {
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly persona: Persona;
  /** In the order of their times. */
  readonly decisions: readonly ConsentDecision[];
}

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
  const life: ConsentTransition[] = [{ status: "pending", at: record.createdAt, by: "relying_party" }];
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
  }
  pass(now);
  return life;
}

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

/** The data that a farmer can consent to share; one attestation is made for each. */
export const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"] as const;
export type Permission = (typeof permissions)[number];

export const productionStatuses = ["processing", "ready", "failed"] as const;
export type ProductionStatus = (typeof productionStatuses)[number];

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

/** The locales of farmers: a language, with a country if the language has several. */
export const farmerLocales = [
  "en_GH",
  "en_IN",
  "en_NG",
  "es_MX",
  "fr_SN",
  "id_ID",
  "pt_BR",
  "tr",
  "uk",
  "vi",
] as const;
export type FarmerLocale = (typeof farmerLocales)[number];

/** A locale, or a language for all its locales. */
export const farmerLocaleChoices: readonly [string, ...string[]] = [
  ...new Set(farmerLocales.flatMap((name) => [name.split("_")[0] as string, name])),
] as [string, ...string[]];

/** The number of farmers of a seed: each has an index of 32 bits. */
export const mostFarmers = 2 ** 32;

/** The personas of the first farmers, the same for every seed, so a client can find each one by its index. */
const fixed: readonly Persona[] = ["grants", "refuses", "silent", "grants_then_revokes", "grants"];

/** The index of the farmer whose attestations all fail. Attestations of the farmers before it never fail. */
const withoutRecords = 4;

// The personas of all other farmers, with cumulative shares.
const shares: readonly (readonly [upTo: number, persona: Persona])[] = [
  [0.7, "grants"],
  [0.8, "refuses"],
  [0.95, "silent"],
  [1, "grants_then_revokes"],
];
const failing = 0.05;

export function personaOf(seed: number, farmer: number): Persona {
  const chance = chanceFor(seed, "farmer.persona", String(farmer));
  return fixed[farmer] ?? (shares.find(([upTo]) => chance < upTo)?.[1] as Persona);
}

/** Whether the production of an attestation succeeds, for the farmer at an index. */
export function canBeAttested(seed: number, farmer: number, permission: Permission): boolean {
  if (farmer < fixed.length) return farmer !== withoutRecords;
  return chanceFor(seed, "farmer.attested", String(farmer), permission) >= failing;
}

function chanceFor(seed: number, ...labels: readonly string[]): number {
  return randomStream(seed, ...labels)() / 4_294_967_296;
}
