import { type ActionErrorCode, actionErrorCodes, SandboxError } from "../../rules/errors.js";
import { type ActionName, actionRow } from "../../scenario/actions.js";
import type { ChangeMade } from "../journal/events.js";
import type { SandboxState } from "../sandbox-state.js";
import type { ActionResult, Initiator, StepAction } from "../step-results.js";
import type { NamedValues } from "../user-changes.js";
import type { KeyView } from "../view-shapes.js";
import { changeAssumptions } from "./assumption-operations.js";
import { changeFaults } from "./fault-operations.js";
import { createKey, expireKey, requireAdministrator, revokeKey, rotateKey } from "./key-operations.js";
import { updateOrganization } from "./organization-operations.js";
import { assumptionValues, faultValues, keyValues, organizationValues } from "./set-values.js";

/** An operation that users and steps run. What users have changed is known by comparing its values before and after. */
interface RecordedAction<Input, Result> {
  readonly run: (sandbox: SandboxState, input: Input, now: number, by: Initiator) => ChangeMade<Result>;
  /** The values that it sets, except those of a key that it creates. */
  readonly values: (sandbox: SandboxState, input: Input) => NamedValues;
  /** The key that it has created; left out if it creates none. */
  readonly createdKey?: (result: Result) => KeyView;
}

/**
 * The operations that are also actions of steps, by name. A rejected one throws a `SandboxError` before it changes anything.
 * `@__PURE__` lets a bundle for browsers leave them out.
 */
export const actionOperations = {
  create_key: /* @__PURE__ */ recordedAction("create_key", {
    run: createKey,
    values: () => ({}),
    createdKey: ({ key }) => key,
  }),
  rotate: /* @__PURE__ */ recordedAction("rotate", {
    run: rotateKey,
    values: (sandbox, { key }) => keyValues(sandbox, key, ["overlapEndsAt", "replacedBy"]),
    createdKey: ({ replacement }) => replacement,
  }),
  revoke: /* @__PURE__ */ recordedAction("revoke", {
    run: revokeKey,
    values: (sandbox, { key }) => keyValues(sandbox, key, ["revokedAt"]),
  }),
  expire: /* @__PURE__ */ recordedAction("expire", {
    run: expireKey,
    values: (sandbox, { key }) => keyValues(sandbox, key, ["expiresAt"]),
  }),
  organization: /* @__PURE__ */ recordedAction("organization", {
    run: updateOrganization,
    values: organizationValues,
  }),
  faults: /* @__PURE__ */ recordedAction("faults", {
    run: changeFaults,
    values: faultValues,
  }),
  assumptions: /* @__PURE__ */ recordedAction("assumptions", {
    run: changeAssumptions,
    values: assumptionValues,
  }),
};

/** An action that checks who runs it, notes what it changes, and emits its event. Its caller has run what is due in the timeline. */
function recordedAction<Input, Result>(
  name: ActionName,
  action: RecordedAction<Input, Result>,
): (sandbox: SandboxState, input: Input, by?: Initiator) => Result {
  return (sandbox, input, by = {}) => {
    if (actionRow(name).isForAdministrators) requireAdministrator(by);
    // A step of the timeline runs as if at the instant when it is due.
    const now = by.dueAt ?? sandbox.clock.now();

    const before = action.values(sandbox, input);
    const { result, event } = action.run(sandbox, input, now, by);
    const after: Record<string, string> = { ...action.values(sandbox, input) };
    const created = action.createdKey?.(result);
    if (created !== undefined) after[`key ${created.ref}`] = "created";

    if (by.isScripted) sandbox.changes.noteStep(Object.keys(after));
    else sandbox.changes.noteUser(before, after);
    sandbox.journal.emit(event);
    return result;
  };
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
  const { journal } = sandbox;
  const eventsBefore = journal.latest();
  try {
    return { ...emptyActionResult, ...runAction(sandbox, action, { isScripted: true, dueAt }) };
  } catch (error) {
    // A rejected action has changed nothing, so that it has no event. After its event, the error is that of a listener.
    const isOfListener = journal.latest() !== eventsBefore;
    if (isOfListener || !(error instanceof SandboxError) || !isActionError(error.code)) throw error;
    return { ...emptyActionResult, error: { code: error.code, message: error.message } };
  }
}

/** Runs the one action that a step has, if any, by who runs it in the scenario. Returns what its result shows. */
function runAction(sandbox: SandboxState, action: StepAction, by: Initiator): Partial<ActionResult> {
  if (action.create_key !== undefined) {
    const { actor, ...input } = action.create_key;
    return actionOperations.create_key(sandbox, input, { ...by, actor });
  }
  if (action.rotate !== undefined) {
    const { actor, ...input } = action.rotate;
    return actionOperations.rotate(sandbox, input, { ...by, actor });
  }
  if (action.revoke !== undefined) {
    const { actor, ...input } = action.revoke;
    return actionOperations.revoke(sandbox, input, { ...by, actor });
  }
  if (action.expire !== undefined) {
    const { actor, ...input } = action.expire;
    return actionOperations.expire(sandbox, input, { ...by, actor });
  }
  // The others name nobody who runs them.
  if (action.organization !== undefined) {
    return actionOperations.organization(sandbox, action.organization, by);
  }
  // Faults and assumptions are no part of a result.
  if (action.faults !== undefined) actionOperations.faults(sandbox, action.faults, by);
  if (action.assumptions !== undefined) actionOperations.assumptions(sandbox, action.assumptions, by);
  return {};
}

function isActionError(code: string): code is ActionErrorCode {
  return (actionErrorCodes as readonly string[]).includes(code);
}
