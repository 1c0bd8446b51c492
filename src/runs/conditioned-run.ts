import { type ActiveFault, activateFaults } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { type FaultFacts, type FiredFault, fireFault } from "../sandbox/fire-faults.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox-state.js";
import { hidesOutcomes, type RunConditions } from "./conditions.js";
import { resultOfFault } from "./replacements.js";
import { type ClaimOnce, claimHere, RequestReplacer } from "./request-replacer.js";

export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fireDue = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);
  return {
    profile,
    hidesOutcomes: hidesOutcomes(conditions),
    rows,
    takeVariantShift: startMixing(mixed),
    intercept(sandbox, call, ownResponse) {
      const { facts } = ownResponse;
      const fired = fireDue(sandbox, call, facts);
      if (fired !== undefined) {
        // Read before the fault's result: it goes by the counts of requests as they are now, and a fault that only delays counts this one.
        const replaced = facts.expectedOutcome();
        return { ...resultOfFault(sandbox, call, fired), conditionEffect: { replaced } };
      }
      if (replacer === undefined) return ownResponse.respond();
      return replacer.resultOf(sandbox, call, ownResponse);
    },
  };
}

/** Counts the responses with each status. Each has other variants than the one before it: the first 200 is shifted by 0, the second one by 1. */
function startMixing(mixed: RunConditions["mixed"]): ConditionedRun["takeVariantShift"] {
  const counts = new Map<number, number>();
  return ({ request }, status) => {
    // A 401 must not depend on the requests before it (R14).
    if (!mixed || status === 401) return 0;
    const count = counts.get(status) ?? 0;
    // A request of a story does not count: no client sent it.
    if (!request.fromStory) counts.set(status, count + 1);
    return count;
  };
}

/** Starts the faults of a run. Returns a function that fires the one which is due for a call, if any. */
function startFaults(faults: RunConditions["faults"] = []) {
  // Each scenario that starts has a new registry of keys: the faults then count their requests from the first one again.
  const activeByRegistry = new WeakMap<SandboxState["registry"], ActiveFault[]>();
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined => {
    if (faults.length === 0) return undefined;
    const { registry, seed, startedAt } = sandbox;
    const active = activeByRegistry.get(registry) ?? activateFaults(faults, seed, startedAt);
    activeByRegistry.set(registry, active);
    return fireFault(active, call.number, facts);
  };
}
