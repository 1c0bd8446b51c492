import { assumptionsKeptFromVarying } from "../api/variation/vary.js";
import type { ApiCall, CallResult } from "../sandbox/call.js";
import {
  type ActiveFault,
  activateFaults,
  type FaultFacts,
  type FiredFault,
  fireFault,
} from "../sandbox/faults.js";
import type { ConditionedRun, OwnResponse, SandboxState } from "../sandbox/sandbox-state.js";
import { hidesOutcomes, type RunConditions } from "./conditions.js";
import { resultOfFault } from "./replacements.js";
import { type ClaimOnce, claimHere, RequestReplacer } from "./request-replacer.js";
import type { ConditionEffect, ConditionedResult, RunTrace } from "./run-trace.js";

export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { profile, rows, mixed, faults, onRequest } = conditions;
  const fireDue = startFaults(faults);
  const replacer = onRequest && new RequestReplacer(onRequest, claim);

  function conditionedResult(sandbox: SandboxState, call: ApiCall, own: OwnResponse): ConditionedResult {
    const { facts } = own;
    // The faults of the run come first.
    const fired = fireDue(sandbox, call, facts);
    if (fired !== undefined) {
      // Read before the fault's result: it goes by the counts of requests as they are now, and a fault that only delays counts this one.
      const replaced = facts.expectedOutcome();
      return { result: resultOfFault(sandbox, call, fired), effect: { replaced } };
    }

    if (replacer === undefined) return { result: own.respond() };
    return replacer.resultOf(sandbox, call, own);
  }

  return {
    profile,
    hidesOutcomes: hidesOutcomes(conditions),
    rows,
    takeVariantShift: startMixing(mixed),
    resultOf(sandbox, call, own) {
      const { result, effect } = conditionedResult(sandbox, call, own);
      return { ...result, trace: traceOf(sandbox, result, effect) };
    },
  };
}

/** What the run shows with a call. */
function traceOf(
  sandbox: SandboxState,
  { points = [] }: CallResult,
  { replaced, afterRejection }: ConditionEffect = {},
): RunTrace {
  return {
    replaced,
    afterRejection,
    points,
    scenario: sandbox.name,
    // Of the assumptions that the sandbox sets itself, those that the run would vary.
    ownAssumptions: assumptionsKeptFromVarying(sandbox),
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
