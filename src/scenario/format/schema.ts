import { z } from "zod/mini";
import { environments, keyStates, maximumActiveKeys } from "../../domain/api-key.js";
import { assumptionTable, errorCodePattern, profiles } from "../../domain/assumptions.js";
import { farmerLocaleChoices, mostFarmers } from "../../domain/farmer.js";
import { liveAccessStates, organizationStatuses, organizationTypes } from "../../domain/organization.js";
import { consentsSchema } from "./consents.js";
import { faultsSchema } from "./faults.js";
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
import { storySchema, timelineSchema } from "./steps.js";
import { durationHint, durationPattern, parseDuration } from "./time.js";

// The one source of the scenario format: the checks, their messages, the JSON Schema and the types of
// `scenario.generated.ts` are all made from it. Descriptions become the editor's hover text and the types' docs.

const maximumScopes = 100;
const timeOfDayPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = z
  .strictObject({
    this_minute: z.optional(
      count("Requests already counted in the minute in which the clock starts. Default: 0."),
    ),
    today: z.optional(count("Requests already counted today. Default: the value of this_minute.")),
    counted_at: z.optional(
      z
        .array(time("When a request was counted."))
        .check(
          z.describe(
            "For minute_window: sliding, when the requests of this_minute were counted, oldest first; snapshots write it. Default: all when the clock starts.",
          ),
        ),
    ),
  })
  .check(z.describe("What the key has already used when the clock starts."));

const key = z
  .strictObject({
    environment: choice(environments, "The environment that the key belongs to; its prefix says the same."),
    name: z.optional(text("The name of the key. Left out: invented from the seed and the ref.")),
    scopes: z.optional(
      z
        .array(scope("A scope name."))
        .check(
          z.minLength(1),
          z.maxLength(maximumScopes),
          z.describe("The scopes granted to the key. Default: [attestations:read]."),
        ),
    ),
    limits: z.optional(limits),
    usage: z.optional(usage),
    state: z.optional(choice(keyStates, "The state in which the key starts. Default: active.")),
    expires: z.optional(timeOrDuration("When the key expires.")),
    legacy: z.optional(flag("Whether the key has a legacy prefix. Default: false.")),
    replaced_by: z.optional(ref("The key that replaced this one.")),
    overlap_ends: z.optional(timeOrDuration("When a retiring key ends. Default: 60m.")),
    secret: z.optional(text("The full key. Left out: derived from the seed and the ref.")),
    sha256: z.optional(
      sha256("The SHA-256 of the full key instead of the key; snapshots write it for keys made at run time."),
    ),
  })
  .check(z.describe("An API key."));

const organization = z
  .strictObject({
    name: z.optional(text("The name of the organization. Left out: invented from the seed and the ref.")),
    id: z.optional(
      pattern(
        {
          noun: "a UUID in lower case",
          example: "3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60",
          hint: (given) =>
            uuidPattern.test(given.toLowerCase()) ? `write ${given.toLowerCase()}` : undefined,
        },
        uuidPattern,
        "A UUID in lower case. Left out: derived from the seed and the ref.",
      ),
    ),
    type: choice(organizationTypes, "The kind of relying party."),
    status: z.optional(
      choice(organizationStatuses, "Whether the organization may use the API. Default: active."),
    ),
    sandbox_access: z.optional(flag("Whether test keys can be created for it. Default: true.")),
    live_access: z.optional(
      choice(liveAccessStates, "Where it stands with live access. Default: not_approved."),
    ),
    keys: z.optional(
      z
        .record(ref("The key's ref, unique in the whole scenario."), key)
        .check(z.describe("Its API keys, by ref.")),
    ),
  })
  .check(z.describe("A relying party: a bank or an insurer."));

