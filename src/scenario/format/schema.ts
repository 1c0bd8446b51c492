import { farmerLocaleChoices, maxFarmers } from "../../rules/farmer-values.js";
import { keyStates, maximumActiveKeys } from "../../rules/key-state.js";
import { environments } from "../../rules/keys/key-text.js";
import { organizationChange, organizationViewFields } from "../../rules/organization.js";
import { isSuccess, outcomes, successStatuses } from "../../rules/outcomes.js";
import { controlPath, mePath } from "../../rules/paths.js";
import * as s from "../../schema/shape.js";
import { assumptionsSchema, faultsSchema } from "./faults-and-assumptions.js";
import { limits, maximumScopes, ref, refOf, scenarioLimits, scope, shortText } from "./fields.js";
import { storySchema, timelineSchema } from "./inputs.js";
import { time, timeOrDuration } from "./times.js";

// The only source of the scenario format. `descriptions.json` has its texts, which a page that checks scenarios does not load.

/** In lower case, as the API writes ids; `s.uuid` reads those of any service. */
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = s.mapping({
  this_minute: s.optional(s.integer()),
  today: s.optional(s.integer()),
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
  expires: s.optional(timeOrDuration()),
  overlap_ends: s.optional(timeOrDuration()),
  legacy: s.optional(s.flag()),
  replaced_by: s.optional(refOf("key")),
  secret: s.optional({ ...shortText(), isSecret: true }),
});

const organization = s.mapping({
  name: s.optional(shortText()),
  id: s.optional(
    s.text({
      noun: "a UUID in lower case",
      example: "3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60",
      pattern: uuidPattern,
      hint: () => "write a UUID in lower case, or leave it out",
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

// The paths that an endpoint may have. No client changes such a path before it sends it, no other tool reads it in another way, and
// the sandbox has nothing else there.

/** What is wrong with the path of an endpoint, as a hint; `undefined` for one that is fine. */
function wrongInPath(path: string): string | undefined {
  if (!path.startsWith("/")) return "start it with /, without the address of the service";
  if (path === mePath) return `${mePath} is built in and cannot be replaced`;
  if (`${path}/`.startsWith(`${controlPath}/`)) return `the control plane has ${controlPath}`;

  const segments = path.slice(1).split("/");
  // The last slash may end the path, as in `/` alone.
  if (segments.at(-1) === "") segments.pop();
  const isFine = segments.every((segment) => /^\{[\w-]+\}$/.test(segment) || isFixedSegment(segment));
  return isFine
    ? undefined
    : "write each segment as {id}, or as clients send it: a space as %20, a letter as it is, no ? and no #";
}

/** `consents`, `caf%C3%A9`; not `:id`, `*` or `$id`, which are parameters in other tools, nor `..` and `%61`, which clients change. */
function isFixedSegment(segment: string): boolean {
  if (segment === "." || segment === ".." || segment.startsWith(":")) return false;
  if (!/^(?:[\w.~!&'+,;=@:-]|%[\dA-Fa-f]{2})+$/.test(segment)) return false;
  const encoded = segment.match(/%../g) ?? [];
  // What needs no encoding (RFC 3986): a client would send `a` for `%61`.
  return encoded.every((byte) => !/[\w.~-]/.test(String.fromCharCode(Number.parseInt(byte.slice(1), 16))));
}

const endpointPath = s.text({
  noun: "the path of an endpoint",
  example: "/v1/relying-party/consents/{id}",
  pattern: /^\//,
  max: 1000,
  accepts: (path) => wrongInPath(path) === undefined,
  hint: wrongInPath,
});

// The endpoints of a scenario. `checks/scenario-rules.ts` checks their fields against each other.

/** The operation id of `/me`, and the names of its successes: another endpoint would cover them. */
const idsOfMe = outcomes.map(({ id }) => id).filter(isSuccess);
const successesOfMe = idsOfMe.map((id) => id.replace("200.", ""));
const namesOfMe = ["getRelyingPartyContext", ...successesOfMe];

const operationId = s.text({
  noun: "the operation id of an endpoint",
  example: "listConsents",
  pattern: new RegExp(`^(?!(?:${namesOfMe.join("|")})$)[A-Za-z][A-Za-z0-9_-]{0,63}$`),
  hint(name) {
    if (namesOfMe.includes(name)) return `${name} belongs to ${mePath}: choose another name`;
    return "start with a letter, then write at most 63 letters, digits, _ and -";
  },
});

const endpointFields = s.mapping({
  method: s.optional(s.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])),
  path: endpointPath,
  scope: s.optional(s.orNull(scope())),
  status: s.optional(s.choice(successStatuses)),
  body: s.optional(s.anything()),
});

/** `null` removes an endpoint of the scenario that this one extends. */
const endpointsSchema = s.record(s.orNull(endpointFields), operationId);

// The whole file.

/** The scenario file. This checks only the shape; `checks/` checks the fields against each other. */
export const scenarioSchema = s.mapping({
  version: s.choice([1], "unsupported_version"),
  name: s.optional(shortText()),
  description: s.optional(s.text({ max: 2000, code: "out_of_range" })),
  extends: s.optional(shortText()),
  seed: s.optional(s.integer()),
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
