import { permissions } from "../../domain/attestation.js";
import { defaultConsentTime, maximumConsentTime, type PurposeCode } from "../../domain/consent.js";
import { containsKey } from "../../domain/redact.js";
import { viewConsent } from "../../sandbox/consent-views.js";
import type { ConsentEntry, ConsentWish } from "../../sandbox/consents.js";
import type { World } from "../../sandbox/world.js";
import { parseTimestamp } from "../../scenario/when.js";
import { canonicalJson } from "../canonical-json.js";
import type { Endpoint, OwnRefusal } from "../endpoint.js";
import { invalid } from "../invalid.js";
import { consentBody, consentExample, consentSchema, purposeSchema } from "../records/consent-record.js";
import { reachOf } from "../records/reach.js";
import { guess, permissionNames } from "../records/schema-parts.js";

interface Wanted {
  readonly farmer_id: string;
  readonly purpose: { readonly code: PurposeCode; readonly text: string };
  readonly permissions: ConsentWish["permissions"];
  readonly expires_at?: string;
}

/** Asks a farmer for consent. */
export const createConsentRequest: Endpoint = {
  method: "POST",
  path: "/v1/relying-party/consent-requests",
  operationId: "createConsentRequest",
  summary: "Ask a farmer for consent",
  description: `${guess} The farmer answers later, or does not. With an Idempotency-Key, sending the same request again answers the same record with Idempotent-Replayed: true.`,
  scope: () => "consents:write",
  input: {
    body: {
      schema: {
        type: "object",
        required: ["farmer_id", "purpose", "permissions"],
        additionalProperties: false,
        properties: {
          farmer_id: { type: "string", minLength: 1, maxLength: 200 },
          purpose: purposeSchema,
          permissions: {
            type: "array",
            items: permissionNames,
            minItems: 1,
            uniqueItems: true,
            description: "What is to be attested; one attestation is made for each.",
          },
          expires_at: {
            type: "string",
            format: "date-time",
            description:
              "When the consent ends: a time with its zone, in the future, at most 365 days ahead. Default: 90 days from now.",
          },
        },
      },
      example: {
        farmer_id: "farmer_0123456789abcdef",
        purpose: { code: "credit_assessment", text: "To assess an application for a seasonal loan." },
        permissions: permissions.slice(0, 2),
      },
    },
    idempotencyKey: true,
  },
  status: 201,
  responseSchema: consentSchema,
  responseExample: consentExample(),
  refusals: ["400.bad_request", "404.unknown_record", "422.validation", "422.idempotency_key"],
  preview: true,
  respond(caller, world, { body, now, idempotencyKey }) {
    const wanted = body as Wanted;
    const { organization } = caller.key;
    const reach = reachOf(caller, world);
    const farmer = reach.farmer(wanted.farmer_id);
    if (farmer === undefined) return { refused: "404.unknown_record", details: { record: "farmer" } };
    const sha256 = world.platform.sha256(canonicalJson(body));
    // Before the times are looked at: a request that is sent again late was fine when it was sent first.
    const earlier =
      idempotencyKey === undefined ? undefined : world.consents.madeUnder(organization, idempotencyKey);
    if (earlier !== undefined) return replayed(earlier, sha256, world, now);
    const expiresAt = expiryOf(wanted, now);
    if (typeof expiresAt === "string") return invalid({ expires_at: expiresAt });
    if (containsKey(wanted.purpose.text)) return invalid({ "purpose.text": "must not hold an API key" });
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
        world.events.announce({ type: "consent.requested", consent: viewConsent(entry, world, now) });
      },
    };
  },
};

function replayed(earlier: ConsentEntry, sha256: string, world: World, now: number) {
  if (earlier.idempotency?.sha256 !== sha256) return { refused: "422.idempotency_key" } satisfies OwnRefusal;
  return { ...consentBody(earlier, world, now), headers: ["Idempotent-Replayed", "true"] };
}

/** Epoch milliseconds, or what is wrong. */
function expiryOf({ expires_at: given }: Wanted, now: number): number | string {
  if (given === undefined) return now + defaultConsentTime;
  const expiresAt = parseTimestamp(given);
  if (expiresAt === undefined) return "must be an RFC 3339 time with its zone, as in 2026-06-01T00:00:00Z";
  if (expiresAt <= now) return "must be in the future, on the sandbox's clock";
  return expiresAt <= now + maximumConsentTime ? expiresAt : "must be at most 365 days ahead";
}