const assumptionSchemas = {
  boolean: (row: AssumptionDescription) => flag(row.description),
  choice: (row: AssumptionDescription) => choice(row.choices, row.description),
  code: (row: AssumptionDescription) =>
    pattern({ noun: "an error code", example: "too_many_requests" }, errorCodePattern, row.description),
  time_of_day: (row: AssumptionDescription) =>
    pattern(
      { noun: "a time of day in UTC", example: "06:00" },
      timeOfDayPattern,
      `${row.description} HH:MM.`,
    ),
  duration_or_none: (row: AssumptionDescription) =>
    pattern(
      { noun: "a duration or none", example: "90d, 12h or none", code: "bad_time", hint: durationHint },
      new RegExp(`^none$|${durationPattern.source}`),
      row.description,
    ).check(z.refine((value) => value === "none" || (parseDuration(value) ?? -1) > 0)),
  scope_or_null: (row: AssumptionDescription) =>
    z.nullable(scope("A scope name.")).check(z.describe(row.description)),
  scopes: (row: AssumptionDescription) =>
    z
      .array(scope("A scope name."))
      .check(z.minLength(1), z.maxLength(maximumScopes), z.describe(row.description)),
};

interface AssumptionDescription {
  readonly choices: readonly string[];
  readonly description: string;
}

const assumptionFields: Record<string, z.ZodMiniType> = {
  profile: z.optional(choice(profiles, "The profile that sets all assumptions. Default: minimal.")),
};
for (const [name, row] of Object.entries(assumptionTable)) {
  const description = `${row.meaning} Default: ${JSON.stringify(row.minimal)}.`;
  assumptionFields[name] = z.optional(
    assumptionSchemas[row.kind]({ choices: row.choices ?? [], description }),
  );
}
export const assumptionsSchema = z
  .strictObject(assumptionFields)
  .check(z.describe("The choices made where the specification is silent."));

const clock = z
  .strictObject({
    now: z.optional(time("When the clock starts. Default: the real time.")),
    frozen: z.optional(flag("Whether the clock stands still until it is moved. Default: false.")),
  })
  .check(z.describe("The clock of the sandbox."));

const maximumOrganizations = 100_000;

const population = z
  .strictObject({
    organizations: z.optional(
      countUpTo(
        maximumOrganizations,
        "How many organizations there are besides those that are described, under the refs organization-1, organization-2, …: every third one is an insurer, the others are banks. Default: 0.",
      ),
    ),
    keys_per_organization: z.optional(
      countUpTo(
        environments.length * maximumActiveKeys,
        "How many keys each of them has, under the refs organization-1-key-1, …: test, live, test, …; an organization with a live key is approved. Default: 1.",
      ),
    ),
    farmers: z.optional(countUpTo(mostFarmers - 1, "How many synthetic farmers there are. Default: 1000.")),
    locale: z.optional(
      choice(
        farmerLocaleChoices,
        "Where the farmers live: a locale, or all of a language. Default: everywhere.",
      ),
    ),
    as_of: z.optional(
      time(
        "The time on which the dates of the farmers hang; snapshots write it. Default: when the clock starts.",
      ),
    ),
  })
  .check(z.describe("Organizations, keys and farmers by their number."));

/** The scenario file: one world. Checks shape only; `rules/` checks what fields say of each other. */
export const scenarioSchema = z
  .strictObject({
    version: z
      .literal(1)
      .check(z.describe("The version of the scenario format."))
      .register(wordings, { code: "unsupported_version" }),
    name: z.optional(text("What the scenario is called, for people.")),
    description: z.optional(z.string().check(z.maxLength(2000), z.describe("What the scenario shows."))),
    extends: z.optional(
      text(
        "Start from another scenario: a bundled name, or a file (relative to this one). Its story stays behind.",
      ),
    ),
    seed: z.optional(count("Everything left out is derived from it. Default: 1.")),
    requests_answered: z.optional(
      count("Requests answered before the clock starts; request ids go on from there. Default: 0."),
    ),
    clock: z.optional(clock),
    default_key: z.optional(ref("The key that clients get when they ask for none. Default: the first key.")),
    assumptions: z.optional(assumptionsSchema),
    faults: z.optional(faultsSchema),
    organizations: z.optional(
      z
        .record(ref("The organization's ref."), organization)
        .check(z.describe("The relying parties of this world, by ref.")),
    ),
    population: z.optional(population),
    preview: z.optional(
      flag(
        "Whether there is a preview of the announced endpoints, consent requests and attestations; their shapes are a guess. Default: false.",
      ),
    ),
    consents: z.optional(consentsSchema),
    timeline: z.optional(timelineSchema),
    story: z.optional(storySchema),
  })
  .check(z.describe("A scenario of svc-sandbox: one world."));
