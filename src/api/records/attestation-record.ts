import {
  type Permission,
  permissions,
  productionStatuses,
  validityStatuses,
} from "../../domain/attestation.js";
import { viewAttestation } from "../../sandbox/consent-views.js";
import type { AttestationPlace } from "../../sandbox/consents.js";
import type { World } from "../../sandbox/world.js";
import type { JsonSchema } from "../endpoint.js";
import { snakeCase } from "../snake-case.js";
import { object, permissionNames, time, timeOrNull } from "./schema-parts.js";

const members: Readonly<Record<Permission, readonly string[]>> = {
  identity: ["name", "sex", "birth_year", "language", "household", "location", "cooperative"],
  land: ["farmer_type", "farm_area_ha", "parcels"],
  production: ["crops"],
  livestock: ["livestock"],
  insurance: ["insurance"],
  loans: ["loans"],
};

// What is in the members is described with the records of the farmers (docs/farmers.md): the description of an
// announced endpoint need not be longer than that of the released one.
const subjectSchemas = permissions.map((permission) =>
  object({
    farmer_id: { type: "string" },
    synthetic: { const: true, description: "The farmer does not exist (R44)." },
    ...Object.fromEntries(members[permission].map((name) => [name, {}])),
  }),
);

/** What an attestation looks like in an answer. */
export const attestationSchema: JsonSchema = object({
  id: { type: "string", pattern: "^attestation_[0-9A-Za-z]{20}$" },
  synthetic: { const: true, description: "It is about a farmer that does not exist (R44)." },
  type: { ...permissionNames, description: "The permission that it stands on." },
  farmer_id: { type: "string" },
  consent_request_id: { type: "string" },
  production: { type: "string", enum: productionStatuses, description: "Whether it is there yet." },
  validity: {
    enum: [...validityStatuses, null],
    description:
      "Whether it can be relied on; null until it is ready. A suspension can end, the rest is final.",
  },
  requested_at: { ...time, description: "When the farmer granted the consent." },
  produced_at: { ...timeOrNull, description: "When it was ready, or failed." },
  valid_from: timeOrNull,
  valid_until: timeOrNull,
  as_of: {
    ...time,
    description: "Of when the records are that it is made from; what was due since then may have been done.",
  },
  subject: {
    anyOf: [...subjectSchemas, { type: "null" }],
    description: "What the farmer consented to, and nothing more; null unless it is ready and active.",
  },
});

/** An attestation that could be in an answer. */
export const attestationExample: unknown = {
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

/** An attestation as answers show it at an instant. */
export function attestationRecord(place: AttestationPlace, world: World, now: number): unknown {
  return snakeCase(viewAttestation(place, world, now));
}
