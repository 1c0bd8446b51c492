import { flag, mapping, optional, text, type ValueOf } from "../../spec/schema/shape.js";
import { assumptionsSchema } from "./assumptions.js";
import { duration, ref, shortText, time } from "./fields.js";
import { inputShapes } from "./input-shapes.js";
import { requestFields } from "./steps.js";

/** The bodies of the control plane's calls, by name. */
export const controlBodies = {
  ...inputShapes,
  clock_change: mapping({ now: optional(time()), frozen: optional(flag()) }),
  clock_advance: mapping({ by: duration() }),
  assumptions_change: assumptionsSchema,
  sending: mapping({ key: ref(), ...requestFields }),
  scenario_text: mapping({ text: text() }),
  scenario_choice: mapping({ name: shortText() }),
  instance_claim: mapping({ code: shortText() }),
  nothing: mapping({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = ValueOf<(typeof controlBodies)[Name]>;
