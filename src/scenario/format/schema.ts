import { z } from "zod/mini";
import { environments, keyStates, maximumActiveKeys } from "../../domain/api-key.js";
import { assumptionTable, errorCodePattern, profiles } from "../../domain/assumptions.js";
import { permissions } from "../../domain/attestation.js";
import { type ConsentAction, consentActions, longestPurpose, purposeCodes } from "../../domain/consent.js";
import { farmerLocaleChoices, mostFarmers } from "../../domain/farmer.js";
import { liveAccessStates, organizationStatuses, organizationTypes } from "../../domain/organization.js";
import {
  choice,
  count,
  countUpTo,
  flag,
  limits,
  pattern,
  ref,
  scope,
  sha256,
  text,
  time,
  timeOrDuration,
  wordings,
} from "./fields.js";
import { faultsSchema, storySchema, timelineSchema } from "./steps.js";
import { durationHint, durationPattern, parseDuration } from "./time.js";

// The one source of the scenario format: the checks, their messages, the JSON Schema and the types of
// `scenario.generated.ts` are all made from it. `descriptions.json` describes each field, for an editor's hover text
// and the types' docs; a page that checks scenarios does not load it.

const maximumScopes = 100;
const timeOfDayPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = z.strictObject({
  this_minute: z.optional(count()),
  today: z.optional(count()),
  counted_at: z.optional(z.array(time())),
});

const key = z.strictObject({
  environment: choice(environments),
  name: z.optional(text()),
  scopes: z.optional(z.array(scope()).check(z.minLength(1), z.maxLength(maximumScopes))),
  limits: z.optional(limits),
  usage: z.optional(usage),
  state: z.optional(choice(keyStates)),
  expires: z.optional(timeOrDuration()),
  legacy: z.optional(flag()),
  replaced_by: z.optional(ref()),
  overlap_ends: z.optional(timeOrDuration()),
  secret: z.optional(text()),
  sha256: z.optional(sha256()),
});

const organization = z.strictObject({
  name: z.optional(text()),
  id: z.optional(
    pattern(
      {
        noun: "a UUID in lower case",
        example: "3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60",
        hint: (given) => (uuidPattern.test(given.toLowerCase()) ? `write ${given.toLowerCase()}` : undefined),
      },
      uuidPattern,
    ),
  ),
  type: choice(organizationTypes),
  status: z.optional(choice(organizationStatuses)),
  sandbox_access: z.optional(flag()),
  live_access: z.optional(choice(liveAccessStates)),
  keys: z.optional(z.record(ref(), key)),
});

const assumptionSchemas = {
  boolean: () => flag(),
  choice: (choices: readonly string[] = []) => choice(choices),
  code: () => pattern({ noun: "an error code", example: "too_many_requests" }, errorCodePattern),
  time_of_day: () => pattern({ noun: "a time of day in UTC", example: "06:00" }, timeOfDayPattern),
  duration_or_none: () =>
    pattern(
      { noun: "a duration or none", example: "90d, 12h or none", code: "bad_time", hint: durationHint },
      new RegExp(`^none$|${durationPattern.source}`),
    ).check(z.refine((value) => value === "none" || (parseDuration(value) ?? -1) > 0)),
  scope_or_null: () => z.nullable(scope()),
  scopes: () => z.array(scope()).check(z.minLength(1), z.maxLength(maximumScopes)),
};

const assumptionFields: Record<string, z.ZodMiniType> = {
  profile: z.optional(choice(profiles)),
};
for (const [name, row] of Object.entries(assumptionTable)) {
  assumptionFields[name] = z.optional(assumptionSchemas[row.kind](row.choices));
}
export const assumptionsSchema = z.strictObject(assumptionFields);

const clock = z.strictObject({
  now: z.optional(time()),
  frozen: z.optional(flag()),
});

const maximumOrganizations = 100_000;

const population = z.strictObject({
  organizations: z.optional(countUpTo(maximumOrganizations)),
  keys_per_organization: z.optional(countUpTo(environments.length * maximumActiveKeys)),
  farmers: z.optional(countUpTo(mostFarmers - 1)),
  locale: z.optional(choice(farmerLocaleChoices)),
  as_of: z.optional(time()),
});

// Consent requests that exist when the clock starts: what has been done so far; the rest is worked out from it.

const longestIdempotencyKey = 255;

const actions = Object.keys(consentActions) as ConsentAction[];

const deed = z.strictObject({
  at: timeOrDuration(),
  do: choice(actions),
});

const suspension = z.strictObject({
  at: time(),
  permission: choice(permissions),
  suspended: flag(),
});

const idempotency = z.strictObject({
  key: z.string().check(z.regex(/^[\x20-\x7e]+$/), z.maxLength(longestIdempotencyKey)),
  sha256: z.optional(sha256()),
});

// `rules/steps.ts` checks what they say of each other.
const consentsSchema = z.array(
  z.strictObject({
    organization: ref(),
    farmer: count(),
    purpose: z.optional(
      z.strictObject({
        code: choice(purposeCodes),
        text: text(longestPurpose),
      }),
    ),
    permissions: z.optional(
      z.array(choice(permissions)).check(z.minLength(1), z.maxLength(permissions.length)),
    ),
    created_at: z.optional(timeOrDuration()),
    expires_at: z.optional(timeOrDuration()),
    deeds: z.optional(z.array(deed)),
    suspensions: z.optional(z.array(suspension)),
    idempotency: z.optional(idempotency),
  }),
);

/** The scenario file: one world. Checks shape only; `rules/` checks what fields say of each other. */
export const scenarioSchema = z.strictObject({
  version: z.literal(1).register(wordings, { code: "unsupported_version" }),
  name: z.optional(text()),
  description: z.optional(z.string().check(z.maxLength(2000))),
  extends: z.optional(text()),
  seed: z.optional(count()),
  requests_answered: z.optional(count()),
  clock: z.optional(clock),
  default_key: z.optional(ref()),
  assumptions: z.optional(assumptionsSchema),
  faults: z.optional(faultsSchema),
  organizations: z.optional(z.record(ref(), organization)),
  population: z.optional(population),
  preview: z.optional(flag()),
  consents: z.optional(consentsSchema),
  timeline: z.optional(timelineSchema),
  story: z.optional(storySchema),
});
