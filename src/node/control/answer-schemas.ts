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
import { controlBodySchema } from "../../scenario/format/json-schema.js";
import { farmerSchema } from "../../synthetic/farmers/farmer-schema.js";

// The answers of the control plane as JSON Schema. Every member is always present; only faults have no more members than
// they were given.

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const time = { type: "string", format: "date-time" };
const timeOrNull = { type: ["string", "null"], format: "date-time" };
const count = { type: "integer", minimum: 0 };
const status = { type: "integer" };
const flag = { type: "boolean" };
const texts = { type: "object", additionalProperties: text };
const pathId = { enum: outcomes.map(({ path }) => path) };
const fault = { enum: [...faultPathIds, null] };
const advice = { enum: adviceIds };

function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: Object.keys(properties), additionalProperties: false, properties };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

// Any text, so that named parts can refer to each other.
function named(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

// Assumptions and faults are shown as they are sent.
const { properties: assumptions } = controlBodySchema("assumptions_change") as {
  properties: Readonly<Record<string, JsonSchema>>;
};
const { properties: faultsBody } = controlBodySchema("faults_change") as {
  properties: { faults: { items: JsonSchema } };
};

// Only a whole document names its dialect.
const { $schema: _, ...farmer } = farmerSchema as JsonSchema;

const step = { kind: { enum: stepKinds }, say: textOrNull };
const instance = { id: text, base_url: text, control_url: text, scenario: text, seed: count };
const requestOfClient = {
  id: text,
  at: time,
  method: text,
  path: text,
  key: textOrNull,
  fingerprint: textOrNull,
};

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
    scopes: list(text),
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
    permissions: list({ enum: permissions }),
    created_at: time,
    respond_by: time,
    expires_at: time,
    history: list(
      object({
        status: { enum: consentStatuses },
        at: time,
        by: { enum: ["relying_party", "farmer", "system"] },
      }),
    ),
    attestations: list(
      object({
        id: text,
        type: { enum: permissions },
        production: { enum: productionStatuses },
        validity: { enum: [...validityStatuses, null] },
      }),
    ),
  }),
  Attestation: attestationSchema,
  Clock: object({ now: time, frozen: flag }),
  Assumptions: object(assumptions),
  Fault: faultsBody.faults.items,
  Request: object({
    ...requestOfClient,
    status,
    code: textOrNull,
    path_id: pathId,
    fault,
    advice: list(advice),
    duration_ms: { type: "number", minimum: 0 },
  }),
  Report: object({
    scenario: text,
    seed: count,
    profile: { enum: profiles },
    requests: count,
    coverage: object({ percent: { ...count, maximum: 100 }, met: count, promised: count }),
    paths: list(
      object({
        path_id: pathId,
        promised: flag,
        met: flag,
        count,
        when: text,
        how_to_meet: textOrNull,
      }),
    ),
    advice: list(
      object({
        id: advice,
        level: { enum: adviceLevels },
        rule: text,
        count,
        meaning: text,
        what_to_do: text,
        examples: list(object({ ...requestOfClient, did_you_mean: textOrNull })),
      }),
    ),
  }),
  Farmer: farmer,
  Story: object({
    steps: count,
    told: count,
    over: flag,
    next: orNull(object({ number: count, ...step })),
  }),
  StepResult: object({
    number: count,
    of: count,
    ...step,
    request: orNull(
      object({ method: text, path: text, key: text, headers: texts, body: textOrNull, times: count }),
    ),
    answer: orNull(object({ status, headers: texts, body: text, code: textOrNull, path_id: pathId, fault })),
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
    failure: orNull(object({ code: text, message: text })),
    meanwhile: list(object({ timeline_step: count, at: time, refusal: textOrNull, message: textOrNull })),
    now: time,
    differences: list(object({ at: text, expected: text, found: text })),
  }),
  Health: object({ status: { const: "ok" }, version: text, scenario: text, seed: count, now: time }),
  Scenario: object({ name: text, title: text, description: text }),
  Running: object({ scenario: text, seed: count, now: time, warnings: list(text) }),
  Instance: object({ ...instance, keys: texts }),
  InstanceSummary: object(instance),
  Error: object({
    error: {
      ...object({ code: text, message: text, details: { type: "object" } }),
      required: ["code", "message"],
    },
  }),
} as const satisfies Readonly<Record<string, JsonSchema>>;

type PartName = keyof typeof answerSchemas;

/** An answer that is a named part itself. */
export const bare: (name: PartName) => JsonSchema = named;

/** Answers that hold one part, or parts by name, in `data`. */
export const inData = {
  one: (name: PartName) => object({ data: named(name) }),
  list: (name: PartName) => object({ data: list(named(name)) }),
  page: (name: PartName) => object({ data: list(named(name)), total: count }),
  told: object({
    data: object({ step: orNull(named("StepResult")), steps: count, told: count, over: flag }),
  }),
  key: object({ data: object({ key: named("Key") }) }),
  issuedKey: object({ data: object({ key: named("Key"), secret: text }) }),
  state: object({
    data: object({
      scenario: text,
      seed: count,
      clock: named("Clock"),
      assumptions: named("Assumptions"),
      faults: list(named("Fault")),
      organizations: list(named("Organization")),
      keys: list(named("Key")),
    }),
  }),
};
