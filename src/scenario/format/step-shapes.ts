import { type Assumptions, assumptionTable, type Profile, profiles } from "../../rules/assumptions.js";
import { actionErrorCodes } from "../../rules/errors.js";
import { type FailureStatus, failures, faultKinds, faultKindTable } from "../../rules/fault-effects.js";
import { environments } from "../../rules/keys/key-text.js";
import { redact } from "../../rules/keys/redact.js";
import { mePath } from "../../rules/known-paths.js";
import { organizationChange } from "../../rules/organization.js";
import { apiOutcomeShape, outcomeShape } from "../../rules/outcomes.js";
import { hour, parseDuration } from "../../rules/time.js";
import * as s from "../../schema/shape.js";
import { type ActionName, actionNames, stepKinds } from "../actions.js";
import type { Scenario } from "../scenario.generated.js";
import { limits, maximumScopes, ref, refOf, scenarioLimits, scope, shortText } from "./fields.js";
import { overlap, timeOrDuration, waitPattern, writtenDuration } from "./times.js";

// Durations.

/** How long a step of a story waits. */
const positiveDuration = () =>
  writtenDuration({
    noun: "a duration of at least 1ms",
    pattern: waitPattern,
    accepts: (text) => (parseDuration(text) ?? 0) > 0,
  });

/** How long a response takes, or tells a client to wait. A fault that takes longer is `hang`. */
const wait = () =>
  writtenDuration({
    noun: "a duration of at most an hour",
    example: "250ms, 2s or 1m",
    pattern: waitPattern,
    accepts: (text) => (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= hour,
    units: ["ms", "s"],
  });

// Faults. `checks/fault-rules.ts` checks their fields against each other.

const countFromOne = () => s.integer({ min: 1 });

const conditionFields = {
  key: s.optional(refOf("key")),
  organization: s.optional(refOf("organization")),
  outcome: s.optional(apiOutcomeShape()),
  after: s.optional(timeOrDuration()),
  until: s.optional(timeOrDuration()),
  every: s.optional(countFromOne()),
  requests: s.optional(s.list(countFromOne(), { min: 1, max: scenarioLimits.requestsOfFault })),
  probability: s.optional(s.number({ min: 0, max: 1 })),
};

/** The time of a response, or how it is distributed. */
const latency = () =>
  s.either(wait(), s.mapping({ min: wait(), max: wait() }), s.mapping({ median: wait(), p99: wait() }));

/** What causes the other statuses of the API, which no fault sends. */
const causesOfStatus: ReadonlyMap<number, string> = new Map([
  [401, "a key's state causes a 401: revoke it, or write a timeline"],
  [403, "fields of an organization or a key cause a 403: key-states has a key for each of its causes"],
  [404, "a path causes a 404: send a request to another one"],
  [429, "a limit causes a 429: give the key limits: { per_minute: 0 }"],
]);
const failureStatuses = Object.keys(failures).map(Number) as FailureStatus[]; // its keys are numbers
const failureStatus = () =>
  s.choice(failureStatuses, "bad_choice", (value) => causesOfStatus.get(Number(value)));

/** The shape of the value of each effect: the row of a kind in `faultKindTable` names one of these as its `valueKind`. */
const effectShapes = { flag: s.flag, latency, status: failureStatus, rate: countFromOne };

const effectFields: Record<string, s.Optional> = {};
for (const kind of faultKinds) {
  // A description belongs to one shape, so each field has its own.
  const makeShape: () => s.Shape = effectShapes[faultKindTable[kind].valueKind];
  effectFields[kind] = s.optional(makeShape());
}

/** What belongs to a status, and has no effect without one. */
const statusFields = {
  body: s.optional(s.choice(["json", "html"])),
  retry_after: s.optional(s.either(wait(), s.mapping({ date: wait() }))),
};

const thenFields: s.Fields = { ...effectFields, ...statusFields };
/** The field `then`, what a fault does: it has one effect at least. */
const then = s.needing(faultKinds, s.mapping(thenFields));

const faultSchema: s.Shape = s.mapping({
  when: s.optional(s.mapping(conditionFields)),
  then,
  requests_matched: s.optional(s.integer()),
});

type FaultOfScenario = NonNullable<Scenario["faults"]>[number];
export const faultsSchema = s.list(faultSchema as s.Shape<FaultOfScenario>, { max: 100 }); // `Scenario` is generated from this shape

const errorCodePattern = /^[A-Za-z][A-Za-z0-9_.-]*$/;

/** The shape of each kind of assumption. */
const assumptionShapes = {
  boolean: s.flag,
  choice: (choices: readonly string[] = []) => s.choice(choices),
  code: () => s.text({ noun: "an error code", example: "too_many_requests", pattern: errorCodePattern }),
  scope_or_null: () => s.orNull(scope()),
  scopes: () => s.list(scope(), { min: 1, max: maximumScopes }),
};

const assumptionFields: Record<string, s.Fields[string]> = { profile: s.optional(s.choice(profiles)) };
for (const [name, row] of Object.entries(assumptionTable)) {
  assumptionFields[name] = s.optional(assumptionShapes[row.kind](row.choices));
}
export const assumptionsSchema = s.mapping(assumptionFields) as s.Shape<
  Partial<Assumptions> & { readonly profile?: Profile }
>; // a field for each assumption

// Actions of a timeline, of a story and of the control plane. `checks/step-rules.ts` checks the refs in a step.

export const keyCreationFields = {
  organization: refOf("organization"),
  environment: s.choice(environments),
  name: shortText(),
  // An empty list and an unknown scope have their own error codes (R29).
  scopes: s.optional(s.list(scope())),
  limits: s.optional(limits),
  ref: s.optional(ref()),
  expires: s.optional(timeOrDuration()),
};

export const replacementRef = s.optional(ref());

export const actor = s.optional(s.choice(["administrator", "member"]));

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

export const requestFields = {
  method: s.optional(method),
  path: s.optional(requestPath),
  headers: s.optional(s.record(headerValue, sentHeaderName)),
  body: s.optional(s.anything()),
};

// The steps of a timeline and of a story: each has one action, or one of the other kinds of a story's steps.

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
