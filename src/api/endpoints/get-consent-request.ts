import type { Endpoint } from "../endpoint.js";
import { consentBody, consentExample, consentSchema } from "../records/consent-record.js";
import { reachOf } from "../records/reach.js";
import { guess } from "../records/schema-parts.js";

/** Shows where a consent request stands. */
export const getConsentRequest: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/consent-requests/{id}",
  operationId: "getConsentRequest",
  summary: "Where a consent request stands",
  description: `${guess} Shows the requests of the key's own organization and environment.`,
  scope: () => "consents:read",
  responseSchema: consentSchema,
  responseExample: consentExample(),
  refusals: ["404.unknown_record"],
  preview: true,
  respond(caller, world, { params, now }) {
    const entry = reachOf(caller, world).consent(params.id as string);
    if (entry === undefined) return { refused: "404.unknown_record", details: { record: "consent_request" } };
    return consentBody(entry, world, now);
  },
};
