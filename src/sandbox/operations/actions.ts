import { type ActionErrorCode, actionErrorCodes, SandboxError } from "../../rules/errors.js";
import { type ActionName, actionRow } from "../../scenario/actions.js";
import type { ChangeEvent, ChangeMade } from "../journal/events.js";
import type { SandboxState } from "../sandbox-state.js";
import type { ActionResult } from "../step-results.js";
import type { Initiator, StepAction } from "../steps.js";
import type { NamedValues } from "../user-changes.js";
import { changeAssumptions } from "./assumption-operations.js";
import { assumptionValues, faultValues, keyValues, organizationValues } from "./compared-values.js";
import { changeFaults } from "./fault-operations.js";
import { createKey, expireKey, requireAdministrator, revokeKey, rotateKey } from "./key-operations.js";
import { updateOrganization } from "./organization-operations.js";

/** A change that users and steps make. */
interface Operation<Input, Result> {
  readonly change: (
    sandbox: SandboxState,
    input: Input,
    now: number,
    initiator: Initiator,
  ) => ChangeMade<Result>;
  /**
   * The values that it sets, as they are now. They are read before and after the change: `UserChanges` notes which of them a user
   * has changed. A key that is created has none here, since it may get its ref only by the change: see `createdKeyValue`.
   */
  readonly valuesSet: (sandbox: SandboxState, input: Input) => NamedValues;
}

/**
 * The changes that are also actions of steps, by name. Whoever makes one emits its event. A rejected one throws a `SandboxError`
 * before it changes anything. `@__PURE__` lets a bundle for browsers leave them out.
 */
export const actionChanges = {
  create_key: /* @__PURE__ */ notedChange("create_key", {
    change: createKey,
    valuesSet: () => ({}),
  }),
  rotate: /* @__PURE__ */ notedChange("rotate", {
    change: rotateKey,
    valuesSet: (sandbox, { key }) => keyValues(sandbox, key, ["overlapEndsAt", "replacedBy"]),
  }),
  revoke: /* @__PURE__ */ notedChange("revoke", {
    change: revokeKey,
    valuesSet: (sandbox, { key }) => keyValues(sandbox, key, ["revokedAt"]),
  }),
  expire: /* @__PURE__ */ notedChange("expire", {
    change: expireKey,
    valuesSet: (sandbox, { key }) => keyValues(sandbox, key, ["expiresAt"]),
  }),
  organization: /* @__PURE__ */ notedChange("organization", {
    change: updateOrganization,
    valuesSet: organizationValues,
  }),
  faults: /* @__PURE__ */ notedChange("faults", {
    change: changeFaults,
    valuesSet: faultValues,
  }),
  assumptions: /* @__PURE__ */ notedChange("assumptions", {
    change: changeAssumptions,
    valuesSet: assumptionValues,
  }),
};

/** Makes a change, whose event is still to be emitted. */
export type MakeChange<Input, Result> = (
  sandbox: SandboxState,
  input: Input,
  initiator?: Initiator,
) => ChangeMade<Result>;

/** A change that checks who makes it, and notes what it changes. Its caller has run what is due in the timeline. */
function notedChange<Input, Result>(
  name: ActionName,
  operation: Operation<Input, Result>,
): MakeChange<Input, Result> {
  return (sandbox, input, initiator = {}) => {
    if (actionRow(name).isForAdministrators) requireAdministrator(initiator);
    // A step of the timeline runs as if at the instant when it is due.
    const now = initiator.dueAt ?? sandbox.clock.now();

    const before = operation.valuesSet(sandbox, input);
    const change = operation.change(sandbox, input, now, initiator);
    const after = { ...operation.valuesSet(sandbox, input), ...createdKeyValue(change.event) };

    if (initiator.isScripted) sandbox.changes.forgetSetByStep(Object.keys(after));
    else sandbox.changes.noteSetByUser(before, after);
    return change;
  };
}

/** The value `key main: created` of the key that a change has created; none if it has created no key. */
function createdKeyValue(event: ChangeEvent): NamedValues {
  if (event.type === "key.created") return { [`key ${event.key.ref}`]: "created" };
  if (event.type === "key.rotated") return { [`key ${event.replacement.ref}`]: "created" };
  return {};
}

/** A result without an error, a key or an organization: each action adds what it has. */
const emptyActionResult: ActionResult = {
  error: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
};

/**
 * Runs the action of a step; its rejection is a result. Secrets of new keys derive from the seed and their refs: a scenario always
 * plays the same way. `dueAt` is when a step of the timeline is due.
 */
export function performAction(sandbox: SandboxState, action: StepAction, dueAt?: number): ActionResult {
  let change: ChangeOfStep | undefined;
  try {
    change = changeOfStep(sandbox, action, { isScripted: true, dueAt });
  } catch (error) {
    if (!(error instanceof SandboxError) || !isActionError(error.code)) throw error;
    return { ...emptyActionResult, error: { code: error.code, message: error.message } };
  }
  if (change === undefined) return emptyActionResult;

  // A listener may throw. That is no rejection: the change has been made.
  sandbox.journal.emit(change.event);
  return { ...emptyActionResult, ...change.result };
}

/** The change that a step has made, with those members of its result that its action has. */
type ChangeOfStep = ChangeMade<Partial<ActionResult> | undefined>;

/** Makes the change of the one action that a step has; `undefined` without an action. */
function changeOfStep(
  sandbox: SandboxState,
  action: StepAction,
  byScenario: Initiator,
): ChangeOfStep | undefined {
  if (action.create_key !== undefined) {
    const { actor, ...input } = action.create_key;
    return actionChanges.create_key(sandbox, input, { ...byScenario, actor });
  }
  if (action.rotate !== undefined) {
    const { actor, ...input } = action.rotate;
    return actionChanges.rotate(sandbox, input, { ...byScenario, actor });
  }
  if (action.revoke !== undefined) {
    const { actor, ...input } = action.revoke;
    return actionChanges.revoke(sandbox, input, { ...byScenario, actor });
  }
  if (action.expire !== undefined) {
    const { actor, ...input } = action.expire;
    return actionChanges.expire(sandbox, input, { ...byScenario, actor });
  }
  // The others name nobody who runs them.
  if (action.organization !== undefined) {
    return actionChanges.organization(sandbox, action.organization, byScenario);
  }
  if (action.faults !== undefined) return actionChanges.faults(sandbox, action.faults, byScenario);
  if (action.assumptions !== undefined) {
    return actionChanges.assumptions(sandbox, action.assumptions, byScenario);
  }
  return undefined;
}

function isActionError(code: string): code is ActionErrorCode {
  return (actionErrorCodes as readonly string[]).includes(code);
}
