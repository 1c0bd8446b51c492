import type { Endpoint } from "../endpoint.js";
import { attestationExample, attestationRecord, attestationSchema } from "../records/attestation-record.js";
import { reachOf } from "../records/reach.js";
import { guess, jsonOf, object } from "../records/schema-parts.js";

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
  scope: () => "attestations:read",
  input: {
    query: {
      consent_request_id: { description: "Only those of this consent request.", schema: { type: "string" } },
      farmer_id: { description: "Only those about this farmer.", schema: { type: "string" } },
      limit: {
        description: "At most this many.",
        schema: { type: "integer", minimum: 1, maximum: maximumLimit, default: defaultLimit },
      },
      offset: { description: "After so many.", schema: { ...count, default: 0 } },
    },
  },
  responseSchema: object({
    data: { type: "array", items: attestationSchema, maxItems: maximumLimit },
    page: object({ limit: { ...count, minimum: 1 }, offset: count, total: count }),
  }),
  responseExample: { data: [attestationExample], page: { limit: defaultLimit, offset: 0, total: 1 } },
  refusals: ["422.validation"],
  preview: true,
  respond(caller, world, { query, now }) {
    const reach = reachOf(caller, world);
    const { consent_request_id: consentId, farmer_id: farmerId, limit = defaultLimit, offset = 0 } = query;
    const farmer = farmerId === undefined ? undefined : (reach.farmer(farmerId as string) ?? null);
    const found = reach
      .attestations(now)
      .filter(({ consent }) => consentId === undefined || consent.id === consentId)
      .filter(({ consent }) => farmer === undefined || consent.farmer === farmer);
    const start = offset as number;
    const page = found.slice(start, start + (limit as number));
    return jsonOf({
      data: page.map((place) => attestationRecord(place, world, now)),
      page: { limit, offset, total: found.length },
    });
  },
};
