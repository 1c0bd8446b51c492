import type { KeyEntry } from "../../../sandbox/keys.js";
import type { SandboxState } from "../../../sandbox/sandbox.js";
import { parseTimestamp } from "../../../scenario/format/fields.js";
import {
  consentActions,
  consentParties,
  consentStatuses,
  defaultConsentTime,
  isAllowed,
  longestPurpose,
  maximumConsentTime,
  permissions,
  purposeCodes,
} from "../../../spec/consent.js";
import { containsKey } from "../../../spec/redact.js";
import { canonicalJson, snakeCase } from "../../../spec/schema/json.js";
import {
  always,
  choice,
  count,
  described,
  instant,
  list,
  mapping,
  optional,
  text,
  type ValueOf,
} from "../../../spec/schema/shape.js";
import {
  type Announcement,
  type Endpoint,
  type ExampleRequest,
  jsonRequest,
  type OwnRefusal,
} from "../../endpoint.js";
import { jsonBody, type TextBody } from "../../messages.js";
import { invalid } from "../../request-input.js";
import {
  attestationShape,
  attestationsOf,
  type ConsentEntry,
  draftConsent,
  indexOf,
  statusAt,
  viewAttestation,
  viewConsent,
  withDecision,
} from "./consents.js";
import { changeConsent, consentsOf, consentsPart } from "./decisions.js";

/**
 * The records that a key can see. A test key sees synthetic farmers and the requests of its organization, a live key
 * sees nothing (R44, R45). Endpoints read records of farmers only through this function.
 */
function visibleTo({ key }: KeyEntry, world: SandboxState) {
  const { farmers } = world;
  const consents = consentsOf(world);
  const isTest = key.environment === "test";
  const own = isTest ? (indexOf(consents).byOrganization.get(key.organization) ?? []) : [];
  return {
    farmer: (id: string): number | undefined => (isTest ? farmers.indexOf(id) : undefined),
    consent(id: string): ConsentEntry | undefined {
      const entry = indexOf(consents).byId.get(id);
      return isTest && entry?.organization === key.organization ? entry : undefined;
    },
    attestations: (now: number) => attestationsOf(own, now),
  };
}

function ownConsents({ key }: KeyEntry, world: SandboxState): readonly ConsentEntry[] {
  return key.environment === "live"
    ? []
    : consentsOf(world).filter(({ organization }) => organization === key.organization);
}

function withId({ path }: Endpoint, id: string): string {
  return path.replace("{id}", id);
}

const unknown = (record: string): OwnRefusal => ({ refused: "404.unknown_record", details: { record } });

const guess =
  "Preview: announced, not released. Its shape is this project's guess, made from public consent and credential APIs.";

const purposeShape = mapping({
  code: choice(purposeCodes),
  text: described(text({ least: 1, most: longestPurpose }), "Text that the farmer reads."),
});

const responseShape = mapping({
  data: mapping({
    id: text({ pattern: /^consent_[0-9A-Za-z]{20}$/ }),
    synthetic: described(always(true), "The farmer does not exist (R44)."),
    farmer_id: text(),
    status: described(choice(consentStatuses), "rejected, revoked, cancelled and expired are final."),
    purpose: purposeShape,
    permissions: list(choice(permissions), { least: 1 }),
    created_at: instant(),
    respond_by: described(instant(), "When the request expires unless the farmer decides."),
    expires_at: described(instant(), "End of the consent."),
    history: described(
      list(mapping({ status: choice(consentStatuses), at: instant(), by: choice(consentParties) }), {
        least: 1,
      }),
      "Every status of the request, oldest first; the last one is current.",
    ),
  }),
});

const wantedShape = mapping({
  farmer_id: text({ least: 1, most: 200 }),
  purpose: purposeShape,
  permissions: described(
    list(choice(permissions), { least: 1, isUnique: true }),
    "Data to attest; each permission gets one attestation.",
  ),
  expires_at: optional(
    described(
      instant(),
      "End of the consent: a time with its zone, in the future, at most 365 days ahead. Default: 90 days from now.",
    ),
  ),
});
type Wanted = ValueOf<typeof wantedShape>;

