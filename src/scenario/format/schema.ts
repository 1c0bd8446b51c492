import {
  environments,
  keyStates,
  liveAccessStates,
  maximumActiveKeys,
  organizationStatuses,
  organizationTypes,
} from "../../spec/api-key.js";
import { farmerLocaleChoices, maxFarmers } from "../../spec/farmer-locales.js";
import {
  choice,
  count,
  either,
  flag,
  list,
  mapping,
  ofSnapshots,
  optional,
  record,
  replacing,
  text,
} from "../../spec/schema/shape.js";
import { scenarioLimits } from "../limits.js";
import {
  limits,
  maximumScopes,
  positiveDuration,
  ref,
  scope,
  sha256,
  shortText,
  time,
  timeOrDuration,
} from "./fields.js";
import {
  assumptionsSchema,
  faultsSchema,
  members,
  recordCreation,
  storySchema,
  timelineSchema,
} from "./steps.js";

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
  scopes: optional(list(scope(), { min: 1, max: maximumScopes })),
  limits: optional(limits),
  usage: optional(usage),
  state: optional(choice(keyStates)),
  revoked_at: ofSnapshots(time()),
  expires: optional(timeOrDuration()),
  overlap_ends: optional(timeOrDuration()),
  legacy: optional(flag()),
  replaced_by: optional(ref()),
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

const population = mapping({
  organizations: optional(count({ max: scenarioLimits.organizationsOfPopulation })),
  keys_per_organization: optional(count({ max: environments.length * maximumActiveKeys })),
  farmers: optional(count({ max: maxFarmers - 1 })),
  locale: optional(choice(farmerLocaleChoices)),
  as_of: optional(time()),
});

// Records of the operations of a document. `src/openapi/records.ts` checks the names and values.

const operation = () => text({ noun: "an operation id", pattern: /^[A-Za-z][\w-]{0,99}$/ });
const change = mapping({ when: optional(members()), set: optional(members()) });

const rule = mapping({
  after: positiveDuration(),
  when: optional(members()),
  set: members(),
});
const then = optional(list(rule, { max: 100 }));

const collection = mapping({
  create: optional(operation()),
  read: optional(operation()),
  list: optional(operation()),
  update: optional(operation()),
  remove: optional(operation()),
  id: optional(
    text({ noun: "a place in a response", example: "data.id", pattern: /^[\w-]+(?:\.[\w-]+){0,5}$/ }),
  ),
  set: optional(members()),
  moves: optional(record(change, operation())),
  then,
  start: optional(list(recordCreation)),
  kept: ofSnapshots(
    mapping({
      made: count(),
      records: list(
        mapping({
          number: count({ min: 1 }),
          organization: ref(),
          environment: choice(environments),
          created_at: time(),
          updated_at: time(),
          rules_run: count(),
          next: optional(mapping({ rule: count(), at: time() })),
          members: members(),
        }),
      ),
      removed: list(mapping({ number: count({ min: 1 }), id: text(), at: time() })),
      keys: record(mapping({ sha256: sha256(), number: count({ min: 1 }), at: time() })),
    }),
  ),
});

const operationIds = list(text({ min: 1 }), { min: 1 });
const documentSchema = mapping({
  file: optional(text()),
  text: text(),
  operations: optional(operationIds),
});
const partOfFile = mapping({ file: shortText(), operations: operationIds });

/** The scenario file. This checks only the shape; `rules/` checks the fields against each other. */
export const scenarioSchema = replacing(
  {
    preview:
      "write openapi: announced-endpoints.openapi.yaml and records:, as in the scenario announced-endpoints",
    consents:
      'write records: { consent-requests: { start: [{ organization: …, farmer_id: "{farmer.0}" }] } }',
  },
  mapping({
    version: choice([1], "unsupported_version"),
    name: optional(shortText()),
    description: optional(text({ max: 2000 })),
    extends: optional(shortText()),
    seed: optional(count()),
    requests_responded: ofSnapshots(count()),
    clock: optional(clock),
    default_key: optional(ref()),
    assumptions: optional(assumptionsSchema),
    faults: optional(faultsSchema),
    organizations: optional(record(organization, ref())),
    population: optional(population),
    openapi: optional(either(shortText(), documentSchema, partOfFile)),
    examples: optional(record(text({ min: 1, max: 200 }))),
    records: optional(record(collection, ref())),
    timeline: optional(timelineSchema),
    story: optional(storySchema),
  }),
);
