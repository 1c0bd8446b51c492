import { type RefusalCode, refusalCodes, SandboxError } from "../../domain/errors.js";
import { type ActionName, actionNames } from "../../domain/steps.js";
import type { Action, Performed } from "../story/story.js";
import type { World } from "../world.js";
import { decideConsent, suspendAttestation } from "./consents.js";
import type { Initiator } from "./input.js";
import { createKey, revokeKey, rotateKey } from "./keys.js";
import {
  advanceClock,
  changeAssumptions,
  changeClock,
  changeFaults,
  clearRequests,
  updateOrganization,
} from "./world.js";

/** Those that a step of a scenario runs. */
const stepOperations = {
  create_key: createKey,
  rotate: rotateKey,
  revoke: revokeKey,
  organization: updateOrganization,
  consent: decideConsent,
  faults: changeFaults,
} satisfies Record<ActionName, unknown>;

/**
 * Every change that users make to a running world, by name.
 *
 * Steps of scenarios, the control plane and the library all run these: `(world, input, by)`. Inputs are spelled as
 * scenarios and HTTP spell them (their schemas: `actionFields` and `controlBodies`). A refused operation throws a
 * `SandboxError` and changes nothing; a finished one is announced and returns the new state of what it changed.
 */
export const operations = /* @__PURE__ */ Object.assign({}, stepOperations, {
  attestation: suspendAttestation,
  assumptions: changeAssumptions,
  clock: changeClock,
  advance: (world: World, { by }: { readonly by: string | number }) => advanceClock(world, by),
  clear_requests: clearRequests,
});

const nothing: Performed = {
  refusal: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
  consent: null,
};

/**
 * Runs the operation of a step.
 *
 * A refusal of the dashboard is a result; any other error is thrown. New keys get the secrets that the seed and their
 * refs give, so that a scenario plays the same way each time.
 */
export function performAction(world: World, action: Action): Performed {
  const name = actionIn(action);
  if (name === undefined) return nothing;
  // The schema of the step has checked that the input is the one of this operation.
  const operation = stepOperations[name] as (
    world: World,
    input: unknown,
    by: Initiator,
  ) => Partial<Performed>;
  const { actor, ...input } = action[name] as { readonly actor?: Initiator["actor"] };
  try {
    const by = { actor, isScripted: true };
    return { ...nothing, ...operation(world, name === "faults" ? action.faults : input, by) };
  } catch (error) {
    if (!(error instanceof SandboxError) || !isRefusal(error.code)) throw error;
    return { ...nothing, refusal: { code: error.code, message: error.message } };
  }
}

/** The name of the action in a step; `undefined` when there is none. */
export function actionIn(step: Action): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

function isRefusal(code: string): code is RefusalCode {
  return (refusalCodes as readonly string[]).includes(code);
}
