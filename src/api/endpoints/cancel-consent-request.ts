import { consentActions, isAllowed } from "../../domain/consent.js";
import { standingAt, withDeed } from "../../sandbox/consents.js";
import { changeConsent } from "../../sandbox/operations/decide-consent.js";
import type { Endpoint } from "../endpoint.js";
import { consentBody, consentExample, consentSchema } from "../records/consent-record.js";
import { reachOf } from "../records/reach.js";
import { guess } from "../records/schema-parts.js";

/** Takes a consent request back, or ends a consent. */
export const cancelConsentRequest: Endpoint = {
  method: "POST",
  path: "/v1/relying-party/consent-requests/{id}/cancel",
  operationId: "cancelConsentRequest",
  summary: "Take a consent request back",
  description: `${guess} A request that is ${consentActions.cancel.from.join(" or ")} becomes cancelled, and its attestations are revoked. Takes no body.`,
  scope: () => "consents:write",
  responseSchema: consentSchema,
  responseExample: consentExample("cancelled"),
  refusals: ["404.unknown_record", "409.conflict"],
  preview: true,
  respond(caller, world, { params, now }) {
    const entry = reachOf(caller, world).consent(params.id as string);
    if (entry === undefined) return { refused: "404.unknown_record", details: { record: "consent_request" } };
    const { status } = standingAt(entry, now);
    if (!isAllowed("cancel", status)) return { refused: "409.conflict", details: { status } };
    const record = withDeed(entry, "cancel", now);
    return {
      ...consentBody({ ...entry, record }, world, now),
      commit: () => changeConsent(world, entry, record),
    };
  },
};
