import { z } from "zod/mini";
import { environments } from "../domain/api-key.js";
import { liveAccessStates, organizationStatuses } from "../domain/organization.js";
import type { ActionName } from "../domain/steps.js";
import { parseDuration } from "./duration.js";
import { faultsSchema } from "./fault-schema.js";
import { choice, count, duration, flag, limits, ref, scope, text, timeOrDuration } from "./fields.js";

// What somebody does to the world, in the dashboard or to the network; the same in a timeline and in a story.

const actor = z.optional(
  choice(
    ["administrator", "member"],
    "Who does it in the dashboard; only administrators may (R33). Default: administrator.",
  ),
);
const keyOf = (description: string) => ref(description);

/** The actions, by name. What a step refers to is checked in `step-rules.ts`. */
export const actionFields = {
  create_key: z.optional(
    z
      .strictObject({
        organization: ref("The organization that the key is for."),
        environment: choice(environments, "The environment of the key."),
        name: text("The name of the key."),
        scopes: z.optional(
          z.array(scope("A scope name.")).check(z.describe("Default: [attestations:read].")),
        ),
        limits: z.optional(limits),
        ref: z.optional(ref("How to call the key from now on. Default: made from its name.")),
        expires: z.optional(timeOrDuration("When the key expires. A duration counts from the step.")),
        actor,
      })
      .check(z.describe("An administrator creates a key.")),
  ),
  rotate: z.optional(
    z
      .strictObject({
        key: keyOf("The key to replace."),
        as: z.optional(ref("How to call the replacement. Default: the old ref with the next free number.")),
        overlap: z.optional(
          duration("How long the old key goes on working: 0s to 7d; 0s ends it at once. Default: 60m.").check(
            z.refine((value) => parseDuration(value) !== undefined),
          ),
        ),
        actor,
      })
      .check(z.describe("An administrator replaces a key by a new one.")),
  ),
  revoke: z.optional(
    z
      .strictObject({ key: keyOf("The key to revoke."), actor })
      .check(z.describe("An administrator revokes a key.")),
  ),
  organization: z.optional(
    z
      .strictObject({
        ref: ref("The organization."),
        status: z.optional(choice(organizationStatuses, "Whether the organization may use the API.")),
        sandbox_access: z.optional(flag("Whether test keys can be created for it.")),
        live_access: z.optional(choice(liveAccessStates, "Where it stands with live access.")),
      })
      .check(z.describe("Something about an organization changes.")),
  ),
  consent: z.optional(
    z
      .strictObject({
        farmer: count("The farmer, by number: 0 is the first one."),
        do: choice(
          ["grant", "reject", "revoke"],
          "What the farmer does about the newest consent request that allows it.",
        ),
        organization: z.optional(ref("The organization that asked. Default: any.")),
      })
      .check(z.describe("A farmer decides about a consent request; needs preview: true.")),
  ),
  faults: z.optional(faultsSchema),
} satisfies Record<ActionName, z.ZodMiniType>;
