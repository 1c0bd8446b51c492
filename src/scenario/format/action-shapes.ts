import { environments } from "../../rules/keys/key-text.js";
import { organizationChange } from "../../rules/organization.js";
import * as s from "../../schema/shape.js";
import type { ActionName } from "../actions.js";
import { assumptionsSchema } from "./assumption-shapes.js";
import { faultsSchema } from "./fault-shapes.js";
import { limits, scope, shortText } from "./fields.js";
import { ref, refOf } from "./refs.js";
import { overlap, timeOrDuration } from "./times.js";

// Actions of a timeline, of a story and of the control plane. `checks/step-rules.ts` checks the refs in a step.

export const keyCreationFields = {
  organization: refOf("organization"),
  environment: s.choice(environments),
  name: shortText(),
  // An empty list and an unknown scope have their own error codes (R29).
  scopes: s.optional(s.list(scope())),
  limits: s.optional(limits),
  ref: s.optional(ref()),
  expires: s.optional(timeOrDuration()),
};

export const replacementRef = s.optional(ref());

export const actor = s.optional(s.choice(["administrator", "member"]));

/** A field for each action: its name, and what it takes. */
export const actionFields = {
  create_key: s.optional(s.mapping({ ...keyCreationFields, actor })),
  rotate: s.optional(
    s.mapping({ key: refOf("key"), as: replacementRef, overlap: s.optional(overlap()), actor }),
  ),
  revoke: s.optional(s.mapping({ key: refOf("key"), actor })),
  expire: s.optional(s.mapping({ key: refOf("key"), expires: timeOrDuration(), actor })),
  organization: s.optional(
    s.needing(
      Object.keys(organizationChange.fields),
      s.mapping<s.Fields>({ ref: refOf("organization"), ...organizationChange.fields }),
    ),
  ),
  faults: s.optional(faultsSchema),
  assumptions: s.optional(assumptionsSchema),
} satisfies Record<ActionName, s.Fields[string]>;
