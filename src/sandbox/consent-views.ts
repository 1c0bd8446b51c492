import {
  type AttestationState,
  attestationAt,
  type Permission,
  type ProductionStatus,
  type ValidityStatus,
} from "../domain/attestation.js";
import {
  type ConsentParty,
  type ConsentStation,
  type ConsentStatus,
  consentAt,
  type PurposeCode,
  respondBy,
} from "../domain/consent.js";
import { canBeAttested } from "../domain/persona.js";
import { isoOf } from "./clock.js";
import { type AttestationPlace, type ConsentEntry, placesOf } from "./consents.js";
import { type AttestedData, subjectOf } from "./subject.js";
import type { World } from "./world.js";

/** A consent request as lists show it. Times are ISO 8601. */
export interface ConsentView {
  readonly id: string;
  readonly synthetic: true;
  /** The ref of the organization that asks. */
  readonly organization: string;
  /** The index of the farmer. */
  readonly farmer: number;
  readonly farmerId: string;
  readonly status: ConsentStatus;
  readonly purpose: { readonly code: PurposeCode; readonly text: string };
  readonly permissions: readonly Permission[];
  readonly createdAt: string;
  readonly respondBy: string;
  readonly expiresAt: string;
  readonly history: readonly {
    readonly status: ConsentStatus;
    readonly at: string;
    readonly by: ConsentParty;
  }[];
  /** Those that there are: none before it is granted. */
  readonly attestations: readonly Pick<AttestationView, "id" | "type" | "production" | "validity">[];
}

/** An attestation as lists show it. Times are ISO 8601. */
export interface AttestationView {
  readonly id: string;
  readonly synthetic: true;
  readonly type: Permission;
  readonly farmerId: string;
  readonly consentRequestId: string;
  readonly production: ProductionStatus;
  readonly validity: ValidityStatus | null;
  readonly requestedAt: string;
  readonly producedAt: string | null;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  /** Of when the records are that it is made from: those of a farmer end where the clock started. */
  readonly asOf: string;
  /** What is attested; `null` unless the attestation is ready and active. */
  readonly subject: AttestedData | null;
}

/** A consent request as it is at an instant. */
export function viewConsent(entry: ConsentEntry, world: World, now = world.clock.now()): ConsentView {
  const { id, organization, farmer, purpose, permissions, record } = entry;
  const life = consentAt(record, now);
  return {
    id,
    synthetic: true,
    organization,
    farmer,
    farmerId: world.farmers.idOf(farmer),
    status: (life.at(-1) as ConsentStation).status,
    purpose: { ...purpose },
    permissions: [...permissions],
    createdAt: isoOf(record.createdAt),
    respondBy: isoOf(respondBy(record)),
    expiresAt: isoOf(record.expiresAt),
    history: life.map(({ status, at, by }) => ({ status, at: isoOf(at), by })),
    attestations: placesOf(entry).flatMap((place) => {
      const state = stateOf(place, world, now);
      if (state === undefined) return [];
      return [
        { id: place.id, type: place.permission, production: state.production, validity: state.validity },
      ];
    }),
  };
}

/** Where an attestation stands at an instant; `undefined` when it is not there. */
export function stateOf(
  { consent, permission }: AttestationPlace,
  world: World,
  now: number,
): AttestationState | undefined {
  const succeeds = canBeAttested(world.seed, consent.farmer, permission);
  return attestationAt(consent.record, { succeeds, suspensions: consent.suspensions }, permission, now);
}

/** An attestation as it is at an instant; `undefined` when it is not there. */
export function viewAttestation(
  place: AttestationPlace,
  world: World,
  now = world.clock.now(),
): AttestationView | undefined {
  const state = stateOf(place, world, now);
  if (state === undefined) return undefined;
  const { consent, permission } = place;
  const { production, validity, requestedAt, producedAt, endedAt } = state;
  const isReady = production === "ready" && producedAt !== null;
  return {
    id: place.id,
    synthetic: true,
    type: permission,
    farmerId: world.farmers.idOf(consent.farmer),
    consentRequestId: consent.id,
    production,
    validity,
    requestedAt: isoOf(requestedAt),
    producedAt: producedAt === null ? null : isoOf(producedAt),
    validFrom: isReady ? isoOf(producedAt) : null,
    validUntil: isReady ? isoOf(endedAt ?? consent.record.expiresAt) : null,
    asOf: isoOf(world.farmers.start),
    subject: validity === "active" ? subjectOf(world.farmers.at(consent.farmer), permission) : null,
  };
}

/**
 * The attestations of these requests that are there at an instant, in the order in which farmers granted them: new ones
 * come last, so that who goes through pages meets each once.
 */
export function attestationsOf(entries: readonly ConsentEntry[], now: number): AttestationPlace[] {
  // They are there once the consent was granted, whatever came after.
  const granted = entries.flatMap((entry) => {
    const grant = consentAt(entry.record, now).find(({ status }) => status === "granted");
    return grant === undefined ? [] : [{ entry, at: grant.at }];
  });
  return granted.sort((one, other) => one.at - other.at).flatMap(({ entry }) => placesOf(entry));
}
