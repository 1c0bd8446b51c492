import type { JsonSchema } from "../../api/endpoint.js";
import { environments } from "../../domain/api-key.js";
import { keyStates } from "../../domain/key.js";
import { liveAccessStates, organizationStatuses, organizationTypes } from "../../domain/organization.js";
import { faultPathIds, outcomes } from "../../domain/outcomes.js";
import { controlBodySchema } from "../../scenario/control-bodies.js";

// What the control plane answers with, as JSON Schema. Every member is always there, so that clients need not ask;
// only faults have no more of them than they were given.

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const time = { type: "string", format: "date-time" };
const timeOrNull = { type: ["string", "null"], format: "date-time" };
const count = { type: "integer", minimum: 0 };
const flag = { type: "boolean" };

function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: Object.keys(properties), additionalProperties: false, properties };
}

function component(name: keyof typeof answerSchemas): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

// As they are taken, so are they shown.
function assumptionFields(): Readonly<Record<string, JsonSchema>> {
  return controlBodySchema("assumptions_change").properties as Readonly<Record<string, JsonSchema>>;
}

// As they are taken, so are they shown.
function faultSchema(): JsonSchema {
  const { faults } = controlBodySchema("faults_change").properties as { faults: { items: JsonSchema } };
  return faults.items;
}

/** The named parts of the answers. */
export const answerSchemas = {
  Key: object({
    ref: text,
    organization: text,
    name: text,
    environment: { enum: environments },
    legacy: flag,
    fingerprint: { type: "string", pattern: "^[0-9a-f]{12}$" },
    state: { enum: keyStates },
    scopes: { type: "array", items: text },
    limits: object({ per_minute: count, per_day: count }),
    usage: object({ this_minute: count, today: count }),
    revoked_at: timeOrNull,
    expires_at: timeOrNull,
    overlap_ends_at: timeOrNull,
    replaced_by: textOrNull,
    replaces: textOrNull,
  }),
  Organization: object({
    ref: text,
    id: { type: "string", format: "uuid" },
    name: text,
    type: { enum: organizationTypes },
    status: { enum: organizationStatuses },
    sandbox_access: flag,
    live_access: { enum: liveAccessStates },
  }),
  Clock: object({ now: time, frozen: flag }),
  Assumptions: object(assumptionFields()),
  Fault: faultSchema(),
  Request: object({
    id: text,
    at: time,
    method: text,
    path: text,
    key: textOrNull,
    fingerprint: textOrNull,
    status: { type: "integer" },
    code: textOrNull,
    path_id: { enum: outcomes.map(({ path }) => path) },
    fault: { enum: [...faultPathIds, null] },
    duration_ms: { type: "number", minimum: 0 },
  }),
  Health: object({ status: { const: "ok" }, version: text, scenario: text, seed: count, now: time }),
  Scenario: object({ name: text, title: text, description: text }),
  Running: object({ scenario: text, seed: count, now: time }),
  Instance: object({
    id: text,
    base_url: text,
    control_url: text,
    scenario: text,
    seed: count,
    keys: { type: "object", additionalProperties: text },
  }),
  InstanceSummary: object({ id: text, base_url: text, control_url: text, scenario: text, seed: count }),
  Error: object({
    error: {
      type: "object",
      required: ["code", "message"],
      additionalProperties: false,
      properties: { code: text, message: text, details: { type: "object" } },
    },
  }),
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** An answer that holds one thing, or things by name, in `data`. */
export const inData = {
  one: (name: keyof typeof answerSchemas) => object({ data: component(name) }),
  list: (name: keyof typeof answerSchemas) => object({ data: { type: "array", items: component(name) } }),
  key: object({ data: object({ key: component("Key") }) }),
  issuedKey: object({ data: object({ key: component("Key"), secret: text }) }),
  state: object({
    data: object({
      scenario: text,
      seed: count,
      clock: component("Clock"),
      assumptions: component("Assumptions"),
      faults: { type: "array", items: component("Fault") },
      organizations: { type: "array", items: component("Organization") },
      keys: { type: "array", items: component("Key") },
    }),
  }),
};

/** An answer that is one of the named parts itself. */
export function bare(name: keyof typeof answerSchemas): JsonSchema {
  return component(name);
}
