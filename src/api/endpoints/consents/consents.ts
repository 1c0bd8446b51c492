import type { Farmer, Parcel } from "../../../farmers/farmer-shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import type { SandboxState } from "../../../sandbox/sandbox.js";
import type { ConsentView } from "../../../sandbox/view-shapes.js";
import { timeFrom } from "../../../scenario/format/fields.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import {
  type AttestationState,
  attestationAt,
  type ConsentAction,
  type ConsentRecord,
  type ConsentStatus,
  type ConsentTransition,
  canBeAttested,
  consentHistory,
  defaultConsentTime,
  type Permission,
  type PurposeCode,
  permissions,
  personaOf,
  productionStatuses,
  respondBy,
  type Suspension,
  validityStatuses,
} from "../../../spec/consent.js";
import {
  always,
  anything,
  choice,
  described,
  either,
  instant,
  mapping,
  nullable,
  type Shape,
  text,
  type ValueOf,
} from "../../../spec/schema/shape.js";
import { base62From, randomStream } from "../../../spec/seed.js";

/** A consent request before it has an id. Times are epoch milliseconds. */
export interface ConsentDraft {
  /** The ref of the requesting organization, which used a test key: live keys see no synthetic farmer (R45). */
  readonly organization: string;
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

/**
 * Creates a consent request, to be added to `all`. The id of the n-th request derives from the seed and n, and is the
 * same in every run.
 */
export function draftConsent(
  all: readonly ConsentEntry[],
  seed: number,
  { createdAt, expiresAt, ...draft }: ConsentDraft,
): ConsentEntry {
  const number = String(all.length + 1);
  const idOf = (kind: "consent" | "attestation", ...labels: readonly string[]) =>
    `${kind}_${base62From(randomStream(seed, `${kind}.id`, number, ...labels), 20)}`;
  const record = { createdAt, expiresAt, persona: personaOf(seed, draft.farmer), decisions: [] };
  const attestations: AttestationEntry[] = [];
  const consent: ConsentEntry = { ...draft, id: idOf("consent"), attestations, record, suspensions: [] };
  for (const permission of draft.permissions) {
    attestations.push({ id: idOf("attestation", permission), consent, permission });
  }
  return consent;
}

/** Consent requests by what endpoints look for; they are only ever added. */
interface ConsentIndex {
  count: number;
  readonly byId: Map<string, ConsentEntry>;
  readonly attestations: Map<string, AttestationEntry>;
  readonly byOrganization: Map<string, ConsentEntry[]>;
  readonly byIdempotencyKey: Map<string, ConsentEntry>;
}

const indexes = new WeakMap<readonly ConsentEntry[], ConsentIndex>();

export function indexOf(all: readonly ConsentEntry[]): ConsentIndex {
  const [byId, attestations] = [new Map<string, ConsentEntry>(), new Map<string, AttestationEntry>()];
  const [byOrganization, byIdempotencyKey] = [
    new Map<string, ConsentEntry[]>(),
    new Map<string, ConsentEntry>(),
  ];
  const index = indexes.get(all) ?? { count: 0, byId, attestations, byOrganization, byIdempotencyKey };
  indexes.set(all, index);
  for (const entry of all.slice(index.count)) {
    const { id, organization, idempotency } = entry;
    index.byId.set(id, entry);
    for (const one of entry.attestations) index.attestations.set(one.id, one);
    const own = index.byOrganization.get(organization);
    if (own === undefined) index.byOrganization.set(organization, [entry]);
    else own.push(entry);
    const key = idempotency && `${organization} ${idempotency.key}`;
    if (key !== undefined && !index.byIdempotencyKey.has(key)) index.byIdempotencyKey.set(key, entry);
  }
  index.count = all.length;
  return index;
}

/** Returns the attestation with this id, whether or not it exists yet. */
export function attestationIn(all: readonly ConsentEntry[], id: string): AttestationEntry | undefined {
  return indexOf(all).attestations.get(id);
}

export function statusAt(entry: ConsentEntry, now: number): ConsentStatus {
  return (consentHistory(entry.record, now).at(-1) as ConsentTransition).status;
}

/** Returns the record with one more decision, no earlier than the latest one. */
export function withDecision({ record }: ConsentEntry, action: ConsentAction, now: number): ConsentRecord {
  // A timeline step may be due just before a decision that has already happened.
  const at = Math.max(now, record.createdAt, record.decisions.at(-1)?.at ?? now);
  return { ...record, decisions: [...record.decisions, { at, action }] };
}

const defaultPurpose = { code: "credit_assessment", text: "To assess an application for credit." } as const;

/** Creates the consent requests of a scenario whose clock starts at `start` (epoch milliseconds). */
export function buildConsents({ consents = [] }: Scenario, seed: number, start: number): ConsentEntry[] {
  const all: ConsentEntry[] = [];
  const instant = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : timeFrom(start, text);
  for (const given of consents) {
    const createdAt = instant(given.created_at, start);
    const entry = draftConsent(all, seed, {
      organization: given.organization,
      farmer: given.farmer,
      purpose: given.purpose ?? defaultPurpose,
      permissions: given.permissions ?? ["identity"],
      createdAt,
      expiresAt: instant(given.expires_at, createdAt + defaultConsentTime),
      idempotency: given.idempotency,
    });
    const { decisions = [] } = given;
    const decided = decisions.map(({ at, do: action }) => ({ at: instant(at, start), action }));
    entry.record = { ...entry.record, decisions: decided };
    entry.suspensions = (given.suspensions ?? []).map((one) => ({ ...one, at: instant(one.at, start) }));
    all.push(entry);
  }
  return all;
}

export function describeConsents(all: readonly ConsentEntry[]): NonNullable<Scenario["consents"]> {
  return all.map(({ organization, farmer, purpose, permissions, record, suspensions, idempotency }) => {
    const decisions = record.decisions.map(({ at, action }) => ({ at: isoOf(at), do: action }));
    const suspended = suspensions.map(({ at, ...rest }) => ({ at: isoOf(at), ...rest }));
    return {
      ...{ organization, farmer, purpose: { ...purpose }, permissions: [...permissions] },
      created_at: isoOf(record.createdAt),
      expires_at: isoOf(record.expiresAt),
      ...(decisions.length > 0 && { decisions }),
      ...(suspended.length > 0 && { suspensions: suspended }),
      ...(idempotency !== undefined && { idempotency: { ...idempotency } }),
    };
  });
}

/** The members of a sandbox that views depend on. */
type Viewed = Pick<SandboxState, "seed" | "clock" | "farmers">;

export function viewConsent(entry: ConsentEntry, world: Viewed, now = world.clock.now()): ConsentView {
  const { id, organization, farmer, purpose, permissions, record } = entry;
  const life = consentHistory(record, now);
  return {
    id,
    synthetic: true,
    organization,
    farmer,
    farmerId: world.farmers.idOf(farmer),
    status: (life.at(-1) as ConsentTransition).status,
    purpose: { ...purpose },
    permissions: [...permissions],
    createdAt: isoOf(record.createdAt),
    respondBy: isoOf(respondBy(record)),
    expiresAt: isoOf(record.expiresAt),
    history: life.map(({ status, at, by }) => ({ status, at: isoOf(at), by })),
    attestations: entry.attestations.flatMap((one) => {
      const state = attestationStateOf(one, world, now);
      if (state === undefined) return [];
      const { production, validity } = state;
      return { id: one.id, type: one.permission, production, validity };
    }),
  };
}

/** Returns the state of an attestation at an instant; `undefined` if it does not exist then. */
export function attestationStateOf(
  { consent, permission }: AttestationEntry,
  world: Viewed,
  now: number,
): AttestationState | undefined {
  const succeeds = canBeAttested(world.seed, consent.farmer, permission);
  return attestationAt(consent.record, { succeeds, suspensions: consent.suspensions }, permission, now);
}

export function viewAttestation(
  attestation: AttestationEntry,
  world: Viewed,
  now = world.clock.now(),
): AttestationView | undefined {
  const state = attestationStateOf(attestation, world, now);
  if (state === undefined) return undefined;
  const { consent, permission } = attestation;
  const { production, validity, requestedAt, producedAt, endedAt } = state;
  const isReady = production === "ready" && producedAt !== null;
  return {
    id: attestation.id,
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
 * Lists the attestations that exist at an instant, in the order of their grants. New ones come last, so that a client
 * that reads page by page gets each once.
 */
export function attestationsOf(entries: readonly ConsentEntry[], now: number): AttestationEntry[] {
  // They exist once the consent was granted, no matter what happened later.
  const granted = entries.flatMap((entry) => {
    const grant = consentHistory(entry.record, now).find(({ status }) => status === "granted");
    return grant === undefined ? [] : [{ entry, at: grant.at }];
  });
  return granted.sort((one, other) => one.at - other.at).flatMap(({ entry }) => entry.attestations);
}

type Subject = Readonly<Record<string, unknown>> & {
  readonly farmer_id: string;
  readonly synthetic: true;
};

/** The data of each permission: only what the farmer consents to share (R44). */
const attestedData: Readonly<Record<Permission, Readonly<Record<string, (of: Farmer) => unknown>>>> = {
  identity: copied("name", "sex", "birth_year", "language", "household", "location", "cooperative"),
  land: { ...copied("farmer_type", "farm_area_ha"), parcels: ({ parcels }) => parcels.map(withoutCrops) },
  production: {
    crops: ({ parcels }) =>
      parcels.map(({ id, properties: { area_ha, seasons, ...crop } }) => ({
        ...{ parcel_id: id, area_ha },
        "crop:code_list": crop["crop:code_list"],
        "crop:code": crop["crop:code"],
        "crop:name": crop["crop:name"],
        seasons,
      })),
  },
  livestock: copied("livestock"),
  insurance: copied("insurance"),
  loans: copied("loans"),
};

function copied(...members: readonly (keyof Farmer)[]) {
  return Object.fromEntries(members.map((name) => [name, (farmer: Farmer) => farmer[name]]));
}

// Crops belong to another permission.
function withoutCrops({ properties, ...parcel }: Parcel) {
  const { seasons: _s, "crop:code_list": _l, "crop:code": _c, "crop:name": _n, ...land } = properties;
  return { ...parcel, properties: land };
}

function subjectOf(farmer: Farmer, permission: Permission): Subject {
  const members = Object.entries(attestedData[permission]).map(([name, read]) => [name, read(farmer)]);
  return { farmer_id: farmer.farmer_id, synthetic: farmer.synthetic, ...Object.fromEntries(members) };
}

const synthetic = () => described(always(true), "The farmer does not exist (R44).");

// docs/farmers.md describes the members: an announced endpoint needs no longer description than the released endpoint.
const subjects = permissions.map((permission) =>
  mapping({
    farmer_id: text(),
    synthetic: synthetic(),
    ...Object.fromEntries(Object.keys(attestedData[permission]).map((name) => [name, anything()])),
  }),
);

export const attestationShape = mapping({
  id: text({ pattern: /^attestation_[0-9A-Za-z]{20}$/ }),
  synthetic: synthetic(),
  type: described(choice(permissions), "The permission that the farmer granted."),
  farmerId: text(),
  consentRequestId: text(),
  production: described(choice(productionStatuses), "Progress of its production."),
  validity: described(
    nullable(choice(validityStatuses)),
    "Whether it is valid; null until it is ready. A suspension can end, the other states are final.",
  ),
  requestedAt: described(instant(), "When the farmer granted the consent."),
  producedAt: described(nullable(instant()), "When it was ready, or failed."),
  validFrom: nullable(instant()),
  validUntil: nullable(instant()),
  asOf: described(instant(), "Date of the records that it is made from; later events are not in them."),
  subject: described(
    either(...subjects, { kind: "null" }) as Shape<Subject | null>,
    "Only the data that the farmer consented to share; null unless the attestation is ready and active.",
  ),
});
/** An attestation in lists. Times are ISO 8601. */
export interface AttestationView extends ValueOf<typeof attestationShape> {}
