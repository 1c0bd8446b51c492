import { cachedByObject } from "../rules/cached-by.js";
import { type ActiveFault, activateFaults } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { type FaultFacts, type FiredFault, fireFault } from "../sandbox/fire-faults.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox-state.js";
import { hidesOutcomes, type RunConditions } from "./conditions.js";
import { resultOfFault } from "./replacements.js";
import { type ClaimOnce, RequestReplacer } from "./request-replacer.js";

/** Starts to apply the conditions of a run. Default of `claim`: the run has only this process. */
export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fire = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);
  return {
    profile,
    hidesOutcomes: hidesOutcomes(conditions),
    rows,
    nextShift: startMixing(mixed),
    intercept(sandbox, call, usualCourse) {
      // The faults of the run come first.
      const fired = fire(sandbox, call, usualCourse.facts);
      if (fired !== undefined) {
        // Read before a late response, which counts the request.
        const conditionEffect = { replaced: usualCourse.facts.expectedOutcome() };
        return { ...resultOfFault(sandbox, call, fired), conditionEffect };
      }

      if (replacer === undefined) return usualCourse.respond();
      return replacer.resultOf(sandbox, call, usualCourse);
    },
  };
}

/** Returns a claim among the sandboxes of one process. */
function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/** Starts to count responses, so that each one with a status has the next variants. */
function startMixing(mixed: RunConditions["mixed"]): ConditionedRun["nextShift"] {
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
  // By the registry, since a scenario that starts has a new one: its faults count their requests again.
  const activeSinceStart = cachedByObject(
    (_registry: SandboxState["registry"], { seed, startedAt }: SandboxState): readonly ActiveFault[] =>
      activateFaults(faults, seed, startedAt),
  );
  return (sandbox: SandboxState, call: ApiCall, facts: FaultFacts): FiredFault | undefined => {
    if (faults.length === 0) return undefined;
    return fireFault(activeSinceStart(sandbox.registry, sandbox), call.number, facts);
  };
}
