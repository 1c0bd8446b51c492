import type { Endpoint } from "../endpoint.js";
import { attestationExample, attestationRecord, attestationSchema } from "../records/attestation-record.js";
import { reachOf } from "../records/reach.js";
import { guess, jsonOf, object } from "../records/schema-parts.js";

/** Shows an attestation. */
export const getAttestation: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/attestations/{id}",
  operationId: "getAttestation",
  summary: "One attestation",
  description: `${guess} Shows those of the key's own organization and environment.`,
  scope: () => "attestations:read",
  responseSchema: object({ data: attestationSchema }),
  responseExample: { data: attestationExample },
  refusals: ["404.unknown_record"],
  preview: true,
  respond(caller, world, { params, now }) {
    const place = reachOf(caller, world).attestation(params.id as string, now);
    if (place === undefined) return { refused: "404.unknown_record", details: { record: "attestation" } };
    return jsonOf({ data: attestationRecord(place, world, now) });
  },
};
