import { changeConsent } from "../../sandbox/operations/consents.js";
import { viewConsent } from "../../sandbox/preview/consent-views.js";
import { type ConsentEntry, statusAt, withDecision } from "../../sandbox/preview/consents.js";
import type { World } from "../../sandbox/world.js";
import { parseTimestamp } from "../../scenario/format/time.js";
import { permissions } from "../../spec/attestation.js";
import {
  consentActions,
  consentParties,
  consentStatuses,
  defaultConsentTime,
  isAllowed,
  longestPurpose,
  maximumConsentTime,
  purposeCodes,
} from "../../spec/consent.js";
import { canonicalJson } from "../../spec/json.js";
import { containsKey } from "../../spec/redact.js";
import {
  always,
  choice,
  described,
  instant,
  list,
  mapping,
  optional,
  text,
  type ValueOf,
} from "../../spec/schema/shape.js";
import { snakeCase } from "../../spec/schema/spelling.js";
import type { Endpoint, OwnRefusal } from "../endpoint.js";
import { jsonBody, type TextBody } from "../messages.js";
import { invalid } from "../request-input.js";
import { guess, visibleTo } from "./visible-records.js";

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

/** An example, with its later statuses. */
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
function consentBody(entry: ConsentEntry, world: World, now: number): TextBody {
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
  input: {
    body: { shape: wantedShape, example: asked },
    idempotencyKey: true,
  },
  status: 201,
  responseName: "ConsentRequest",
  responseShape,
  responseExample: consentExample(),
  refusals: ["400.bad_request", "404.unknown_record", "422.validation", "422.idempotency_key"],
  preview: true,
  respond(caller, world, { body, now, idempotencyKey }) {
    const wanted = body as Wanted;
    const { organization } = caller.key;
    const visible = visibleTo(caller, world);
    const farmer = visible.farmer(wanted.farmer_id);
    if (farmer === undefined) return { refused: "404.unknown_record", details: { record: "farmer" } };
    const sha256 = world.platform.sha256(canonicalJson(body));
    // Before the times are checked: a late repetition was valid when it was first sent.
    const earlier =
      idempotencyKey === undefined ? undefined : world.consents.madeUnder(organization, idempotencyKey);
    if (earlier !== undefined) return replayed(earlier, sha256, world, now);
    const expiresAt = expiryOf(wanted, now);
    if (typeof expiresAt === "string") return invalid({ expires_at: expiresAt });
    if (containsKey(wanted.purpose.text)) return invalid({ "purpose.text": "must not contain an API key" });
    const entry = world.consents.draft({
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
        world.consents.add(entry);
        world.history.announce({ type: "consent.requested", consent: viewConsent(entry, world, now) });
      },
    };
  },
};

function replayed(earlier: ConsentEntry, sha256: string, world: World, now: number) {
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
  preview: true,
  respond(caller, world, { params, now }) {
    const entry = visibleTo(caller, world).consent(params.id as string);
    if (entry === undefined) return { refused: "404.unknown_record", details: { record: "consent_request" } };
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
  preview: true,
  respond(caller, world, { params, now }) {
    const entry = visibleTo(caller, world).consent(params.id as string);
    if (entry === undefined) return { refused: "404.unknown_record", details: { record: "consent_request" } };
    const status = statusAt(entry, now);
    if (!isAllowed("cancel", status)) return { refused: "409.conflict", details: { status } };
    const record = withDecision(entry, "cancel", now);
    return {
      ...consentBody({ ...entry, record }, world, now),
      commit: () => changeConsent(world, entry, record),
    };
  },
};
