import * as s from "../../schema/shape.js";
import { assumptionsSchema } from "./assumption-shapes.js";
import { inputShapes } from "./inputs.js";
import { refOf } from "./refs.js";
import { requestFields } from "./request-shapes.js";
import { clockMove, time } from "./times.js";

/** The bodies of the control plane, by the name that each has in its OpenAPI document. */
export const controlBodies = {
  ...inputShapes,
  clock_change: s.mapping({ now: s.optional(time()), frozen: s.optional(s.flag()) }),
  clock_advance: s.mapping({ by: clockMove() }),
  assumptions_change: assumptionsSchema,
  sending: s.mapping({ key: refOf("key"), ...requestFields }),
  scenario_text: s.mapping({ text: s.text() }),
  scenario_choice: s.mapping({ name: s.text() }),
  nothing: s.mapping({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = s.ValueOf<(typeof controlBodies)[Name]>;
