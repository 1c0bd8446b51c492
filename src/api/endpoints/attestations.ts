import { permissions, productionStatuses, validityStatuses } from "../../domain/attestation.js";
import { attestedData, viewAttestation } from "../../sandbox/preview/consent-views.js";
import { closedObject, type Endpoint, type JsonSchema } from "../endpoint.js";
import { jsonBody } from "../messages.js";
import { snakeCase } from "../snake-case.js";
import { guess, permissionNames, time, visibleTo } from "./visible-records.js";

const timeOrNull = { ...time, type: ["string", "null"] };
const synthetic = { const: true, description: "The farmer does not exist (R44)." };

// docs/farmers.md describes the members: an announced endpoint needs no longer description than the released one.
const subjectSchemas = permissions.map((permission) =>
  closedObject({
    farmer_id: { type: "string" },
    synthetic,
    ...Object.fromEntries(Object.keys(attestedData[permission]).map((name) => [name, {}])),
  }),
);

/** An attestation in an answer. */
export const attestationSchema: JsonSchema = closedObject({
  id: { type: "string", pattern: "^attestation_[0-9A-Za-z]{20}$" },
  synthetic,
  type: { ...permissionNames, description: "The permission that the farmer granted." },
  farmer_id: { type: "string" },
  consent_request_id: { type: "string" },
  production: { type: "string", enum: productionStatuses, description: "Progress of its production." },
  validity: {
    enum: [...validityStatuses, null],
    description:
      "Whether it is valid; null until it is ready. A suspension can end, the other states are final.",
  },
  requested_at: { ...time, description: "Time at which the farmer granted the consent." },
  produced_at: { ...timeOrNull, description: "Time at which it was ready, or failed." },
  valid_from: timeOrNull,
  valid_until: timeOrNull,
  as_of: {
    ...time,
    description: "Date of the records that it is made from; later events are not in them.",
  },
  subject: {
    anyOf: [...subjectSchemas, { type: "null" }],
    description:
      "The data that the farmer consented to share, and nothing more; null unless it is ready and active.",
  },
});

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
  subject: {
    farmer_id: "farmer_0123456789abcdef",
    synthetic: true,
    livestock: [{ type: "goat", count: 4 }],
  },
};

const defaultLimit = 20;
const maximumLimit = 100;
const count = { type: "integer", minimum: 0 };

/** Lists the attestations that farmers have consented to. */
export const listAttestations: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/attestations",
  operationId: "listAttestations",
  summary: "The attestations that farmers have consented to",
  description: `${guess} Lists those of the key's own organization and environment, in the order in which farmers granted them.`,
  scope: "attestations:read",
  input: {
    query: {
      consent_request_id: { description: "Only those of this consent request.", schema: { type: "string" } },
      farmer_id: { description: "Only those about this farmer.", schema: { type: "string" } },
      limit: {
        description: "Maximum number of records.",
        schema: { type: "integer", minimum: 1, maximum: maximumLimit, default: defaultLimit },
      },
      offset: { description: "Number of records to skip.", schema: { ...count, default: 0 } },
    },
  },
  responseName: "AttestationPage",
  responseSchema: closedObject({
    data: { type: "array", items: attestationSchema, maxItems: maximumLimit },
    page: closedObject({ limit: { ...count, minimum: 1 }, offset: count, total: count }),
  }),
  responseExample: { data: [attestationExample], page: { limit: defaultLimit, offset: 0, total: 1 } },
  refusals: ["422.validation"],
  preview: true,
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
      data: page.map((place) => snakeCase(viewAttestation(place, world, now))),
      page: { limit, offset, total: found.length },
    });
  },
};

/** Shows an attestation. */
export const getAttestation: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/attestations/{id}",
  operationId: "getAttestation",
  summary: "One attestation",
  description: `${guess} Shows those of the key's own organization and environment.`,
  scope: "attestations:read",
  responseName: "Attestation",
  responseSchema: closedObject({ data: attestationSchema }),
  responseExample: { data: attestationExample },
  refusals: ["404.unknown_record"],
  preview: true,
  respond(caller, world, { params, now }) {
    const place = visibleTo(caller, world).attestation(params.id as string, now);
    if (place === undefined) return { refused: "404.unknown_record", details: { record: "attestation" } };
    return jsonBody({ data: snakeCase(viewAttestation(place, world, now)) });
  },
};
