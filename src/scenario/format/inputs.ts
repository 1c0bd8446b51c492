import { profiles } from "../../spec/assumptions.js";
import { pathIdShape } from "../../spec/outcomes.js";
import { containsKey } from "../../spec/redact.js";
import { requestSources } from "../../spec/request-traits.js";
import { checkValue, validationError } from "../../spec/schema/check.js";
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
  type Path,
  record,
  type Shape,
  shapeAt,
  text,
  type ValueOf,
} from "../../spec/schema/shape.js";
import type { Scenario } from "../scenario.generated.js";
import { duration, positiveDuration, ref, shortText, time, timeOrDuration } from "./fields.js";
import {
  assumptionsSchema,
  faultsSchema,
  keyCreationFields,
  members,
  organizationChangeFields,
  recordCreation,
  replacementRef,
  requestFields,
  timelineSchema,
} from "./steps.js";

type Timeline = NonNullable<Scenario["timeline"]>;

// The inputs of the library have the same fields as scenarios, and so the same spelling, checks and messages.

export const inputShapes = {
  key_creation: mapping(keyCreationFields),
  key_rotation: mapping({ overlap_minutes: optional(number()), as: replacementRef }),
  key_expiry: mapping({ expires: timeOrDuration() }),
  organization_update: mapping(organizationChangeFields),
  faults_change: mapping({ faults: faultsSchema }),
  instance_creation: mapping({
    scenario: optional(either(text(), record(anything(), text()))),
    seed: optional(count()),
    now: optional(time()),
    frozen: optional(flag()),
    profile: optional(choice(profiles)),
    label: optional(shortText()),
    expires: optional(positiveDuration()),
    requests_per_minute: optional(count({ min: 1 })),
  }),
} as const;

export type Query = MappingKind & Shape<Readonly<Record<string, unknown>>>;

export const requestQuery = mapping({
  limit: optional(count()),
  path_id: optional(pathIdShape()),
  key: optional(ref()),
  source: optional(choice(requestSources)),
  probes: optional(flag()),
  faults: optional(flag()),
});

export const expectationQuery = mapping({
  path_id: optional(
    described(pathIdShape(), "The path id of the response, or of the fault that affected it."),
  ),
  key: optional(ref()),
  count: optional(described(count(), "How many requests there must be. Default: at least one.")),
});

export const recordChange = shapeAt(timelineSchema, [0, "record"]) as Shape<
  NonNullable<Timeline[number]["record"]>
>;

export const controlBodies = {
  ...inputShapes,
  clock_change: mapping({ now: optional(time()), frozen: optional(flag()) }),
  clock_advance: mapping({ by: duration() }),
  assumptions_change: assumptionsSchema,
  record_creation: recordCreation,
  record_members: members(),
  sending: mapping({ key: ref(), ...requestFields }),
  scenario_text: mapping({ text: text() }),
  scenario_choice: mapping({ name: shortText() }),
  instance_claim: mapping({ code: shortText() }),
  nothing: mapping({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = ValueOf<(typeof controlBodies)[Name]>;

/** Checks an input of an operation. An API key in it is also a mistake, because names and codes are shown (R46). */
export function checkInput<Of extends Shape>(
  shape: Of,
  value: unknown,
  failure = "The body is not valid",
): ValueOf<Of> {
  const input = checkValue(shape, value, failure);
  const leaks = leakedKeys(value, []);
  if (leaks.length > 0) throw validationError(failure, leaks);
  return input as ValueOf<Of>;
}

function leakedKeys(value: unknown, path: Path): { path: Path; message: string }[] {
  if (typeof value === "string" && containsKey(value)) {
    return [{ path, message: `${path.at(-1) ?? "body"} must not contain an API key` }];
  }
  if (typeof value !== "object" || value === null) return [];
  return (
    Object.entries(value)
      // A scenario may pin its keys, and has its own checks.
      .filter(([name]) => path.length > 0 || name !== "scenario")
      .flatMap(([name, member]) => leakedKeys(member, [...path, name]))
  );
}
