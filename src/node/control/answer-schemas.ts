import type { JsonSchema } from "../../api/endpoint.js";
import { attestationSchema } from "../../api/endpoints/attestations.js";
import { adviceIds, adviceLevels } from "../../domain/advice.js";
import { environments, keyStates } from "../../domain/api-key.js";
import { profiles } from "../../domain/assumptions.js";
import { permissions, productionStatuses, validityStatuses } from "../../domain/attestation.js";
import { consentStatuses, purposeCodes } from "../../domain/consent.js";
import { liveAccessStates, organizationStatuses, organizationTypes } from "../../domain/organization.js";
import { faultPathIds, outcomes } from "../../domain/outcomes.js";
import { stepKinds } from "../../domain/steps.js";
import { controlBodySchema } from "../../scenario/format/control-bodies.js";
import { farmerSchema } from "../../synthetic/farmers/farmer-schema.js";

// What the control plane answers with, as JSON Schema. Every member is always there, so that clients need not ask;
// only faults have no more of them than they were given.

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const time = { type: "string", format: "date-time" };
const timeOrNull = { type: ["string", "null"], format: "date-time" };
const count = { type: "integer", minimum: 0 };
const flag = { type: "boolean" };
const texts = { type: "object", additionalProperties: text };

function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: Object.keys(properties), additionalProperties: false, properties };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

function component(name: keyof typeof answerSchemas): JsonSchema {
  return named(name);
}

// For the parts themselves, whose names cannot be known while they are made.
function named(name: string): JsonSchema {
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

// The schema of a whole document says which dialect it is of; a part of one must not.
function farmerPart(): JsonSchema {
  const { $schema: _, ...schema } = farmerSchema;
  return schema;
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
  Consent: object({
    id: text,
    synthetic: { const: true },
    organization: text,
    farmer: count,
    farmer_id: text,
    status: { enum: consentStatuses },
    purpose: object({ code: { enum: purposeCodes }, text }),
    permissions: { type: "array", items: { enum: permissions } },
    created_at: time,
    respond_by: time,
    expires_at: time,
    history: {
      type: "array",
      items: object({
        status: { enum: consentStatuses },
        at: time,
        by: { enum: ["relying_party", "farmer", "system"] },
      }),
    },
    attestations: {
      type: "array",
      items: object({
        id: text,
        type: { enum: permissions },
        production: { enum: productionStatuses },
        validity: { enum: [...validityStatuses, null] },
      }),
    },
  }),
  Attestation: attestationSchema,
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
    advice: { type: "array", items: { enum: adviceIds } },
    duration_ms: { type: "number", minimum: 0 },
  }),
  Report: object({
    scenario: text,
    seed: count,
    profile: { enum: profiles },
    requests: count,
    coverage: object({ percent: { ...count, maximum: 100 }, met: count, promised: count }),
    paths: {
      type: "array",
      items: object({
        path_id: { enum: outcomes.map(({ path }) => path) },
        promised: flag,
        met: flag,
        count,
        when: text,
        how_to_meet: textOrNull,
      }),
    },
    advice: {
      type: "array",
      items: object({
        id: { enum: adviceIds },
        level: { enum: adviceLevels },
        rule: text,
        count,
        meaning: text,
        what_to_do: text,
        examples: {
          type: "array",
          items: object({
            id: text,
            at: time,
            method: text,
            path: text,
            key: textOrNull,
            fingerprint: textOrNull,
            did_you_mean: textOrNull,
          }),
        },
      }),
    },
  }),
  Farmer: farmerPart(),
  Story: object({
    steps: count,
    told: count,
    over: flag,
    next: {
      anyOf: [object({ number: count, kind: { enum: stepKinds }, say: textOrNull }), { type: "null" }],
    },
  }),
  StepResult: object({
    number: count,
    of: count,
    kind: { enum: stepKinds },
    say: textOrNull,
    request: orNull(
      object({
        method: text,
        path: text,
        key: text,
        headers: texts,
        body: textOrNull,
        times: count,
      }),
    ),
    answer: orNull(
      object({
        status: { type: "integer" },
        headers: texts,
        body: text,
        code: textOrNull,
        path_id: { enum: outcomes.map(({ path }) => path) },
        fault: { enum: [...faultPathIds, null] },
      }),
    ),
    performed: orNull(
      object({
        refusal: orNull(object({ code: text, message: text })),
        key: orNull(named("Key")),
        replacement: orNull(named("Key")),
        secret: textOrNull,
        organization: orNull(named("Organization")),
        consent: orNull(named("Consent")),
      }),
    ),
    now: time,
    differences: { type: "array", items: object({ at: text, expected: text, found: text }) },
  }),
  Health: object({ status: { const: "ok" }, version: text, scenario: text, seed: count, now: time }),
  Scenario: object({ name: text, title: text, description: text }),
  Running: object({ scenario: text, seed: count, now: time, warnings: { type: "array", items: text } }),
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
  page: (name: keyof typeof answerSchemas) =>
    object({ data: { type: "array", items: component(name) }, total: count }),
  told: object({
    data: object({ step: orNull(component("StepResult")), steps: count, told: count, over: flag }),
  }),
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