const asked = {
  farmer_id: "farmer_0123456789abcdef",
  purpose: { code: "credit_assessment", text: "To assess an application for a seasonal loan." },
  permissions: ["identity", "land"],
};

const created = { status: "pending", at: "2026-03-02T09:00:00.000Z", by: "relying_party" };

function consentExample(...later: readonly (typeof created)[]): unknown {
  const history = [created, ...later];
  const { farmer_id, purpose, permissions } = asked;
  return {
    data: {
      id: "consent_4xRz0Q7mKfT2bYcW9dHs",
      synthetic: true,
      farmer_id,
      status: history.at(-1)?.status,
      purpose,
      permissions,
      created_at: created.at,
      respond_by: "2026-03-09T09:00:00.000Z",
      expires_at: "2026-05-31T09:00:00.000Z",
      history,
    },
  };
}

/** The body with a consent request at an instant, without its organization, which is the caller. */
function consentBody(entry: ConsentEntry, world: SandboxState, now: number): TextBody {
  const { organization: _, farmer: __, attestations: ___, ...shown } = viewConsent(entry, world, now);
  return jsonBody({ data: snakeCase(shown) });
}

export const createConsentRequest: Endpoint = {
  method: "POST",
  path: "/v1/relying-party/consent-requests",
  operationId: "createConsentRequest",
  summary: "Ask a farmer for consent",
  description: `${guess} The farmer decides later, or never. With an Idempotency-Key, sending the same request again returns the same record with Idempotent-Replayed: true.`,
  scope: "consents:write",
  input: { body: { shape: wantedShape, example: asked }, idempotencyKey: true },
  status: 201,
  responseName: "ConsentRequest",
  responseShape,
  responseExample: consentExample(),
  refusals: ["400.bad_request", "404.unknown_record", "422.validation", "422.idempotency_key"],
  requests(caller, world) {
    const { farmers } = world;
    const earlier = ownConsents(caller, world).find(({ idempotency }) => idempotency !== undefined);
    return [
      { ends: "400.bad_request" },
      ...(caller.key.environment === "live" ? [] : [jsonRequest({ ...asked, farmer_id: farmers.idOf(0) })]),
      ...(earlier === undefined ? [] : [reused(earlier, world)]),
    ];
  },
  respond(caller, world, { body, now, idempotencyKey }) {
    const wanted = body as Wanted;
    const consents = consentsOf(world);
    const { organization } = caller.key;
    const visible = visibleTo(caller, world);
    const farmer = visible.farmer(wanted.farmer_id);
    if (farmer === undefined) return unknown("farmer");
    const sha256 = world.platform.sha256(canonicalJson(body));
    // Before the times are checked: a late repetition was valid when it was first sent.
    const earlier = indexOf(consents).byIdempotencyKey.get(`${organization} ${idempotencyKey}`);
    if (earlier !== undefined) return replayed(earlier, sha256, world, now);
    const expiresAt = expiryOf(wanted, now);
    if (typeof expiresAt === "string") return invalid({ expires_at: expiresAt });
    if (containsKey(wanted.purpose.text)) return invalid({ "purpose.text": "must not contain an API key" });
    const entry = draftConsent(consents, world.seed, {
      organization,
      farmer,
      purpose: wanted.purpose,
      permissions: wanted.permissions,
      createdAt: now,
      expiresAt,
      idempotency: idempotencyKey === undefined ? undefined : { key: idempotencyKey, sha256 },
    });
    return {
      ...consentBody(entry, world, now),
      commit() {
        consents.push(entry);
        world.history.announce({ type: "consent.requested", consent: viewConsent(entry, world, now) });
      },
    };
  },
};

