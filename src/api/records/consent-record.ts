import { type ConsentStatus, consentStatuses, purposeCodes } from "../../domain/consent.js";
import { viewConsent } from "../../sandbox/consent-views.js";
import type { ConsentEntry } from "../../sandbox/consents.js";
import type { World } from "../../sandbox/world.js";
import { longestPurpose } from "../../scenario/purpose.js";
import type { JsonSchema } from "../endpoint.js";
import type { JsonBody } from "../messages.js";
import { snakeCase } from "../snake-case.js";
import { jsonOf, object, permissionNames, time } from "./schema-parts.js";

export const purposeSchema: JsonSchema = object({
  code: { type: "string", enum: purposeCodes },
  text: {
    type: "string",
    minLength: 1,
    maxLength: longestPurpose,
    description: "What the farmer reads.",
  },
});

const status = { type: "string", enum: consentStatuses };

/** What a consent request looks like in an answer. */
export const consentSchema: JsonSchema = object({
  data: object({
    id: { type: "string", pattern: "^consent_[0-9A-Za-z]{20}$" },
    synthetic: { const: true, description: "It asks a farmer that does not exist (R44)." },
    farmer_id: { type: "string" },
    status: {
      ...status,
      description: "rejected, revoked, cancelled and expired are final.",
    },
    purpose: purposeSchema,
    permissions: { type: "array", items: permissionNames, minItems: 1 },
    created_at: time,
    respond_by: { ...time, description: "When a request that the farmer has not answered expires." },
    expires_at: { ...time, description: "When the consent ends, whoever answers." },
    history: {
      type: "array",
      minItems: 1,
      items: object({
        status,
        at: time,
        by: { type: "string", enum: ["relying_party", "farmer", "system"] },
      }),
      description: "Every status that it had, the oldest first; the last one is the present one.",
    },
  }),
});

const created = "2026-03-02T09:00:00.000Z";

/** A consent request that could be in an answer. */
export function consentExample(current: ConsentStatus = "pending"): unknown {
  const first = { status: "pending", at: created, by: "relying_party" };
  return {
    data: {
      id: "consent_4xRz0Q7mKfT2bYcW9dHs",
      synthetic: true,
      farmer_id: "farmer_0123456789abcdef",
      status: current,
      purpose: { code: "credit_assessment", text: "To assess an application for a seasonal loan." },
      permissions: ["identity", "land"],
      created_at: created,
      respond_by: "2026-03-09T09:00:00.000Z",
      expires_at: "2026-05-31T09:00:00.000Z",
      history:
        current === "pending"
          ? [first]
          : [first, { status: current, at: "2026-03-02T10:00:00.000Z", by: "relying_party" }],
    },
  };
}

/** The body that shows a consent request as it is at an instant. Whose it is, the caller knows. */
export function consentBody(entry: ConsentEntry, world: World, now: number): JsonBody {
  const { organization: _, farmer: __, attestations: ___, ...shown } = viewConsent(entry, world, now);
  return jsonOf({ data: snakeCase(shown) });
}
