import { type RefusalCode, refusalCodes, SandboxError } from "../../domain/errors.js";
import { type ActionName, actionNames } from "../../domain/steps.js";
import type { Action, Performed } from "../story/story.js";
import type { World } from "../world.js";
import type { Initiator } from "./check-input.js";
import { operations } from "./operations.js";

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
  try {
    return { ...nothing, ...run(world, action) };
  } catch (error) {
    if (!(error instanceof SandboxError) || !isRefusal(error.code)) throw error;
    return { ...nothing, refusal: { code: error.code, message: error.message } };
  }
}

/** The name of the action in a step; `undefined` when there is none. */
export function actionIn(step: Action): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

function run(world: World, action: Action): Partial<Performed> | undefined {
  const name = actionIn(action);
  if (name === undefined) return undefined;
  const input = action[name];
  // The schema of the step has checked that the input is the one of this operation.
  const operation = operations[name] as (world: World, input: unknown, by?: Initiator) => Partial<Performed>;
  if (name === "faults") return operation(world, input);
  const { actor, ...rest } = input as { readonly actor?: Initiator["actor"] };
  return operation(world, rest, { actor, isScripted: true });
}

function isRefusal(code: string): code is RefusalCode {
  return (refusalCodes as readonly string[]).includes(code);
}
