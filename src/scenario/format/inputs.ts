import { profiles } from "../../rules/assumptions.js";
import { organizationChange } from "../../rules/organization.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { requestSources } from "../../rules/request.js";
import * as s from "../../schema/shape.js";
import { refOf } from "./fields.js";
import { actor, faultsSchema, keyCreationFields, replacementRef, requestFields } from "./step-shapes.js";
import { clockMove, overlap, time, timeOrDuration } from "./times.js";

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
