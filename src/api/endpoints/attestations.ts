import { attestationShape, viewAttestation } from "../../sandbox/preview/consent-views.js";
import { count, described, list, mapping, text } from "../../spec/schema/shape.js";
import { snakeCase } from "../../spec/schema/spelling.js";
import type { Endpoint } from "../endpoint.js";
import { jsonBody } from "../messages.js";
import { guess, visibleTo } from "./visible-records.js";

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
      data: page.map((attestation) => snakeCase(viewAttestation(attestation, world, now))),
      page: { limit, offset, total: found.length },
    });
  },
};

export const getAttestation: Endpoint = {
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
  preview: true,
  respond(caller, world, { params, now }) {
    const attestation = visibleTo(caller, world).attestation(params.id as string, now);
    if (attestation === undefined)
      return { refused: "404.unknown_record", details: { record: "attestation" } };
    return jsonBody({ data: snakeCase(viewAttestation(attestation, world, now)) });
  },
};
