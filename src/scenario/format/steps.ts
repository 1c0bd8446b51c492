import { environments, liveAccessStates, organizationStatuses } from "../../spec/api-key.js";
import { assumptionTable, errorCodePattern, profiles } from "../../spec/assumptions.js";
import { rejectionCodes } from "../../spec/errors.js";
import { type FaultKind, faultKinds } from "../../spec/fault-effects.js";
import { type ApiPathId, apiPathIds, mePath, pathIdShape } from "../../spec/outcomes.js";
import {
  always,
  anything,
  choice,
  count,
  either,
  type Fields,
  flag,
  list,
  mapping,
  needing,
  number,
  type Optional,
  ofSnapshots,
  openMapping,
  optional,
  orNull,
  record,
  replacing,
  type Shape,
  text,
} from "../../spec/schema/shape.js";
import { type ActionName, actionNames, stepKinds } from "../../spec/steps.js";
import { scenarioLimits } from "../limits.js";
import {
  duration,
  durationOrNone,
  limits,
  maximumScopes,
  positiveDuration,
  ref,
  scope,
  shortText,
  timeOrDuration,
  wait,
} from "./fields.js";

const timeOfDayPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const assumptionShapes = {
  boolean: flag,
  choice: (choices: readonly string[] = []) => choice(choices),
  code: () => text({ noun: "an error code", example: "too_many_requests", pattern: errorCodePattern }),
  time_of_day: () => text({ noun: "a time of day in UTC", example: "06:00", pattern: timeOfDayPattern }),
  duration_or_none: durationOrNone,
  scope_or_null: () => orNull(scope()),
  scopes: () => list(scope(), { min: 1, max: maximumScopes }),
};

const assumptionFields: Record<string, Fields[string]> = { profile: optional(choice(profiles)) };
for (const [name, row] of Object.entries(assumptionTable)) {
  assumptionFields[name] = optional(assumptionShapes[row.kind](row.choices));
}
export const assumptionsSchema: Shape<Record<string, unknown>> = mapping(assumptionFields);

// Faults. `rules/faults.ts` checks their fields against each other.

const maxFaults = 100;

const latency = either(
  wait(),
  mapping({ min: wait(), max: wait() }),
  mapping({ median: wait(), p99: wait() }),
);
const retryAfter = either(wait(), mapping({ date: wait() }));

const positive = () => count({ min: 1 });

const when = mapping({
  key: optional(ref()),
  organization: optional(ref()),
  path_id: optional(pathIdShape(apiPathIds) as Shape<ApiPathId>),
  after: optional(timeOrDuration()),
  until: optional(timeOrDuration()),
  every: optional(positive()),
  requests: optional(list(positive(), { min: 1, max: scenarioLimits.requestsOfFault })),
  probability: optional(number({ min: 0, max: 1 })),
});

const failureStatus = count({ min: 400, max: 599 });

const effectFields = {
  latency: optional(latency),
  status: optional(failureStatus),
  reset: optional(flag()),
  hang: optional(flag()),
  truncate: optional(flag()),
  malformed: optional(flag()),
  slow: optional(positive()),
} satisfies Record<FaultKind, Optional>;
// The body and the header of a status have no effect without it.
const then = needing(
  faultKinds,
  mapping({
    ...effectFields,
    body: optional(choice(["json", "html"])),
    retry_after: optional(retryAfter),
  }),
  true,
);

export const faultSchema = mapping({ when: optional(when), then, requests_matched: ofSnapshots(count()) });

export const faultsSchema = list(faultSchema, { max: maxFaults });

const maxRepeats = 10_000;
const longestNarration = 2000;

export const keyCreationFields = {
  organization: ref(),
  environment: choice(environments),
  name: shortText(),
  // An empty list and an unknown scope have their own error codes (R29).
  scopes: optional(list(scope())),
  limits: optional(limits),
  ref: optional(ref()),
  expires: optional(timeOrDuration()),
};

export const organizationChangeFields = {
  status: optional(choice(organizationStatuses)),
  sandbox_access: optional(flag()),
  live_access: optional(choice(liveAccessStates)),
};

export const replacementRef = optional(ref());

const actor = optional(choice(["administrator", "member"]));

