import { environments, keyStates, maximumActiveKeys } from "../../rules/api-key.js";
import { farmerLocaleChoices, maxFarmers } from "../../rules/farmer-locales.js";
import { organizationChange, organizationViewFields } from "../../rules/organization.js";
import { apiOutcomes, isSuccess, mePath, successStatuses } from "../../rules/outcomes.js";
import { controlPath } from "../../rules/request-path.js";
import * as s from "../../rules/schema/shape.js";
import {
  limits,
  maximumScopes,
  ref,
  scenarioLimits,
  scope,
  sha256,
  shortText,
  time,
  timeOrDuration,
} from "./fields.js";
import { assumptionsSchema, faultsSchema, storySchema, timelineSchema } from "./step-shapes.js";

// The only source of the scenario format. `descriptions.json` has its texts, which a page that checks scenarios does not load.

// In lower case, as the API writes ids; `s.uuid` reads those of any service.
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = s.mapping({
  this_minute: s.optional(s.count()),
  today: s.optional(s.count()),
  counted_at: s.ofSnapshots(s.list(time())),
});

/** What keeps a key from working without a state of its own. */
function stateHint(value: unknown): string | undefined {
  if (value === "inactive") return "write status: inactive for its organization";
  if (value === "suspended") return "write live_access: suspended for its organization";
  return undefined;
}

const key = s.mapping({
  environment: s.choice(environments),
  name: s.optional(shortText()),
  scopes: s.optional(s.list(scope(), { min: 1, max: maximumScopes })),
  limits: s.optional(limits),
  usage: s.optional(usage),
  state: s.optional(s.choice(keyStates, "bad_choice", stateHint)),
  revoked_at: s.ofSnapshots(time()),
  expires: s.optional(timeOrDuration()),
  overlap_ends: s.optional(timeOrDuration()),
  legacy: s.optional(s.flag()),
  replaced_by: s.optional(ref()),
  secret: s.optional(shortText()),
  sha256: s.ofSnapshots(sha256()),
});

const organization = s.mapping({
  name: s.optional(shortText()),
  id: s.optional(
    s.text({
      noun: "a UUID in lower case",
      example: "3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60",
      pattern: uuidPattern,
      hint(text) {
        const id = text.toLowerCase();
        return uuidPattern.test(id) ? `write ${id}` : "write a UUID, or leave it out";
      },
    }),
  ),
  type: organizationViewFields.type,
  ...organizationChange.fields,
  keys: s.optional(s.record(key, ref())),
});

const clock = s.mapping({ now: s.optional(time()), frozen: s.optional(s.flag()) });

const population = s.mapping({
  organizations: s.optional(s.count({ max: scenarioLimits.organizationsOfPopulation })),
  keys_per_organization: s.optional(s.count({ max: environments.length * maximumActiveKeys })),
  farmers: s.optional(s.count({ max: maxFarmers - 1 })),
  locale: s.optional(s.choice(farmerLocaleChoices)),
  as_of: s.optional(time()),
});

/** The operation id of `/me`, and the names of its successes: another endpoint would cover them. */
const namesOfMe = ["getRelyingPartyContext", ...apiOutcomes.filter(isSuccess).map((id) => id.slice(4))];

const operationId = s.text({
  noun: "the operation id of an endpoint",
  example: "listConsents",
  pattern: new RegExp(`^(?!(?:${namesOfMe.join("|")})$)[A-Za-z][A-Za-z0-9_-]{0,63}$`),
  hint(name) {
    if (namesOfMe.includes(name)) return `${name} belongs to ${mePath}: choose another name`;
    return "start with a letter, then write at most 63 letters, digits, _ and -";
  },
});

/** A letter, a digit, `-`, `.`, `_` or `~` that is encoded for no reason (RFC 3986). */
const needlesslyEncoded = "%(?:2[DdEe]|3\\d|[46][1-9A-Fa-f]|[57][\\dAa]|5[Ff]|7[Ee])";
// Neither `.` nor `..`, nor `:id`, which is a parameter in other tools.
const segmentStart = String.raw`(?!:|\.{1,2}(?:/|$))`;
// What clients send unchanged (RFC 3986), and any other character encoded.
const fixedSegment = String.raw`${segmentStart}(?:[\w.~!&'+,;=@:-]|(?!${needlesslyEncoded})%[\dA-Fa-f]{2})+`;
const pathParameter = String.raw`\{[\w-]+\}`;
const pathOfOthers = `(?:${controlPath}(?:/|$)|${mePath}$)`;
const pathPattern = new RegExp(`^(?!${pathOfOthers})(?=/)(?:/(?:${pathParameter}|${fixedSegment}))*/?$`);

/** What is wrong with the path of an endpoint, and what to write; the first that applies. */
const pathMistakes: readonly (readonly [wrong: RegExp, hint: string])[] = [
  [/^(?!\/)/, "start it with /, without the address of the service"],
  [/[?#]/, "remove ? or # and what follows: an endpoint responds with any query"],
  [/\/\//, "write each / once"],
  [/\/(?:\.|%2e){1,2}(?:\/|$)/i, "write the path without . and .."],
  [new RegExp(`^${controlPath}(?:/|$)`), `the control plane has ${controlPath}`],
  [new RegExp(`^${mePath}$`), `${mePath} is built in and cannot be replaced`],
  [/[{}*$()]|\/:/, "a parameter is a whole segment, such as /consents/{id}"],
  [/.{1001}/, "write at most 1,000 characters"],
];

/** The parameters of other tools, such as `:id` and `<int:id>`, as ours. */
const withParameters = (path: string) =>
  path.replace(/(?<=\/)[:<[$](?:\w+:)?([\w-]+)[>\]]?(?=\/|$)/g, "{$1}");

const endpointPath = s.text({
  noun: "the path of an endpoint",
  example: "/v1/relying-party/consents/{id}",
  pattern: pathPattern,
  max: 1000,
  hint(path) {
    const meant = withParameters(path);
    if (meant !== path && pathPattern.test(meant)) return `write ${meant}`;
    for (const [wrong, hint] of pathMistakes) {
      if (wrong.test(path)) return hint;
    }

    const [code] = new RegExp(needlesslyEncoded).exec(path) ?? [];
    if (code !== undefined) return `write ${decodeURIComponent(code)} in place of ${code}`;
    return "encode a space as %20, a % as %25, and any other character too";
  },
});

const endpointFields = s.mapping({
  method: s.optional(s.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])),
  path: endpointPath,
  scope: s.optional(s.orNull(scope())),
  status: s.optional(s.choice(successStatuses)),
  body: s.optional(s.anything()),
});

const endpointsSchema = s.record(s.orNull(endpointFields), operationId);

/** The scenario file. This checks only the shape; `checks/` checks the fields against each other. */
export const scenarioSchema = s.mapping({
  version: s.choice([1], "unsupported_version"),
  name: s.optional(shortText()),
  description: s.optional(s.text({ max: 2000 })),
  extends: s.optional(shortText()),
  seed: s.optional(s.count()),
  requests_responded: s.ofSnapshots(s.count()),
  clock: s.optional(clock),
  default_key: s.optional(ref()),
  assumptions: s.optional(assumptionsSchema),
  faults: s.optional(faultsSchema),
  organizations: s.optional(s.record(organization, ref())),
  population: s.optional(population),
  endpoints: s.optional(endpointsSchema),
  timeline: s.optional(timelineSchema),
  story: s.optional(storySchema),
});