/** A different request with the idempotency key of an earlier one. */
function reused({ idempotency, farmer }: ConsentEntry, { farmers }: SandboxState): ExampleRequest {
  const purpose = { code: "monitoring", text: "Another purpose than before." };
  const body = { farmer_id: farmers.idOf(farmer), purpose, permissions: ["identity"] };
  return {
    ends: "422.idempotency_key",
    ...jsonRequest(body, { "Idempotency-Key": JSON.stringify(idempotency?.key) }),
  };
}

function replayed(earlier: ConsentEntry, sha256: string, world: SandboxState, now: number) {
  if (earlier.idempotency?.sha256 !== sha256) return { refused: "422.idempotency_key" } satisfies OwnRefusal;
  return { ...consentBody(earlier, world, now), headers: ["Idempotent-Replayed", "true"] };
}

/** Epoch milliseconds, or the problem as a text. */
function expiryOf({ expires_at: given }: Wanted, now: number): number | string {
  if (given === undefined) return now + defaultConsentTime;
  const expiresAt = parseTimestamp(given);
  if (expiresAt === undefined) return "must be an RFC 3339 time with a zone, such as 2026-06-01T00:00:00Z";
  if (expiresAt <= now) return "must be in the future, on the sandbox's clock";
  return expiresAt <= now + maximumConsentTime ? expiresAt : "must be at most 365 days ahead";
}

export const getConsentRequest: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/consent-requests/{id}",
  operationId: "getConsentRequest",
  summary: "The status of a consent request",
  description: `${guess} Shows a consent request of the key's organization and environment.`,
  scope: "consents:read",
  responseName: "ConsentRequest",
  responseShape,
  responseExample: consentExample(),
  refusals: ["404.unknown_record"],
  requests: (caller, world) => [
    { ends: "404.unknown_record", path: withId(getConsentRequest, "consent_nothing") },
    ...ownConsents(caller, world)
      .slice(0, 1)
      .map(({ id }) => ({ path: withId(getConsentRequest, id) })),
  ],
  respond(caller, world, { params, now }) {
    const entry = visibleTo(caller, world).consent(params.id as string);
    if (entry === undefined) return unknown("consent_request");
    return consentBody(entry, world, now);
  },
};

export const cancelConsentRequest: Endpoint = {
  method: "POST",
  path: "/v1/relying-party/consent-requests/{id}/cancel",
  operationId: "cancelConsentRequest",
  summary: "Cancel a consent request",
  description: `${guess} A request that is ${consentActions.cancel.from.join(" or ")} becomes cancelled, and its attestations are revoked. Send no body.`,
  scope: "consents:write",
  responseName: "ConsentRequest",
  responseShape,
  responseExample: consentExample({ ...created, status: "cancelled", at: "2026-03-02T10:00:00.000Z" }),
  refusals: ["404.unknown_record", "409.conflict"],
  requests: (caller, world) =>
    ownConsents(caller, world).map((entry) => ({
      path: withId(cancelConsentRequest, entry.id),
      ...(!isAllowed("cancel", statusAt(entry, world.clock.now())) && { ends: "409.conflict" }),
    })),
  respond(caller, world, { params, now }) {
    const entry = visibleTo(caller, world).consent(params.id as string);
    if (entry === undefined) return unknown("consent_request");
    const status = statusAt(entry, now);
    if (!isAllowed("cancel", status)) return { refused: "409.conflict", details: { status } };
    const record = withDecision(entry, "cancel", now);
    return {
      ...consentBody({ ...entry, record }, world, now),
      commit: () => changeConsent(world, entry, record, now),
    };
  },
};

