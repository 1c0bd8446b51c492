import { type JsonSchema, closedObject as object } from "../../api/endpoint.js";
import { attestationSchema } from "../../api/endpoints/attestations.js";
import { adviceIds, adviceLevels } from "../../domain/advice.js";
import { environments, keyStates } from "../../domain/api-key.js";
import { profiles } from "../../domain/assumptions.js";
import { permissions, productionStatuses, validityStatuses } from "../../domain/attestation.js";
import { consentStatuses, purposeCodes } from "../../domain/consent.js";
import { liveAccessStates, organizationStatuses, organizationTypes } from "../../domain/organization.js";
import { faultPathIds, outcomes } from "../../domain/outcomes.js";
import { stepKinds } from "../../domain/steps.js";
import { upcomingKinds } from "../../sandbox/upcoming.js";
import { controlBodySchema } from "../../scenario/format/json-schema.js";
import { farmerSchema } from "../../synthetic/farmers/farmer-schema.js";

// The answers of the control plane as JSON Schema. Every member is always present; only faults have no more members than
// they were given.

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const time = { type: "string", format: "date-time" };
const timeOrNull = { type: ["string", "null"], format: "date-time" };
const count = { type: "integer", minimum: 0 };
const countOrNull = { type: ["integer", "null"], minimum: 0 };
const flag = { type: "boolean" };
const texts = { type: "object", additionalProperties: text };
const pathId = { enum: outcomes.map(({ path }) => path) };
const fault = { enum: [...faultPathIds, null] };
const advice = { enum: adviceIds };

type Members = Readonly<Record<string, JsonSchema>>;

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

