import { z } from "zod/mini";
import { profiles } from "../../domain/assumptions.js";
import { faultsSchema } from "./faults.js";
import { choice, count, duration, flag, text, time } from "./fields.js";
import { assumptionsSchema } from "./schema.js";
import { keyCreationFields, organizationChangeFields, replacementRef } from "./steps.js";

// The bodies of the control plane, made of the same fields as scenarios: one spelling, one set of checks and messages.

/** The bodies of the control plane's calls, by name. */
export const controlBodies = {
  key_creation: z.strictObject(keyCreationFields),
  key_rotation: z.strictObject({
    overlap_minutes: z.optional(
      z.number().check(z.describe("How long the old key goes on working: 0 to 10080 minutes. Default: 60.")),
    ),
    as: replacementRef,
  }),
  organization_update: z.strictObject(organizationChangeFields),
  clock_change: z.strictObject({
    now: z.optional(time("Moves the clock on to this time.")),
    frozen: z.optional(flag("Freezes the clock, or lets it run.")),
  }),
  clock_advance: z.strictObject({
    by: duration("How far to move the clock on."),
  }),
  assumptions_change: assumptionsSchema,
  faults_change: z.strictObject({ faults: faultsSchema }),
  scenario_choice: z.strictObject({ name: text("The name of a bundled scenario.") }),
  instance_creation: z.strictObject({
    scenario: z.optional(
      z
        .union([z.string(), z.record(z.string(), z.unknown())])
        .check(z.describe("A bundled name, or a scenario as an object. Default: the server's own.")),
    ),
    seed: z.optional(count("Default: the scenario's, else 1.")),
    now: z.optional(time("When the clock starts. Default: the scenario's, else the real time.")),
    frozen: z.optional(flag("Whether the clock stands still. Default: the scenario's, else false.")),
    profile: z.optional(
      choice(profiles, "The profile of its assumptions. Default: the scenario's, else minimal."),
    ),
  }),
  nothing: z.strictObject({}),
} as const;

export type ControlBodyName = keyof typeof controlBodies;
export type ControlBody<Name extends ControlBodyName> = z.output<(typeof controlBodies)[Name]>;

/** The parameters of a query, each of which may be left out. */
export const query = <Parameters extends Readonly<Record<string, z.ZodMiniType>>>(parameters: Parameters) =>
  z.partial(z.strictObject(parameters));
export type Query = ReturnType<typeof query>;
export type QueryValues<Shape extends Query> = z.output<Shape>;
