import type { SandboxState } from "../sandbox-state.js";
import type { Initiator } from "../steps.js";
import { actionChanges, type MakeChange } from "./actions.js";
import { advanceClock, changeClock } from "./clock-operations.js";

/** Every change that users make within a running scenario, by name; a start replaces the scenario. A rejected change throws a `SandboxError` before it changes anything. */
export const operations = {
  create_key: /* @__PURE__ */ byUser(actionChanges.create_key),
  rotate: /* @__PURE__ */ byUser(actionChanges.rotate),
  revoke: /* @__PURE__ */ byUser(actionChanges.revoke),
  expire: /* @__PURE__ */ byUser(actionChanges.expire),
  organization: /* @__PURE__ */ byUser(actionChanges.organization),
  faults: /* @__PURE__ */ byUser(actionChanges.faults),
  assumptions: /* @__PURE__ */ byUser(actionChanges.assumptions),
  clock: changeClock,
  advance: advanceClock,
  clear_requests: clearRequests,
};

/** An operation that makes a change and emits its event. */
function byUser<Input, Result>(
  makeChange: MakeChange<Input, Result>,
): (sandbox: SandboxState, input: Input, initiator?: Initiator) => Result {
  return (sandbox, input, initiator) => {
    const { result, event } = makeChange(sandbox, input, initiator);
    sandbox.journal.emit(event);
    return result;
  };
}

export function clearRequests({ journal, counters, behavior }: SandboxState): void {
  journal.replaceWith();
  counters.clear();
  // Advice on a later request must not be about a cleared one.
  behavior.forgetRequests();
  journal.emit({ type: "requests.cleared" });
}
