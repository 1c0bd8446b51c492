import {
  environments,
  keyStates,
  liveAccessStates,
  maximumActiveKeys,
  organizationStatuses,
  organizationTypes,
} from "../../spec/api-key.js";
import { errorCodePattern } from "../../spec/assumptions.js";
import { farmerLocaleChoices, mostFarmers } from "../../spec/farmer-locales.js";
import { mePath, outcomes } from "../../spec/outcomes.js";
import {
  anything,
  choice,
  count,
  either,
  fieldsOf,
  flag,
  list,
  mapping,
  ofSnapshots,
  optional,
  record,
  replacing,
  type Shape,
  type TextKind,
  type Traits,
  text,
} from "../../spec/schema/shape.js";
import { scenarioLimits } from "../limits.js";
import {
  parseDate,
  positiveDuration,
  ref,
  scope,
  sha256,
  shortText,
  time,
  timeHint,
  timePattern,
} from "./fields.js";
import { endFields, settingFields } from "./key-settings.js";
import {
  assumptionsSchema,
  faultsSchema,
  members,
  recordCreation,
  storySchema,
  timelineSchema,
} from "./steps.js";

// Announced changes of the API: data only. Each edits a response, moves a path or sets an assumption.

const date = () =>
  text({
    noun: "a date or a time",
    example: "2027-06-01",
    code: "bad_time",
    pattern: new RegExp(`^\\d{4}-\\d{2}-\\d{2}$|${timePattern.source}`),
    isAllowed: (given) => parseDate(given) !== undefined,
    hint: timeHint,
  });

/**
 * The assumptions that a change can set: each is visible in a single response, so none contradicts the sandbox's state.
 */
const openNames = [
  "rate_limit_code",
  "request_id_on_errors",
  "retry_after",
  "rate_limit_headers",
  "error_details",
  "me_scope",
  "count_rejected",
  "www_authenticate",
] as const;
export type AnnouncedAssumption = (typeof openNames)[number];

const known = Object.entries(fieldsOf(assumptionsSchema) ?? {});
const assumptions = mapping(
  Object.fromEntries(known.filter(([name]) => (openNames as readonly string[]).includes(name))),
);

// A 401 has one code for all causes, so a change cannot reveal the cause (R14).
const errors = outcomes.filter(({ promised, code }) => promised && code !== null);
const errorNames = [
  ...new Set(errors.map(({ code }) => code as string)),
  ...errors.flatMap(({ path, status }) => (status === 401 ? [] : [path])),
];
const errorName = () =>
  text({
    noun: "an error code of the API, or a path id of a 403 or 429",
    example: "rate_limited",
    pattern: new RegExp(`^(?:${errorNames.join("|").replaceAll(".", "\\.")})$`),
  });
const errorCode = text({ noun: "an error code", example: "quota_exceeded", pattern: errorCodePattern });

const edits = <Value>(name: () => TextKind & Traits<string>, value: Shape<Value>) => ({
  add: optional(record(value, name())),
  rename: optional(record(name(), name())),
  remove: optional(list(name())),
});
const on = () => optional(choice([200, 201, 202, 400, 401, 403, 404, 409, 422, 429]));
const memberName = () => text({ noun: "the name of a member", pattern: /^[A-Za-z]\w{0,99}$/ });
// Headers for the delivery of a response cannot change.
const headerName = () =>
  text({
    noun: "the name of a header that the API can change",
    example: "X-Request-Id",
    pattern:
      /^(?!(?:connection|content-(?:length|encoding)|date|keep-alive|te|trailer|transfer-encoding|upgrade)$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i,
  });
const headerValue = text({ noun: "one line of ASCII", pattern: /^[\x20-\x7e]{0,1000}$/ });

const place = text({
  noun: "error, data, or an object in data",
  example: "data.usage",
  pattern: /^(?:error|data(?:\.[A-Za-z]\w{0,99})*)$/,
});

const path = (example: string) =>
  text({
    noun: "a path with its version",
    example,
    pattern: /^\/v\d{1,3}\/relying-party\/[a-z0-9/_-]{1,100}$/,
  });

const apiChange = mapping({
  at: date(),
  say: optional(shortText()),
  operation: optional(text({ noun: "an operation id", pattern: /^[A-Za-z][\w-]{0,99}$/ })),
  assumptions: optional(assumptions),
  move: optional(mapping({ from: optional(path(mePath)), to: path("/v2/relying-party/me"), sunset: date() })),
  members: optional(mapping({ in: place, on: on(), ...edits(memberName, anything()) })),
  headers: optional(mapping({ on: on(), ...edits(headerName, headerValue) })),
  scopes: optional(
    mapping({
      rename: optional(record(scope(), scope())),
      add: optional(list(scope())),
      remove: optional(list(scope())),
    }),
  ),
  codes: optional(record(errorCode, errorName())),
  statuses: optional(record(count({ least: 400, most: 599 }), errorName())),
});

const changesSchema = record(apiChange, ref());

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
  ...settingFields,
  usage: optional(usage),
  state: optional(choice(keyStates)),
  ...endFields,
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
  organizations: optional(count({ most: scenarioLimits.organizationsOfPopulation })),
  keys_per_organization: optional(count({ most: environments.length * maximumActiveKeys })),
  farmers: optional(count({ most: mostFarmers - 1 })),
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
const then = optional(list(rule, { most: 100 }));

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
          number: count({ least: 1 }),
          organization: ref(),
          environment: choice(environments),
          created_at: time(),
          updated_at: time(),
          rules_run: count(),
          next: optional(mapping({ rule: count(), at: time() })),
          members: members(),
        }),
      ),
      removed: list(mapping({ number: count({ least: 1 }), id: text(), at: time() })),
      keys: record(mapping({ sha256: sha256(), number: count({ least: 1 }), at: time() })),
    }),
  ),
});

const operationIds = list(text({ least: 1 }), { least: 1 });
const documentSchema = mapping({
  file: optional(text()),
  text: text(),
  files: ofSnapshots(record(text())),
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
    description: optional(text({ most: 2000 })),
    extends: optional(shortText()),
    seed: optional(count()),
    requests_responded: ofSnapshots(count()),
    clock: optional(clock),
    default_key: optional(ref()),
    assumptions: optional(assumptionsSchema),
    faults: optional(faultsSchema),
    organizations: optional(record(organization, ref())),
    population: optional(population),
    changes: optional(changesSchema),
    openapi: optional(either(shortText(), documentSchema, partOfFile)),
    examples: optional(record(text({ least: 1, most: 200 }))),
    records: optional(record(collection, ref())),
    timeline: optional(timelineSchema),
    story: optional(storySchema),
  }),
);
