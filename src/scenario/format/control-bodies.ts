import { profiles } from "../../domain/assumptions.js";
import { outcomes } from "../../domain/outcomes.js";
import {
  anything,
  choice,
  count,
  described,
  either,
  flag,
  type MappingKind,
  mapping,
  number,
  optional,
  record,
  type Shape,
  text,
  type ValueOf,
} from "../../schema/shape.js";
import { assumptionsSchema } from "./assumptions.js";
import { duration, ref, shortText, time } from "./fields.js";
import {
  faultsSchema,
  keyCreationFields,
  organizationChangeFields,
  replacementRef,
  requestFields,
} from "./steps.js";

// The bodies of the control plane, made of the same fields as scenarios: one spelling, one set of checks and messages.

/** The bodies of the control plane's calls, by name. */
export const controlBodies = {
  key_creation: mapping(keyCreationFields),
  key_rotation: mapping({ overlap_minutes: optional(number()), as: replacementRef }),
  organization_update: mapping(organizationChangeFields),
  clock_change: mapping({ now: optional(time()), frozen: optional(flag()) }),
  clock_advance: mapping({ by: duration() }),
  assumptions_change: assumptionsSchema,
  faults_change: mapping({ faults: faultsSchema }),
  sending: mapping({ key: ref(), ...requestFields }),
  scenario_text: mapping({ text: text() }),
  scenario_choice: mapping({ name: shortText() }),
  instance_creation: mapping({
    scenario: optional(either(text(), record(anything(), text()))),
    seed: optional(count()),
    now: optional(time()),
    frozen: optional(flag()),
    profile: optional(choice(profiles)),
    label: optional(shortText()),
    expires: optional(duration((length) => length > 0)),
    requests_per_minute: optional(count({ least: 1 })),
  }),
  instance_claim: mapping({ code: shortText() }),
  nothing: mapping({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = ValueOf<(typeof controlBodies)[Name]>;

/** A query and its parameters, each of which may be left out. */
export type Query<Values = Readonly<Record<string, unknown>>> = MappingKind & Shape<Values>;

export const query = <Of extends Readonly<Record<string, Shape>>>(parameters: Of) => {
  const fields = Object.entries(parameters).map(([name, shape]) => [name, optional(shape)]);
  return mapping(Object.fromEntries(fields)) as Query<{ [Name in keyof Of]?: ValueOf<Of[Name]> }>;
};

/** Who sent a request: a client, or the story and `POST /send`. */
export const requestSources = ["client", "story"] as const;
export type RequestSource = (typeof requestSources)[number];

/** Which requests of the journal to list. */
export const requestQuery = query({
  limit: described(count(), "At most this many, the latest ones."),
  path_id: described(choice(outcomes.map(({ path }) => path)), "Only those that ended on this path."),
  key: described(ref(), "Only those with the key of this ref."),
  source: described(
    choice(requestSources),
    "story: only requests that the story or POST /send sent; client: only those that clients sent.",
  ),
  probes: described(
    flag(),
    "With requests without a key that browsers and watchdogs send to any server, such as /favicon.ico. Default: false.",
  ),
});
