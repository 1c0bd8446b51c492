import { farmerLocaleChoices, maxFarmers } from "../../rules/farmer-locales.js";
import { keyStates, maximumActiveKeys } from "../../rules/key-state.js";
import { environments } from "../../rules/keys/key-text.js";
import { organizationChange, organizationViewFields } from "../../rules/organization.js";
import * as s from "../../schema/shape.js";
import { endpointsSchema } from "./endpoint-shapes.js";
import { limits, maximumScopes, ref, refOf, scenarioLimits, scope, sha256, shortText } from "./fields.js";
import { assumptionsSchema, faultsSchema, storySchema, timelineSchema } from "./step-shapes.js";
import { time, timeOrDuration } from "./times.js";

// The only source of the scenario format. `descriptions.json` has its texts, which a page that checks scenarios does not load.

/** In lower case, as the API writes ids; `s.uuid` reads those of any service. */
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = s.mapping({
  this_minute: s.optional(s.integer({ max: scenarioLimits.requestsOfMinute })),
  today: s.optional(s.integer()),
  counted_at: s.snapshotOnly(s.list(s.mapping({ at: time(), count: s.integer({ min: 1 }) }))),
});

/** Keys of an inactive or suspended organization do not work, which people write as a state of the key. */
const hintsForStates: ReadonlyMap<unknown, string> = new Map([
  ["inactive", "write status: inactive for its organization"],
  ["suspended", "write live_access: suspended for its organization"],
]);

const key = s.mapping({
  environment: s.choice(environments),
  name: s.optional(shortText()),
  scopes: s.optional(s.list(scope(), { min: 1, max: maximumScopes })),
  limits: s.optional(limits),
  usage: s.optional(usage),
  state: s.optional(s.choice(keyStates, "bad_choice", (value) => hintsForStates.get(value))),
  created_at: s.snapshotOnly(time()),
  revoked_at: s.snapshotOnly(time()),
  expires: s.optional(timeOrDuration()),
  overlap_ends: s.optional(timeOrDuration()),
  legacy: s.optional(s.flag()),
  replaced_by: s.optional(refOf("key")),
  secret: s.optional({ ...shortText(), isSecret: true }),
  sha256: s.snapshotOnly(sha256()),
});

const organization = s.mapping({
  name: s.optional(shortText()),
  id: s.optional(
    s.text({
      noun: "a UUID in lower case",
      example: "3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60",
      pattern: uuidPattern,
      hint(text) {
        const lowerCase = text.toLowerCase();
        return uuidPattern.test(lowerCase) ? `write ${lowerCase}` : "write a UUID, or leave it out";
      },
    }),
  ),
  type: organizationViewFields.type,
  ...organizationChange.fields,
  keys: s.optional(s.record(key, ref())),
});

const clock = s.mapping({ now: s.optional(time()), frozen: s.optional(s.flag()) });

const population = s.mapping({
  organizations: s.optional(s.integer({ max: scenarioLimits.organizationsOfPopulation })),
  keys_per_organization: s.optional(s.integer({ max: environments.length * maximumActiveKeys })),
  farmers: s.optional(s.integer({ max: maxFarmers - 1 })),
  locale: s.optional(s.choice(farmerLocaleChoices)),
  as_of: s.optional(time()),
});

/** The scenario file. This checks only the shape; `checks/` checks the fields against each other. */
export const scenarioSchema = s.mapping({
  version: s.choice([1], "unsupported_version"),
  name: s.optional(shortText()),
  description: s.optional(s.text({ max: 2000, code: "out_of_range" })),
  extends: s.optional(shortText()),
  seed: s.optional(s.integer()),
  requests_responded: s.snapshotOnly(s.integer()),
  clock: s.optional(clock),
  default_key: s.optional(refOf("key")),
  assumptions: s.optional(assumptionsSchema),
  faults: s.optional(faultsSchema),
  organizations: s.optional(s.record(organization, ref("org"))),
  population: s.optional(population),
  endpoints: s.optional(endpointsSchema),
  timeline: s.optional(timelineSchema),
  story: s.optional(storySchema),
});