export const members = () => record(anything());
/** A record that exists when the clock starts, or that a step adds: its owner, its time and its members. */
export const recordCreation = openMapping({
  organization: optional(ref()),
  environment: optional(choice(environments)),
  created_at: optional(timeOrDuration()),
});

// The same in a timeline and a story. `rules/steps.ts` checks the refs in a step.
const actionFields = {
  create_key: optional(mapping({ ...keyCreationFields, actor })),
  rotate: optional(mapping({ key: ref(), as: replacementRef, overlap: optional(duration()), actor })),
  revoke: optional(mapping({ key: ref(), actor })),
  expire: optional(mapping({ key: ref(), expires: timeOrDuration(), actor })),
  organization: optional(
    needing(
      ["status", "sandbox_access", "live_access"],
      mapping({ ref: ref(), ...organizationChangeFields }),
    ),
  ),
  record: optional(
    needing(
      ["set", "add", "remove"],
      mapping({
        in: ref(),
        id: optional(either(shortText(), count())),
        set: optional(members()),
        add: optional(recordCreation),
        remove: optional(always(true)),
      }),
    ),
  ),
  faults: optional(faultsSchema),
  assumptions: optional(assumptionsSchema),
} satisfies Record<ActionName, Fields[string]>;

const methods = /^[A-Z]{1,20}$/;
const method = text({
  noun: "a word in upper case",
  example: "GET",
  pattern: methods,
  hint: (given) => (methods.test(given.toUpperCase()) ? `write ${given.toUpperCase()}` : undefined),
});

// As sent: visible ASCII, any other character encoded.
const path = text({
  noun: "an encoded path",
  example: `${mePath}?name=value`,
  pattern: /^\/[!-~]{0,1000}$/,
  hint(given) {
    const target = given.replace(/^[A-Z]+ +/, "").replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
    if (target.length > 200 || /\p{Surrogate}/u.test(target)) return undefined;
    const encoded = target.replace(/[^!-~]/gu, encodeURIComponent);
    return `a path starts with / and is encoded: ${encoded.startsWith("/") ? encoded : `/${encoded}`}`;
  },
});

const headerName = text({
  noun: "the name of a header",
  example: "X-Trace",
  pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
});
const isKeyHeader = (name: string) => name.toLowerCase() === "x-api-key";
const sentHeaderName = text({
  ...headerName,
  noun: "the name of a header to set here",
  isAllowed: (name) => !isKeyHeader(name),
  hint: (name) => (isKeyHeader(name) ? "use key: a ref, none, malformed or unknown" : undefined),
});
// One line of Latin-1: what Node and browsers send.
const headerValue = text({
  noun: "one line of ASCII or Latin-1",
  example: "X-Trace: abc",
  pattern: /^[\t\x20-\x7e\x80-\xff]*$/,
});

export const requestFields = {
  method: optional(method),
  path: optional(path),
  headers: optional(record(headerValue, sentHeaderName)),
  body: optional(anything()),
};

const request = mapping({
  key: optional(ref()),
  ...requestFields,
  repeat: optional(count({ min: 1, max: maxRepeats })),
});

const expect = mapping({
  status: optional(count()),
  code: optional(orNull(text())),
  path: optional(pathIdShape()),
  headers: optional(record(either(text(), flag()), headerName)),
  body: optional(anything()),
  error: optional(choice(rejectionCodes)),
});

const replacedSteps = {
  consent: 'write record: { in: consent-requests, id: "{consent-requests.1}", set: { status: granted } }',
  attestation: 'write record: { in: attestations, id: "{attestations.1}", set: { validity: suspended } }',
};

export const timelineSchema = list(
  needing(
    actionNames,
    replacing(
      replacedSteps,
      mapping({
        at: timeOrDuration(),
        ...actionFields,
        expect: optional(mapping({ error: choice(rejectionCodes) })),
      }),
    ),
  ),
  { max: scenarioLimits.steps },
);

export const storySchema = list(
  needing(
    stepKinds,
    replacing(
      replacedSteps,
      mapping({
        after: optional(positiveDuration()),
        say: optional(shortText(longestNarration)),
        request: optional(request),
        ...actionFields,
        advance: optional(positiveDuration()),
        expect: optional(expect),
      }),
    ),
  ),
  { max: scenarioLimits.steps },
);
