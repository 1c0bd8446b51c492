import type { Permission, SuspensionDeed } from "../domain/attestation.js";
import {
  type ConsentAction,
  type ConsentRecord,
  type ConsentStation,
  consentAt,
  type PurposeCode,
} from "../domain/consent.js";
import { personaOf } from "../domain/persona.js";
import { base62From, randomStream } from "../domain/seed.js";

/** What a relying party asks a farmer for. Times are epoch milliseconds. */
export interface ConsentWish {
  /** The ref of the organization that asks; it asks with a test key, since live keys reach no farmer of ours (R45). */
  readonly organization: string;
  /** The index of the farmer. */
  readonly farmer: number;
  readonly purpose: { readonly code: PurposeCode; readonly text: string };
  readonly permissions: readonly Permission[];
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Under which key the request can be sent again, and the SHA-256 of what it said. */
  readonly idempotency: { readonly key: string; readonly sha256?: string } | undefined;
}

/** A consent request's place in the store; the record in it is replaced when somebody does something about it. */
export interface ConsentEntry extends Omit<ConsentWish, "createdAt" | "expiresAt"> {
  readonly id: string;
  /** Its place among all requests of the world, counted from 1. */
  readonly number: number;
  /** Those of the attestations that it leads to once it is granted, in the order of the permissions. */
  readonly attestationIds: readonly string[];
  record: ConsentRecord;
  suspensions: readonly SuspensionDeed[];
}

/** Where the attestation of a permission would be, whether or not it is there yet. */
export interface AttestationPlace {
  readonly id: string;
  readonly consent: ConsentEntry;
  readonly permission: Permission;
}

/** The consent requests of one world, in the order in which they were made. */
export interface Consents {
  readonly all: readonly ConsentEntry[];
  readonly find: (id: string) => ConsentEntry | undefined;
  readonly attestation: (id: string) => AttestationPlace | undefined;
  /** The request that an organization made under this `Idempotency-Key`. */
  readonly madeUnder: (organization: string, key: string) => ConsentEntry | undefined;
  /** The request that would come of this wish now. Does not add it. */
  readonly draft: (wish: ConsentWish) => ConsentEntry;
  /** Adds the latest draft. */
  readonly add: (entry: ConsentEntry) => void;
}

const idLength = 20;

/** Makes an empty store. The n-th request has the id that the seed and n give, so that ids are the same in every run. */
export function createConsents(seed: number): Consents {
  const all: ConsentEntry[] = [];
  const byId = new Map<string, ConsentEntry>();
  const attestations = new Map<string, AttestationPlace>();
  const byKey = new Map<string, ConsentEntry>();
  return {
    all,
    find: (id) => byId.get(id),
    attestation: (id) => attestations.get(id),
    madeUnder: (organization, key) => byKey.get(keyedBy(organization, key)),
    draft({ createdAt, expiresAt, ...wish }) {
      const number = all.length + 1;
      const id = `consent_${base62From(randomStream(seed, "consent.id", String(number)), idLength)}`;
      const record = { createdAt, expiresAt, persona: personaOf(seed, wish.farmer), deeds: [] };
      const attestationIds = wish.permissions.map((permission) => attestationId(seed, number, permission));
      return { ...wish, id, number, attestationIds, record, suspensions: [] };
    },
    add(entry) {
      all.push(entry);
      byId.set(entry.id, entry);
      for (const place of placesOf(entry)) attestations.set(place.id, place);
      if (entry.idempotency !== undefined) {
        byKey.set(keyedBy(entry.organization, entry.idempotency.key), entry);
      }
    },
  };
}

/** Where the attestations of a request are, or would be, in the order of its permissions. */
export function placesOf(consent: ConsentEntry): AttestationPlace[] {
  return consent.permissions.map((permission, position) => ({
    id: consent.attestationIds[position] as string,
    consent,
    permission,
  }));
}

/** Where a request stands at an instant. */
export function standingAt(entry: ConsentEntry, now: number): ConsentStation {
  return consentAt(entry.record, now).at(-1) as ConsentStation;
}

/** The record once this is done about the request; no earlier than what has been done about it before. */
export function withDeed(entry: ConsentEntry, action: ConsentAction, now: number): ConsentRecord {
  const { record } = entry;
  // A step of the timeline may be due a moment before what somebody has just done.
  const at = Math.max(now, record.createdAt, record.deeds.at(-1)?.at ?? now);
  return { ...record, deeds: [...record.deeds, { at, action }] };
}

function attestationId(seed: number, number: number, permission: Permission): string {
  const draw = randomStream(seed, "attestation.id", String(number), permission);
  return `attestation_${base62From(draw, idLength)}`;
}

function keyedBy(organization: string, key: string): string {
  return `${organization}\u0000${key}`;
}
