import { type Assumptions, assumptionTable, type Profile, profiles } from "../../rules/assumptions.js";
import { type FailureStatus, failures, faultKinds, faultKindTable } from "../../rules/fault-effects.js";
import { apiOutcomeShape } from "../../rules/outcomes.js";
import { hour, parseDuration } from "../../rules/time.js";
import * as s from "../../schema/shape.js";
import type { Scenario } from "../scenario.generated.js";
import { maximumScopes, refOf, scenarioLimits, scope } from "./fields.js";
import { timeOrDuration, waitPattern, writtenDuration } from "./times.js";

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

/** A fault as a scenario has it. */
export type ScenarioFault = NonNullable<Scenario["faults"]>[number];
export const faultsSchema = s.list(faultSchema as s.Shape<ScenarioFault>, { max: 100 }); // `Scenario` is generated from this shape

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
