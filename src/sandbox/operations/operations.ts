import { type RefusalCode, refusalCodes, SandboxError } from "../../spec/errors.js";
import { type ActionName, actionNames } from "../../spec/steps.js";
import type { Action, Performed } from "../steps.js";
import type { World } from "../world.js";
import { decideConsent, suspendAttestation } from "./consents.js";
import { createKey, type Initiator, requireAdministrator, revokeKey, rotateKey } from "./keys.js";
import {
  advanceClock,
  changeAssumptions,
  changeClock,
  changeFaults,
  clearRequests,
  updateOrganization,
} from "./settings.js";

/** Changes a sandbox as of an instant (epoch milliseconds). Returns the new state of the changed records. */
type Operation<Input, Result> = (world: World, input: Input, now: number, by: Initiator) => Result;

/** The operations that steps of a scenario run. */
const stepOperations = {
  create_key: createKey,
  rotate: rotateKey,
  revoke: revokeKey,
  organization: updateOrganization,
  consent: decideConsent,
  attestation: suspendAttestation,
  faults: changeFaults,
  assumptions: changeAssumptions,
} satisfies Record<ActionName, unknown>;

/** The operations that members of the organization cannot run (R33). */
const forAdministrators: readonly ActionName[] = ["create_key", "rotate", "revoke", "organization"];

/**
 * Every change that users make to a running sandbox, by name.
 *
 * Steps of scenarios, the control plane and the library all run these: `(world, input, by)`. Input members have the names
 * of scenarios and HTTP (their schemas: `actionFields` and `controlBodies`). A rejected operation throws a `SandboxError`
 * and changes nothing. A successful one is announced, and returns the new state of the changed records.
 */
export const operations = {
  create_key: /* @__PURE__ */ recorded("create_key", createKey),
  rotate: /* @__PURE__ */ recorded("rotate", rotateKey),
  revoke: /* @__PURE__ */ recorded("revoke", revokeKey),
  organization: /* @__PURE__ */ recorded("organization", updateOrganization),
  consent: /* @__PURE__ */ recorded("consent", decideConsent),
  attestation: /* @__PURE__ */ recorded("attestation", suspendAttestation),
  faults: /* @__PURE__ */ recorded("faults", changeFaults),
  assumptions: /* @__PURE__ */ recorded("assumptions", changeAssumptions),
  clock: changeClock,
  advance: (world: World, { by }: { readonly by: string | number }) => advanceClock(world, by),
  clear_requests: clearRequests,
};

/** Wraps an operation so that it runs at the time of the clock and is recorded, and can thus be repeated. */
function recorded<Input, Result>(
  name: ActionName,
  run: Operation<Input, Result>,
): (world: World, input: Input, by?: Initiator) => Result {
  return (world, input, by = {}) => {
    const { history, clock, timeline } = world;
    const at = clock.now();
    if (timeline.dueAt <= at) world.settle();
    const record = (refusal: string | undefined, result: object = {}) => {
      const { key, replacement, consent } = result as Partial<Performed>;
      history.operation({
        ...{ name, input: structuredClone(input), actor: by.actor, at, refusal },
        made: (replacement ?? key)?.ref,
        consent: consent
          ? { id: consent.id, farmer: consent.farmer, organization: consent.organization }
          : undefined,
      });
    };
    try {
      if (forAdministrators.includes(name)) requireAdministrator(by);
      const result = run(world, input, at, by);
      record(undefined, result as object);
      return result;
    } catch (error) {
      if (error instanceof SandboxError && isRefusal(error.code)) record(error.code);
      // The change may have happened before a listener failed.
      else history.restart();
      throw error;
    }
  };
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
 * Runs the operation of a step: of a story, or of the timeline at its instant `at`, which is not recorded because a repeated
 * capture runs the timeline again.
 *
 * A rejection is a result; any other error is thrown. Secrets of new keys derive from the seed and their refs, so that a
 * scenario always plays the same way.
 */
export function performAction(world: World, action: Action, at?: number): Performed {
  const name = actionIn(action);
  if (name === undefined) return nothing;
  const { actor, ...given } = action[name] as { readonly actor?: Initiator["actor"] };
  // The step's schema has checked the input of this operation.
  const input = (name === "faults" ? action.faults : given) as never;
  const by = { actor, isScripted: true };
  try {
    if (at === undefined) return { ...nothing, ...operations[name](world, input, by) };
    if (forAdministrators.includes(name)) requireAdministrator(by);
    return { ...nothing, ...stepOperations[name](world, input, at, by) };
  } catch (error) {
    if (!(error instanceof SandboxError) || !isRefusal(error.code)) throw error;
    return { ...nothing, refusal: { code: error.code, message: error.message } };
  }
}

/** Returns the name of the action in a step, or `undefined`. */
export function actionIn(step: Action): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

function isRefusal(code: string): code is RefusalCode {
  return (refusalCodes as readonly string[]).includes(code);
}
