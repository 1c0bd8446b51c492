import { type ActionErrorCode, actionErrorCodes, SandboxError } from "../../rules/errors.js";
import { type ActionName, actionRow } from "../../scenario/actions.js";
import type { SandboxState } from "../sandbox-state.js";
import type { ActionResult, Initiator, StepAction } from "../step-results.js";
import type { NamedValues } from "../user-changes.js";
import { assumptionNames, changeAssumptions } from "./assumption-operations.js";
import { assumptionValues, faultValues, keyValues, organizationValues } from "./changeable-values.js";
import { changeFaults } from "./fault-operations.js";
import { createKey, expireKey, requireAdministrator, revokeKey, rotateKey } from "./key-operations.js";
import { accessNames, updateOrganization } from "./organization-operations.js";

/** An operation that users and steps run, with the values by which the sandbox knows what users have changed. */
interface RecordedAction<Input, Result> {
  readonly run: (sandbox: SandboxState, input: Input, now: number, by: Initiator) => Result;
  /** The values that it may change: read before it, without its result, and after it. */
  readonly values: (sandbox: SandboxState, input: Input, result?: Result) => NamedValues;
  /** The names of the values that it sets, even to what they were before. Default: only those that differ after it. */
  readonly namesOfSetValues?: (input: Input) => readonly string[];
}

/**
 * The operations that are also actions of steps, by name. A rejected one throws a `SandboxError` before it changes anything.
 * `@__PURE__` lets a bundle for browsers leave them out.
 */
export const actionOperations = {
  create_key: /* @__PURE__ */ recordedAction("create_key", {
    run: createKey,
    values: (sandbox, _input, created) => keyValues(sandbox, [created?.key.ref]),
  }),
  rotate: /* @__PURE__ */ recordedAction("rotate", {
    run: rotateKey,
    values: (sandbox, { key }, rotated) => keyValues(sandbox, [key, rotated?.replacement.ref]),
  }),
  revoke: /* @__PURE__ */ recordedAction("revoke", {
    run: revokeKey,
    values: (sandbox, { key }) => keyValues(sandbox, [key]),
  }),
  expire: /* @__PURE__ */ recordedAction("expire", {
    run: expireKey,
    values: (sandbox, { key }) => keyValues(sandbox, [key]),
    namesOfSetValues: ({ key }) => [`key ${key} expiresAt`],
  }),
  organization: /* @__PURE__ */ recordedAction("organization", {
    run: updateOrganization,
    values: (sandbox, { ref }) => organizationValues(sandbox, ref),
    namesOfSetValues: accessNames,
  }),
  faults: /* @__PURE__ */ recordedAction("faults", {
    run: changeFaults,
    values: faultValues,
    namesOfSetValues: () => ["faults"],
  }),
  assumptions: /* @__PURE__ */ recordedAction("assumptions", {
    run: changeAssumptions,
    values: assumptionValues,
    namesOfSetValues: assumptionNames,
  }),
};

/** An action that checks who runs it, and notes what it changes. Its caller has run what is due in the timeline. */
function recordedAction<Input, Result>(
  name: ActionName,
  action: RecordedAction<Input, Result>,
): (sandbox: SandboxState, input: Input, by?: Initiator) => Result {
  return (sandbox, input, by = {}) => {
    if (actionRow(name).isForAdministrators) requireAdministrator(by);
    // A step of the timeline runs as if at the instant when it is due.
    const now = by.dueAt ?? sandbox.clock.now();
    // Read before, because a listener of the action's event may start another scenario, with its own changes.
    const { changes } = sandbox;

    const before = action.values(sandbox, input);
    const result = action.run(sandbox, input, now, by);
    const after = action.values(sandbox, input, result);

    if (by.isScripted) changes.noteStep(before, after, action.namesOfSetValues?.(input));
    else changes.noteUser(before, after);
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
