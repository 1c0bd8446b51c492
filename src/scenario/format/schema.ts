import {
  environments,
  keyStates,
  liveAccessStates,
  maximumActiveKeys,
  organizationStatuses,
  organizationTypes,
} from "../../spec/api-key.js";
import {
  type ConsentAction,
  consentActions,
  farmerLocaleChoices,
  longestPurpose,
  mostFarmers,
  permissions,
  purposeCodes,
} from "../../spec/consent.js";
import {
  choice,
  count,
  flag,
  list,
  mapping,
  ofSnapshots,
  optional,
  record,
  text,
} from "../../spec/schema/shape.js";
import { assumptionsSchema, maximumScopes } from "./assumptions.js";
import { changesSchema } from "./changes.js";
import { limits, ref, scope, sha256, shortText, time, timeOrDuration } from "./fields.js";
import { faultsSchema, storySchema, timelineSchema } from "./steps.js";

// The only source of the scenario format. Its checks, messages, JSON Schema and the types of `scenario.generated.ts`
// are made from it. `descriptions.json` has the text for each field, for editors and the types' docs; a page that
// checks scenarios does not load it.

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = mapping({
  this_minute: optional(count()),
  today: optional(count()),
  counted_at: ofSnapshots(list(time())),
});

const key = mapping({
  environment: choice(environments),
  name: optional(shortText()),
  scopes: optional(list(scope(), { least: 1, most: maximumScopes })),
  limits: optional(limits),
  usage: optional(usage),
  state: optional(choice(keyStates)),
  revoked_at: ofSnapshots(time()),
  expires: optional(timeOrDuration()),
  legacy: optional(flag()),
  replaced_by: optional(ref()),
  overlap_ends: optional(timeOrDuration()),
  secret: optional(shortText()),
  sha256: ofSnapshots(sha256()),
});

const organization = mapping({
  name: optional(shortText()),
  id: optional(
    text({
      noun: "a UUID in lower case",
      example: "3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60",
      pattern: uuidPattern,
      hint: (given) => (uuidPattern.test(given.toLowerCase()) ? `write ${given.toLowerCase()}` : undefined),
    }),
  ),
  type: choice(organizationTypes),
  status: optional(choice(organizationStatuses)),
  sandbox_access: optional(flag()),
  live_access: optional(choice(liveAccessStates)),
  keys: optional(record(key, ref())),
});

const clock = mapping({ now: optional(time()), frozen: optional(flag()) });

const maximumOrganizations = 100_000;

const population = mapping({
  organizations: optional(count({ most: maximumOrganizations })),
  keys_per_organization: optional(count({ most: environments.length * maximumActiveKeys })),
  farmers: optional(count({ most: mostFarmers - 1 })),
  locale: optional(choice(farmerLocaleChoices)),
  as_of: optional(time()),
});

// Consent requests that exist when the clock starts, with the decisions so far. Their status is derived from them.

const longestIdempotencyKey = 255;

const actions = Object.keys(consentActions) as ConsentAction[];

const decision = mapping({ at: timeOrDuration(), do: choice(actions) });

const suspension = mapping({ at: time(), permission: choice(permissions), suspended: flag() });

const idempotency = mapping({
  key: text({ pattern: /^[\x20-\x7e]+$/, most: longestIdempotencyKey }),
  sha256: ofSnapshots(sha256()),
});

// `rules/consents.ts` checks the fields against each other.
const consentsSchema = list(
  mapping({
    organization: ref(),
    farmer: count(),
    purpose: optional(mapping({ code: choice(purposeCodes), text: shortText(longestPurpose) })),
    permissions: optional(list(choice(permissions), { least: 1, most: permissions.length })),
    created_at: optional(timeOrDuration()),
    expires_at: optional(timeOrDuration()),
    decisions: optional(list(decision)),
    suspensions: ofSnapshots(list(suspension)),
    idempotency: optional(idempotency),
  }),
);

/** The scenario file. This checks only the shape; `rules/` checks the fields against each other. */
export const scenarioSchema = mapping({
  version: choice([1], "unsupported_version"),
  name: optional(shortText()),
  description: optional(text({ most: 2000 })),
  extends: optional(shortText()),
  seed: optional(count()),
  requests_answered: ofSnapshots(count()),
  clock: optional(clock),
  default_key: optional(ref()),
  assumptions: optional(assumptionsSchema),
  faults: optional(faultsSchema),
  organizations: optional(record(organization, ref())),
  population: optional(population),
  preview: optional(flag()),
  consents: optional(consentsSchema),
  changes: optional(changesSchema),
  timeline: optional(timelineSchema),
  story: optional(storySchema),
});
