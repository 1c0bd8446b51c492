import { type RefusalCode, refusalCodes, SandboxError } from "../../domain/errors.js";
import { type ActionName, actionNames } from "../../domain/steps.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { ConsentView } from "../preview/consent-views.js";
import type { KeyView, OrganizationView } from "../views.js";
import type { World } from "../world.js";
import type { Initiator } from "./check-input.js";
import { operations } from "./operations.js";

/** The operation of a step of a timeline or a story. */
export type Action = Pick<NonNullable<Scenario["timeline"]>[number], ActionName>;

/** The result of an action: the new state of what it changed, or the refusal. */
export interface Performed {
  /** `null` when it was done. */
  readonly refusal: { readonly code: RefusalCode; readonly message: string } | null;
  /** The key that was created, replaced or revoked. */
  readonly key: KeyView | null;
  /** The key that replaces it. */
  readonly replacement: KeyView | null;
  /** The full key of the new one: the only time that it is shown (R34). */
  readonly secret: string | null;
  readonly organization: OrganizationView | null;
  /** The consent request that a farmer has decided about. */
  readonly consent: ConsentView | null;
}

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