function every(schema: JsonSchema, ...names: readonly string[]): Members {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

// Any text, so that named parts can refer to each other.
function named(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function pagesOf<const Part extends string>(...parts: readonly Part[]) {
  const pages = parts.map((part) => [`${part}Page`, object({ data: list(named(part)), total: count })]);
  return Object.fromEntries(pages) as Readonly<Record<`${Part}Page`, JsonSchema>>;
}

// Assumptions and faults are shown as they are sent.
const { properties: assumptions } = controlBodySchema("assumptions_change") as { properties: Members };
const { properties: faultsBody } = controlBodySchema("faults_change") as {
  properties: { faults: { items: JsonSchema } };
};

// Only a whole document names its dialect.
const { $schema: _, ...farmer } = farmerSchema as JsonSchema;

const step = { kind: { enum: stepKinds }, say: textOrNull };
const instance = {
  ...every(text, "id", "base_url", "control_url", "scenario"),
  seed: count,
  label: textOrNull,
  created_at: time,
};
const requestOfClient = {
  ...every(text, "id", "method", "path"),
  at: time,
  ...every(textOrNull, "key", "fingerprint"),
};
const request = {
  ...requestOfClient,
  status: count,
  code: textOrNull,
  path_id: pathId,
  fault,
  advice: list(advice),
  duration_ms: { type: "number", minimum: 0 },
  told: flag,
};
const answer = { status: count, headers: texts, body: text };
const adviceRow = {
  id: advice,
  level: { enum: adviceLevels },
  ...every(text, "rule", "meaning", "what_to_do"),
};
const check = every(text, "name", "question", "rules");
const progress = { steps: count, told: count, over: flag };
const share = object(every(count, "met", "total"));
const running = { scenario: text, seed: count };

/** The named parts of the answers. */
export const answerSchemas = {
  Key: object({
    ...every(text, "ref", "organization", "name"),
    environment: { enum: environments },
    legacy: flag,
    fingerprint: { type: "string", pattern: "^[0-9a-f]{12}$" },
    state: { enum: keyStates },
    scopes: list(text),
    limits: object(every(count, "per_minute", "per_day")),
    usage: object(every(count, "this_minute", "today")),
    ...every(timeOrNull, "revoked_at", "expires_at", "overlap_ends_at"),
    ...every(textOrNull, "replaced_by", "replaces"),
  }),
  RevokedKey: object({ key: named("Key") }),
  IssuedKey: object({ key: named("Key"), secret: text }),
  Organization: object({
    ...every(text, "ref", "name"),
    id: { type: "string", format: "uuid" },
    type: { enum: organizationTypes },
    status: { enum: organizationStatuses },
    sandbox_access: flag,
    live_access: { enum: liveAccessStates },
  }),
  Consent: object({
    ...every(text, "id", "organization", "farmer_id"),
    synthetic: { const: true },
    farmer: count,
    status: { enum: consentStatuses },
    purpose: object({ code: { enum: purposeCodes }, text }),
    permissions: list({ enum: permissions }),
    ...every(time, "created_at", "respond_by", "expires_at"),
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
  Upcoming: object({
    at: time,
    kind: { enum: upcomingKinds },
    ...every(textOrNull, "key", "organization"),
    step: countOrNull,
    text,
  }),
  Assumptions: object(assumptions),
  AssumptionRow: object({
    ...every(text, "assumption", "meaning", "gap"),
    schema: { type: "object" },
    ...every({}, "minimal", "typical"),
    varied: flag,
  }),
  Fault: faultsBody.faults.items,
  Request: object(request),
  RequestDetails: object({
    ...request,
    checks: list(object({ ...check, result: { enum: ["passed", "refused", "not_reached"] } })),
    answer: orNull(object(answer)),
    ...every(text, "when", "what_to_do"),
    advice_details: list(object(adviceRow)),
  }),
  Sent: object({ request: named("Request"), answer: orNull(object(answer)) }),
  Gate: object({
    checks: list(object({ ...check, exits: list(pathId) })),
    ...every(list(pathId), "successes", "faults"),
  }),
  Report: object({
    ...running,
    profile: { enum: profiles },
    pinned: list(text),
    ...every(count, "requests", "unread"),
    coverage: object({ percent: { ...count, maximum: 100 }, ...every(count, "met", "promised") }),
    faults: share,
    preview: orNull(share),
    paths: list(
      object({
        path_id: pathId,
        ...every(flag, "promised", "met"),
        ...every(count, "count", "preview_count"),
        when: text,
        how_to_meet: textOrNull,
      }),
    ),
    advice: list(
      object({
        ...adviceRow,
        count,
        examples: list(object({ ...requestOfClient, did_you_mean: textOrNull })),
      }),
    ),
  }),
  Farmer: farmer,
  ...pagesOf("Farmer", "Key", "Organization"),
  Story: object({
    ...progress,
    next: orNull(object({ number: count, ...step })),
    outline: list(
      object({
        number: count,
        ...step,
        text: textOrNull,
        told: flag,
        as_expected: { type: ["boolean", "null"] },
      }),
    ),
    last: orNull(named("StepResult")),
  }),
  NextStep: object({ ...progress, step: orNull(named("StepResult")) }),
  StepResult: object({
    ...every(count, "number", "of"),
    ...step,
    request: orNull(
      object({ ...every(text, "method", "path", "key"), headers: texts, body: textOrNull, times: count }),
    ),
    answer: orNull(object({ ...answer, code: textOrNull, path_id: pathId, fault })),
    performed: orNull(
      object({
        refusal: orNull(object(every(text, "code", "message"))),
        ...every(orNull(named("Key")), "key", "replacement"),
        secret: textOrNull,
        organization: orNull(named("Organization")),
        consent: orNull(named("Consent")),
      }),
    ),
    failure: orNull(object({ code: text, message: text })),
    text: textOrNull,
    meanwhile: list(
      object({ timeline_step: count, at: time, text, refusal: textOrNull, message: textOrNull }),
    ),
    now: time,
    differences: list(object(every(text, "at", "expected", "found"))),
  }),
  // Without the control token, where one is needed, no more than the store; and that only where there is one.
  Health: {
    ...object({
      status: { const: "ok" },
      version: text,
      store: { enum: ["reachable", "unreachable"] },
      ...running,
      now: time,
      started_at: time,
    }),
    required: ["status", "version"],
  },
  Readiness: object({ status: { const: "ready" }, version: text }),
  State: object({
    ...running,
    clock: named("Clock"),
    assumptions: named("Assumptions"),
    faults: list(named("Fault")),
    organizations: list(named("Organization")),
    keys: list(named("Key")),
  }),
  Scenario: object(every(text, "name", "title", "description")),
  Validation: object({
    problems: list(
      object({
        ...every(countOrNull, "line", "column", "end_line", "end_column"),
        level: { enum: ["error", "warning"] },
        message: text,
        hint: textOrNull,
      }),
    ),
  }),
  Running: object({ ...running, now: time, warnings: list(text) }),
  Stopping: object({ ...running, started_at: time }),
  Instance: object({ ...instance, keys: texts }),
  InstanceSummary: object(instance),
  ControlError: object({
    error: {
      ...object({
        ...every(text, "code", "message"),
        details: { type: "object", additionalProperties: true },
      }),
      required: ["code", "message"],
    },
  }),
} as const satisfies Readonly<Record<string, JsonSchema>>;

type PartName = keyof typeof answerSchemas;

/** An answer that is a named part. */
export const one: (part: PartName) => JsonSchema = named;

/** An answer that is a list of a named part. */
export const listOf = (part: PartName): JsonSchema => list(named(part));
