import type { SandboxState } from "../sandbox-state.js";
import { actionOperations } from "./actions.js";
import { advanceByUser, changeClock } from "./clock-operations.js";

/** Every change that users make within a running scenario, by name; a start replaces the scenario. A rejected change throws a `SandboxError` before it changes anything. */
export const operations = {
  ...actionOperations,
  clock: changeClock,
  advance: advanceByUser,
  clear_requests: clearRequests,
};

export function clearRequests({ journal, counters, behavior }: SandboxState): void {
  journal.replaceWith();
  counters.clear();
  // Advice on a later request must not be about a cleared one.
  behavior.forgetRequests();
  journal.emit({ type: "requests.cleared" });
}
