import { parseWhen } from "../../scenario/format/fields.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import {
  type ConsentAction,
  type ConsentRecord,
  type ConsentStatus,
  type ConsentTransition,
  consentHistory,
  defaultConsentTime,
  effectiveDecisions,
  type Permission,
  type PurposeCode,
  personaOf,
  type Suspension,
} from "../../spec/consent.js";
import { base62From, randomStream } from "../../spec/seed.js";
import { isoOf } from "../clock.js";

/** A consent request before it has an id. Times are epoch milliseconds. */
export interface ConsentDraft {
  /** The ref of the requesting organization, which used a test key: live keys see no synthetic farmer (R45). */
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
  /** Its attestations, which exist once it is granted, in the order of the permissions. */
  readonly attestations: readonly AttestationEntry[];
  record: ConsentRecord;
  suspensions: readonly Suspension[];
}

/** The attestation of a permission, whether or not it exists yet. */
export interface AttestationEntry {
  readonly id: string;
  readonly consent: ConsentEntry;
  readonly permission: Permission;
}

/** Creates an empty store. The id of the n-th request derives from the seed and n, and is the same in every run. */
function createConsents(seed: number) {
  const all: ConsentEntry[] = [];
  const byId = new Map<string, ConsentEntry>();
  const attestations = new Map<string, AttestationEntry>();
  const idOf = (kind: "consent" | "attestation", ...labels: readonly string[]) =>
    `${kind}_${base62From(randomStream(seed, `${kind}.id`, ...labels), 20)}`;
  return {
    /** In order of creation. */
    all: all as readonly ConsentEntry[],
    find: (id: string) => byId.get(id),
    attestation: (id: string) => attestations.get(id),
    /** Returns the organization's request with this `Idempotency-Key`. */
    madeUnder: (organization: string, key: string) =>
      all.find((entry) => entry.organization === organization && entry.idempotency?.key === key),
    /** Creates the request with the next id, without adding it. */
    draft({ createdAt, expiresAt, ...draft }: ConsentDraft): ConsentEntry {
      const number = String(all.length + 1);
      const record = { createdAt, expiresAt, persona: personaOf(seed, draft.farmer), decisions: [] };
      const entries: AttestationEntry[] = [];
      const id = idOf("consent", number);
      const consent: ConsentEntry = { ...draft, id, attestations: entries, record, suspensions: [] };
      for (const permission of draft.permissions) {
        entries.push({ id: idOf("attestation", number, permission), consent, permission });
      }
      return consent;
    },
    /** Adds the latest draft. */
    add(entry: ConsentEntry): void {
      all.push(entry);
      byId.set(entry.id, entry);
      for (const attestation of entry.attestations) attestations.set(attestation.id, attestation);
    },
  };
}

export type Consents = ReturnType<typeof createConsents>;

/** Returns the status of a request at an instant. */
export function statusAt(entry: ConsentEntry, now: number): ConsentStatus {
  return (consentHistory(entry.record, now).at(-1) as ConsentTransition).status;
}

/** Returns the record with one more decision, no earlier than the latest one. */
export function withDecision({ record }: ConsentEntry, action: ConsentAction, now: number): ConsentRecord {
  // A timeline step may be due just before a decision that has already happened.
  const at = Math.max(now, record.createdAt, record.decisions.at(-1)?.at ?? now);
  return { ...record, decisions: [...record.decisions, { at, action }] };
}

type DescribedConsent = NonNullable<Scenario["consents"]>[number];

const defaultPurpose = { code: "credit_assessment", text: "To assess an application for credit." } as const;

/** Creates the consent requests of a scenario whose clock starts at `start` (epoch milliseconds). */
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
    const decisions = (given.decisions ?? []).map(({ at, do: action }) => ({
      at: instant(at, start),
      action,
    }));
    entry.record = { ...entry.record, decisions };
    entry.suspensions = (given.suspensions ?? []).map((one) => ({ ...one, at: instant(one.at, start) }));
    store.add(entry);
  }
  return store;
}

/** Describes the consent requests of a store as in a scenario. */
export function describeConsents({ all }: Consents): DescribedConsent[] {
  return all.map(({ organization, farmer, purpose, permissions, record, suspensions, idempotency }) => {
    // Scenarios reject decisions that change nothing.
    const decisions = effectiveDecisions(record).map(({ at, action }) => ({ at: isoOf(at), do: action }));
    const suspended = suspensions.map(({ at, ...rest }) => ({ at: isoOf(at), ...rest }));
    return {
      organization,
      farmer,
      purpose: { ...purpose },
      permissions: [...permissions],
      created_at: isoOf(record.createdAt),
      expires_at: isoOf(record.expiresAt),
      ...(decisions.length > 0 && { decisions }),
      ...(suspended.length > 0 && { suspensions: suspended }),
      ...(idempotency !== undefined && { idempotency: { ...idempotency } }),
    };
  });
}
