import { z } from "zod/mini";
import { profiles } from "../../domain/assumptions.js";
import { choice, count, duration, flag, text, time } from "./fields.js";
import { assumptionsSchema } from "./schema.js";
import { faultsSchema, keyCreationFields, organizationChangeFields, replacementRef } from "./steps.js";

// The bodies of the control plane, made of the same fields as scenarios: one spelling, one set of checks and messages.

/** The bodies of the control plane's calls, by name. */
export const controlBodies = {
  key_creation: z.strictObject(keyCreationFields),
  key_rotation: z.strictObject({
    overlap_minutes: z.optional(z.number()),
    as: replacementRef,
  }),
  organization_update: z.strictObject(organizationChangeFields),
  clock_change: z.strictObject({
    now: z.optional(time()),
    frozen: z.optional(flag()),
  }),
  clock_advance: z.strictObject({
    by: duration(),
  }),
  assumptions_change: assumptionsSchema,
  faults_change: z.strictObject({ faults: faultsSchema }),
  scenario_choice: z.strictObject({ name: text() }),
  instance_creation: z.strictObject({
    scenario: z.optional(z.union([z.string(), z.record(z.string(), z.unknown())])),
    seed: z.optional(count()),
    now: z.optional(time()),
    frozen: z.optional(flag()),
    profile: z.optional(choice(profiles)),
  }),
  nothing: z.strictObject({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = z.output<(typeof controlBodies)[Name]>;

/** The parameters of a query, each of which may be left out. */
export const query = <Parameters extends Readonly<Record<string, z.ZodMiniType>>>(parameters: Parameters) =>
  z.partial(z.strictObject(parameters));

/** A parameter of a query with its description. */
export const described = <Parameter extends z.ZodMiniType>(parameter: Parameter, description: string) =>
  parameter.check(z.describe(description)) as Parameter;
export type Query = ReturnType<typeof query>;
export type QueryValues<Shape extends Query> = z.output<Shape>;
