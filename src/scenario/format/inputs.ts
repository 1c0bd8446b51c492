import { profiles } from "../../rules/assumptions.js";
import { actionErrorCodes } from "../../rules/errors.js";
import { environments } from "../../rules/keys/key-text.js";
import { redact } from "../../rules/keys/redact.js";
import { organizationChange } from "../../rules/organization.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { mePath } from "../../rules/paths.js";
import { requestSources } from "../../rules/request.js";
import { parseDuration } from "../../rules/time.js";
import * as s from "../../schema/shape.js";
import { type ActionName, actionNames, stepKinds } from "../actions.js";
import { faultsSchema } from "./faults-and-assumptions.js";
import { limits, ref, refOf, scenarioLimits, scope, shortText } from "./fields.js";
import { clockMove, overlap, time, timeOrDuration, waitPattern, writtenDuration } from "./times.js";

// Actions of a timeline, of a story and of the control plane. `checks/step-rules.ts` checks the refs in a step.

const keyCreationFields = {
  organization: refOf("organization"),
  environment: s.choice(environments),
  name: shortText(),
  // An empty list and an unknown scope have their own error codes (R29).
  scopes: s.optional(s.list(scope())),
  limits: s.optional(limits),
  ref: s.optional(ref()),
  expires: s.optional(timeOrDuration()),
};

const replacementRef = s.optional(ref());

const actor = s.optional(s.choice(["administrator", "member"]));

/** A field for each action: its name, and what it takes. */
const actionFields = {
  create_key: s.optional(s.mapping({ ...keyCreationFields, actor })),
  rotate: s.optional(
    s.mapping({ key: refOf("key"), as: replacementRef, overlap: s.optional(overlap()), actor }),
  ),
  revoke: s.optional(s.mapping({ key: refOf("key"), actor })),
  expire: s.optional(s.mapping({ key: refOf("key"), expires: timeOrDuration(), actor })),
  organization: s.optional(
    s.needing(
      Object.keys(organizationChange.fields),
      s.mapping<s.Fields>({ ref: refOf("organization"), ...organizationChange.fields }),
    ),
  ),
  faults: s.optional(faultsSchema),
} satisfies Record<ActionName, s.Fields[string]>;

// Requests of a story and of the control plane.

const method = s.text({ noun: "a word in upper case", example: "GET", pattern: /^[A-Z]{1,20}$/ });

/** As it is sent: visible ASCII, with any other character encoded. */
const requestPath = s.text({
  noun: "an encoded path",
  example: `${mePath}?name=value`,
  max: 1000,
  pattern: /^\/[!-~]*$/,
  hint: () => "start it with /, without the address of the service, and encode a space as %20",
});

const headerName = s.text({
  noun: "the name of a header",
  example: "X-Trace",
  pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
});
/** Whether a header is for a key, or its name is one: names are shown, and no place for a key (R46). */
const isOfKey = (name: string) => name.toLowerCase() === "x-api-key" || redact(name) !== name;
const sentHeaderName = s.text({
  ...headerName,
  noun: "the name of a header to set here",
  accepts: (name) => !isOfKey(name),
  hint: (name) => (isOfKey(name) ? "use key: a ref, none, malformed or unknown" : undefined),
});
/** One line of Latin-1: what Node and browsers send. */
const headerValue = s.text({
  noun: "one line of ASCII or Latin-1",
  example: "X-Trace: abc",
  pattern: /^[\t\x20-\x7e\x80-\xff]*$/,
});

const requestFields = {
  method: s.optional(method),
  path: s.optional(requestPath),
  headers: s.optional(s.record(headerValue, sentHeaderName)),
  body: s.optional(s.anything()),
};

// The steps of a timeline and of a story: each has one action, or one of the other kinds of a story's steps.

/** How long a step of a story waits. */
const positiveDuration = () =>
  writtenDuration({
    noun: "a duration of at least 1ms",
    pattern: waitPattern,
    accepts: (text) => (parseDuration(text) ?? 0) > 0,
  });

