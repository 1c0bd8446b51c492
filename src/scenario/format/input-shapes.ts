import { profiles } from "../../spec/assumptions.js";
import { outcomes } from "../../spec/outcomes.js";
import {
  anything,
  choice,
  count,
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
} from "../../spec/schema/shape.js";
import { duration, ref, shortText, time } from "./fields.js";
import { faultsSchema, keyCreationFields, organizationChangeFields, replacementRef } from "./steps.js";

// The inputs of the library have the same fields as scenarios, and so the same spelling, checks and messages.

/** The inputs of the library, which the control plane accepts as bodies, by name. */
export const inputShapes = {
  key_creation: mapping(keyCreationFields),
  key_rotation: mapping({ overlap_minutes: optional(number()), as: replacementRef }),
  organization_update: mapping(organizationChangeFields),
  faults_change: mapping({ faults: faultsSchema }),
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
} as const;

/** A query and its optional parameters. */
export type Query<Values = Readonly<Record<string, unknown>>> = MappingKind & Shape<Values>;

export const query = <Of extends Readonly<Record<string, Shape>>>(parameters: Of) => {
  const fields = Object.entries(parameters).map(([name, shape]) => [name, optional(shape)]);
  return mapping(Object.fromEntries(fields)) as Query<{ [Name in keyof Of]?: ValueOf<Of[Name]> }>;
};

/** Who sent a request: a client, or the story and `POST /send`. */
export const requestSources = ["client", "story"] as const;
export type RequestSource = (typeof requestSources)[number];

/** The filter for requests of the journal. */
export const requestQuery = query({
  limit: count(),
  path_id: choice(outcomes.map(({ path }) => path)),
  key: ref(),
  source: choice(requestSources),
  probes: flag(),
  faults: flag(),
});