const attestationExample = {
  id: "attestation_8sWq3LmZ0vTyKc5RbNd1",
  synthetic: true,
  type: "livestock",
  farmer_id: "farmer_0123456789abcdef",
  consent_request_id: "consent_4xRz0Q7mKfT2bYcW9dHs",
  production: "ready",
  validity: "active",
  requested_at: "2026-03-02T11:00:00.000Z",
  produced_at: "2026-03-02T11:01:00.000Z",
  valid_from: "2026-03-02T11:01:00.000Z",
  valid_until: "2026-05-31T09:00:00.000Z",
  as_of: "2026-03-02T09:00:00.000Z",
  subject: { farmer_id: "farmer_0123456789abcdef", synthetic: true, livestock: [{ type: "goat", count: 4 }] },
};

const defaultLimit = 20;
const maximumLimit = 100;

export const listAttestations: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/attestations",
  operationId: "listAttestations",
  summary: "The attestations that farmers have consented to",
  description: `${guess} Lists the attestations of the key's organization and environment, in the order of the farmers' grants.`,
  scope: "attestations:read",
  input: {
    query: {
      consent_request_id: described(text(), "Only attestations of this consent request."),
      farmer_id: described(text(), "Only attestations of this farmer."),
      limit: described(
        count({ least: 1, most: maximumLimit, default: defaultLimit }),
        "Maximum number of records.",
      ),
      offset: described(count({ default: 0 }), "Number of records to skip."),
    },
  },
  responseName: "AttestationPage",
  responseShape: mapping({
    data: list(attestationShape, { most: maximumLimit }),
    page: mapping({ limit: count({ least: 1 }), offset: count(), total: count() }),
  }),
  responseExample: { data: [attestationExample], page: { limit: defaultLimit, offset: 0, total: 1 } },
  refusals: ["422.validation"],
  requests: () => [{}, { ends: "422.validation", path: `${listAttestations.path}?limit=0` }],
  respond(caller, world, { query, now }) {
    const visible = visibleTo(caller, world);
    const { consent_request_id: consentId, farmer_id: farmerId } = query;
    const { limit = defaultLimit, offset = 0 } = query as { limit?: number; offset?: number };
    const farmer = farmerId === undefined ? undefined : (visible.farmer(farmerId as string) ?? null);
    const found = visible
      .attestations(now)
      .filter(({ consent }) => consentId === undefined || consent.id === consentId)
      .filter(({ consent }) => farmer === undefined || consent.farmer === farmer);
    const page = found.slice(offset, offset + limit);
    return jsonBody({
      data: page.map((attestation) => snakeCase(viewAttestation(attestation, world, now))),
      page: { limit, offset, total: found.length },
    });
  },
};

const getAttestation: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/attestations/{id}",
  operationId: "getAttestation",
  summary: "One attestation",
  description: `${guess} Shows an attestation of the key's organization and environment.`,
  scope: "attestations:read",
  responseName: "Attestation",
  responseShape: mapping({ data: attestationShape }),
  responseExample: { data: attestationExample },
  refusals: ["404.unknown_record"],
  requests: (caller, world) =>
    visibleTo(caller, world)
      .attestations(world.clock.now())
      .slice(0, 1)
      .map(({ id }) => ({ path: withId(getAttestation, id) })),
  respond(caller, world, { params, now }) {
    const attestation = visibleTo(caller, world)
      .attestations(now)
      .find(({ id }) => id === params.id);
    if (attestation === undefined) return unknown("attestation");
    return jsonBody({ data: snakeCase(viewAttestation(attestation, world, now)) });
  },
};

const isServed: Endpoint["isServed"] = ({ preview }) => preview === true;

const announced: Announcement = {
  header: ["X-Sandbox-Preview", "true"],
  headerDescription: "Marks a preview endpoint: announced but not released. Its shape is a guess.",
  extension: "x-preview",
  scenario: "announced-endpoints",
  note: "The operations marked x-preview are announced but not released. Their design here is this project's guess and may differ from the service's.",
};

export const announcedEndpoints: readonly Endpoint[] = [
  ...[createConsentRequest, getConsentRequest, cancelConsentRequest],
  ...[listAttestations, getAttestation],
].map((endpoint) => ({ ...endpoint, announced, isServed, part: consentsPart }));