const maxRequestRepeats = 10_000;

const storyRequestFields = s.mapping({
  key: s.optional(refOf("key")),
  ...requestFields,
  repeat: s.optional(s.integer({ min: 1, max: maxRequestRepeats })),
});

/** An error code is a word: `404` is a status. */
const statusHint = (text: string) => (/^[1-5]\d\d$/.test(text) ? `write status: ${text}` : undefined);

const expectedResult = s.mapping({
  status: s.optional(s.integer()),
  code: s.optional(s.orNull(s.text({ hint: statusHint }))),
  outcome: s.optional(outcomeShape()),
  headers: s.optional(s.record(s.either(s.text(), s.flag()), headerName)),
  body: s.optional(s.anything()),
  error: s.optional(s.choice(actionErrorCodes)),
});

export const timelineSchema = s.list(
  s.needing(
    actionNames,
    s.mapping({
      at: timeOrDuration(),
      ...actionFields,
      expect: s.optional(s.mapping({ error: s.choice(actionErrorCodes) })),
    }),
  ),
  { max: scenarioLimits.steps },
);

const longestNarration = 2000;

export const storySchema = s.list(
  s.needing(
    stepKinds,
    s.mapping({
      after: s.optional(positiveDuration()),
      say: s.optional(s.text({ min: 1, max: longestNarration, code: "out_of_range" })),
      request: s.optional(storyRequestFields),
      ...actionFields,
      advance: s.optional(positiveDuration()),
      expect: s.optional(expectedResult),
    }),
  ),
  { max: scenarioLimits.steps },
);

// The inputs of the library and the control plane have the fields of scenarios, and so their spelling, checks and messages.

const sandboxOptionFields = {
  scenario: s.optional(s.either(s.text(), s.record(s.anything(), s.text()))),
  seed: s.optional(s.integer()),
  now: s.optional(time()),
  frozen: s.optional(s.flag()),
  profile: s.optional(s.choice(profiles)),
};

/** The inputs of the library, which the control plane has as bodies, too. */
export const inputShapes = {
  key_creation: s.mapping(keyCreationFields),
  key_rotation: s.mapping({ overlap: s.optional(overlap()), as: replacementRef }),
  key_expiry: s.mapping({ expires: timeOrDuration() }),
  organization_update: organizationChange,
  faults_change: s.mapping({ faults: faultsSchema }),
  sandbox_options: s.mapping(sandboxOptionFields),
} as const;

/** The query that says who acts, in a route of keys. */
export const actorQuery = s.mapping({ actor });

/** Which requests of the journal a call is about. */
export const requestQuery = s.mapping({
  limit: s.optional(s.integer()),
  outcome: s.optional(outcomeShape()),
  key: s.optional(refOf("key")),
  source: s.optional(s.choice(requestSources)),
  probes: s.optional(s.flag()),
  faults: s.optional(s.flag()),
});

/** Which requests a client must have sent. */
export const expectationQuery = s.mapping({
  outcome: s.optional(
    s.described(outcomeShape(), "The outcome of the response, or of the fault that affected it."),
  ),
  key: s.optional(refOf("key")),
  count: s.optional(s.described(s.integer(), "How many requests there must be. Default: at least one.")),
  faults: s.optional(
    s.described(
      s.flag(),
      "false: a request and those that repeat it after faults count once. Default: true.",
    ),
  ),
});

/** The bodies of the control plane, by the name that each has in its OpenAPI document. */
export const controlBodies = {
  ...inputShapes,
  clock_change: s.mapping({ now: s.optional(time()), frozen: s.optional(s.flag()) }),
  clock_advance: s.mapping({ by: clockMove() }),
  sending: s.mapping({ key: refOf("key"), ...requestFields }),
  scenario_text: s.mapping({ text: s.text() }),
  scenario_choice: s.mapping({ name: s.text() }),
  nothing: s.mapping({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = s.ValueOf<(typeof controlBodies)[Name]>;
