import { faultyResult } from "../api/fault-responses.js";
import { cachedBy } from "../rules/cached-by.js";
import {
  type ActiveFault,
  activateFaults,
  type FaultFacts,
  type FiredFault,
  fireFault,
} from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox-state.js";
import { isAnsweredWrongly, type RunConditions } from "./conditions.js";
import { type ClaimOnce, markReplaced, RequestReplacer } from "./on-request.js";

/** Returns a claim for the sandboxes of one process. */
function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/** Starts to apply the conditions of a run. */
export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fire = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);
  return {
    profile,
    hidesOutcomes: isAnsweredWrongly(conditions),
    rows,
    shiftOf: startMixing(mixed),
    intercept(sandbox, call, next) {
      const fired = fire(sandbox, call, next.facts);
      if (fired === undefined) return replacer?.resultOf(sandbox, call, next) ?? next.respond();
      // Before a late response, which counts the request.
      markReplaced(call, next.facts.expectedOutcome());
      return faultyResult(sandbox, call, fired, true);
    },
  };
}

/** Starts to count responses, so that each one with a status has the next variants. */
function startMixing(mixed: RunConditions["mixed"]): ConditionedRun["shiftOf"] {
  const counts = new Map<number, number>();
  return ({ request }, status) => {
    // A 401 must not depend on the requests before it (R14).
    if (!mixed || status === 401) return 0;
    const count = counts.get(status) ?? 0;
    // No client sent a story's request.
    if (!request.fromStory) counts.set(status, count + 1);
    return count;
  };
}

/** Starts the faults of a run, which count their requests again with each start of a scenario. */
function startFaults(faults: RunConditions["faults"] = []) {
  const faultsIn = cachedBy(
    (_registry: SandboxState["registry"], { seed, startedAt }: SandboxState): readonly ActiveFault[] =>
      activateFaults(faults, seed, startedAt),
  );
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined =>
    faults.length === 0 ? undefined : fireFault(faultsIn(sandbox.registry, sandbox), call.number, facts);
}
