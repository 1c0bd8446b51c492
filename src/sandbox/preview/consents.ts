import type { Permission, Suspension } from "../../domain/attestation.js";
import {
  type ConsentAction,
  type ConsentRecord,
  type ConsentStatus,
  type ConsentTransition,
  consentHistory,
  defaultConsentTime,
  effectiveDecisions,
  type PurposeCode,
} from "../../domain/consent.js";
import { personaOf } from "../../domain/farmer.js";
import { base62From, randomStream } from "../../domain/seed.js";
import { parseWhen } from "../../scenario/format/time.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { isoOf } from "../clock.js";

/** A consent request before it has an id. Times are epoch milliseconds. */
export interface ConsentDraft {
  /** The ref of the organization that asks, with a test key: live keys see no synthetic farmer (R45). */
  readonly organization: string;
  /** The index of the farmer. */
  readonly farmer: number;
  readonly purpose: { readonly code: PurposeCode; readonly text: string };
  readonly permissions: readonly Permission[];
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The `Idempotency-Key` of the request, and the SHA-256 of its body. */
  readonly idempotency: { readonly key: string; readonly sha256?: string } | undefined;
}

/** A consent request in the store; each decision replaces its record. */
export interface ConsentEntry extends Omit<ConsentDraft, "createdAt" | "expiresAt"> {
  readonly id: string;
  /** Its number among all requests of the world, counted from 1. */
  readonly number: number;
  /** Ids of its attestations, which exist once it is granted, in the order of the permissions. */
  readonly attestationIds: readonly string[];
  record: ConsentRecord;
  suspensions: readonly Suspension[];
}

/** The attestation of a permission, whether or not it exists yet. */
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
  /** The request with the next id. Does not add it. */
  readonly draft: (draft: ConsentDraft) => ConsentEntry;
  /** Adds the latest draft. */
  readonly add: (entry: ConsentEntry) => void;
}

const idLength = 20;

/** Makes an empty store. The n-th request has the id that the seed and n give, so that ids are the same in every run. */
function createConsents(seed: number): Consents {
  const all: ConsentEntry[] = [];
  const byId = new Map<string, ConsentEntry>();
  const attestations = new Map<string, AttestationPlace>();
  const byKey = new Map<string, ConsentEntry>();
  return {
    all,
    find: (id) => byId.get(id),
    attestation: (id) => attestations.get(id),
    madeUnder: (organization, key) => byKey.get(keyedBy(organization, key)),
    draft({ createdAt, expiresAt, ...draft }) {
      const number = all.length + 1;
      const id = `consent_${base62From(randomStream(seed, "consent.id", String(number)), idLength)}`;
      const record = { createdAt, expiresAt, persona: personaOf(seed, draft.farmer), decisions: [] };
      const attestationIds = draft.permissions.map((permission) => attestationId(seed, number, permission));
      return { ...draft, id, number, attestationIds, record, suspensions: [] };
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

/** The attestations of a request, existing or not yet, in the order of its permissions. */
export function placesOf(consent: ConsentEntry): AttestationPlace[] {
  return consent.permissions.map((permission, position) => ({
    id: consent.attestationIds[position] as string,
    consent,
    permission,
  }));
}

/** The status of a request at an instant. */
export function statusAt(entry: ConsentEntry, now: number): ConsentStatus {
  return (consentHistory(entry.record, now).at(-1) as ConsentTransition).status;
}

/** The record with one more decision, no earlier than the latest one. */
export function withDecision(entry: ConsentEntry, action: ConsentAction, now: number): ConsentRecord {
  const { record } = entry;
  // A step of the timeline may be due a moment before a decision that has just been made.
  const at = Math.max(now, record.createdAt, record.decisions.at(-1)?.at ?? now);
  return { ...record, decisions: [...record.decisions, { at, action }] };
}

function attestationId(seed: number, number: number, permission: Permission): string {
  const draw = randomStream(seed, "attestation.id", String(number), permission);
  return `attestation_${base62From(draw, idLength)}`;
}

function keyedBy(organization: string, key: string): string {
  return `${organization}\u0000${key}`;
}

type DescribedConsent = NonNullable<Scenario["consents"]>[number];

const defaultPurpose = { code: "credit_assessment", text: "To assess an application for credit." } as const;

/** The consent requests that a scenario describes, in a world whose clock starts at `start` (epoch milliseconds). */
export function buildConsents({ consents = [] }: Scenario, seed: number, start: number): Consents {
  const store = createConsents(seed);
  const instant = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : (parseWhen(text, start) ?? otherwise);
  for (const given of consents) {
    const createdAt = instant(given.created_at, start);
    const entry = store.draft({
      organization: given.organization,
      farmer: given.farmer,
      purpose: given.purpose ?? defaultPurpose,
      permissions: given.permissions ?? ["identity"],
      createdAt,
      expiresAt: instant(given.expires_at, createdAt + defaultConsentTime),
      idempotency: given.idempotency,
    });
    const decisions = (given.deeds ?? []).map(({ at, do: action }) => ({ at: instant(at, start), action }));
    entry.record = { ...entry.record, decisions };
    entry.suspensions = (given.suspensions ?? []).map((one) => ({ ...one, at: instant(one.at, start) }));
    store.add(entry);
  }
  return store;
}

/** The consent requests of a store as a scenario describes them. */
export function describeConsents({ all }: Consents): DescribedConsent[] {
  return all.map(described);
}

function described(entry: ConsentEntry): DescribedConsent {
  const { organization, farmer, purpose, permissions, record, suspensions, idempotency } = entry;
  // Scenarios refuse decisions that change nothing.
  const decisions = effectiveDecisions(record);
  return {
    organization,
    farmer,
    purpose: { ...purpose },
    permissions: [...permissions],
    created_at: isoOf(record.createdAt),
    expires_at: isoOf(record.expiresAt),
    ...(decisions.length > 0 && {
      deeds: decisions.map(({ at, action }) => ({ at: isoOf(at), do: action })),
    }),
    ...(suspensions.length > 0 && {
      suspensions: suspensions.map(({ at, ...rest }) => ({ at: isoOf(at), ...rest })),
    }),
    ...(idempotency !== undefined && { idempotency: { ...idempotency } }),
  };
}
