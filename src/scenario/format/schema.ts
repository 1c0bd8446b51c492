import { farmerLocaleChoices, maxFarmers } from "../../rules/farmer-locales.js";
import { keyStates, maximumActiveKeys } from "../../rules/key-state.js";
import { environments } from "../../rules/keys/key-text.js";
import { controlPath, mePath } from "../../rules/known-paths.js";
import { organizationChange, organizationViewFields } from "../../rules/organization.js";
import { isSuccess, outcomes, successStatuses } from "../../rules/outcomes.js";
import * as s from "../../schema/shape.js";
import { limits, maximumScopes, ref, refOf, scenarioLimits, scope, sha256Text, shortText } from "./fields.js";
import { assumptionsSchema, faultsSchema, storySchema, timelineSchema } from "./step-shapes.js";
import { time, timeOrDuration } from "./times.js";

// The only source of the scenario format. `descriptions.json` has its texts, which a page that checks scenarios does not load.

/** In lower case, as the API writes ids; `s.uuid` reads those of any service. */
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const usage = s.mapping({
  this_minute: s.optional(s.integer({ max: scenarioLimits.requestsOfMinute })),
  today: s.optional(s.integer()),
  counted_at: s.snapshotOnly(s.list(s.mapping({ at: time(), count: s.integer() }))),
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
  sha256: s.snapshotOnly(sha256Text()),
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

// The paths that an endpoint may have. They are one pattern, because editors read it from the JSON Schema. No client changes such a
// path before it sends it, no other tool reads it in another way, and the sandbox has nothing else there:
//
//   path       = "/", or segments with a "/" before each, and perhaps a last "/"; no path of the control plane, not `/me`
//   segment    = parameter or fixed
//   parameter  = {id}             not :id, {a}{b}
//   fixed      = consents, %20    not %61, which is `a`; not "." and ".."
//
// Each part below is the text of a pattern. `(?!…)` rejects what would follow at that position.

/** `a`, `-`. What clients send as it is (RFC 3986), without `*`, `$`, `(` and `)`, which write parameters in other tools. */
const plainCharacter = String.raw`[\w.~!&'+,;=@:-]`;

/** `%61` for `a`. What needs no encoding (RFC 3986), encoded: a client would send `a`. */
const needlesslyEncoded = `%(?:${[
  "2[DdEe]", // - and .
  String.raw`3\d`, // 0 to 9
  "[46][1-9A-Fa-f]", // A to O, a to o
  String.raw`[57][\dAa]`, // P to Z, p to z
  "5[Ff]", // _
  "7[Ee]", // ~
].join("|")})`;

/** `%20`, not `%61` and not `%2`. */
const encodedCharacter = String.raw`(?!${needlesslyEncoded})%[\dA-Fa-f]{2}`;

/** `.`, `..` and `:id`. Clients resolve the first two, and the last is a parameter in other tools. */
const startOfRejectedSegment = String.raw`:|\.{1,2}(?:/|$)`;

/** `consents`, `caf%C3%A9`. */
const fixedSegment = `(?!${startOfRejectedSegment})(?:${plainCharacter}|${encodedCharacter})+`;

/** `{id}`. */
const parameter = String.raw`\{[\w-]+\}`;

/** `/consents/{id}`. Of the path `/`, nothing: its slash is the last one. */
const segments = `(?:/(?:${parameter}|${fixedSegment}))*`;

/** The paths of the control plane, and `/me`. */
const takenPath = `(?:${controlPath}(?:/|$)|${mePath}$)`;

/** An empty text is no path: `(?=/)` needs a slash at the start. */
const pathPattern = new RegExp(`^(?!${takenPath})(?=/)${segments}/?$`);

/** The path of an endpoint, with a hint for each mistake. */
const endpointPath = s.text({
  noun: "the path of an endpoint",
  example: "/v1/relying-party/consents/{id}",
  pattern: pathPattern,
  max: 1000,
  hint: hintForPath,
});

/** What is wrong with a path that does not fit the pattern, and what to write; the first that applies. */
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

/** A segment that is a parameter in other tools: `:id`, `<int:id>`, `<id>`, `[id]` or `$id`. Its group is the name. */
const foreignParameter = /(?<=\/)[:<[$](?:\w+:)?([\w-]+)[>\]]?(?=\/|$)/g;

function hintForPath(path: string): string {
  const withBraces = path.replace(foreignParameter, "{$1}");
  if (withBraces !== path && pathPattern.test(withBraces)) return `write "${withBraces}"`;
  for (const [wrong, hint] of pathMistakes) {
    if (wrong.test(path)) return hint;
  }

  // Only the encoding is left: `%61`, or a character that needs one.
  const [encoded] = new RegExp(needlesslyEncoded).exec(path) ?? [];
  if (encoded !== undefined) return `write ${decodeURIComponent(encoded)} in place of ${encoded}`;
  return "encode a space as %20, a % as %25, and any other character too";
}

// The endpoints of a scenario. `checks/endpoint-rules.ts` checks their fields against each other.

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
