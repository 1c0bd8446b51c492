import { faultyResult } from "../api/fault-responses.js";
import { cachedBy } from "../rules/cached-by.js";
import { isIdempotent } from "../rules/fault-effects.js";
import type { OutcomeId } from "../rules/outcomes.js";
import {
  type ActiveFault,
  activateFaults,
  type FaultFacts,
  type FiredFault,
  fireFault,
} from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { ConditionedRun, SandboxState, Service } from "../sandbox/sandbox-state.js";
import type { RunConditions } from "./conditions.js";
import { Refusals } from "./refusals.js";
import { startAnswering } from "./wrong-answers.js";

/** Returns whether it is the first claim of this name in the whole run. */
type ClaimOnce = (name: string) => boolean;

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
  const { profile, rows, mixed, answer, refusal } = conditions;
  const fire = startFaults(conditions, claim);
  const refusals = refusal && new Refusals(refusal, claim);
  const answerWrongly = startAnswering(answer, claim);
  /** The run's fault or refusal; `undefined` if the service responds. */
  const failureOf = (sandbox: SandboxState, call: ApiCall, { facts, fault }: Service) => {
    const fired = fire(sandbox, call, facts);
    if (fired !== undefined) {
      // Before a late response, which counts the request.
      markHit(call, facts.expectedOutcome());
      return faultyResult(sandbox, call, fired, true);
    }
    if (refusals === undefined || fault !== undefined) return undefined;
    const refused = refusals.refuse(sandbox, call, facts.expectedOutcome());
    if (refused !== undefined) markHit(call, facts.expectedOutcome());
    return refused;
  };
  return {
    profile,
    hidesCauses: (answer ?? refusal) !== undefined,
    rows,
    shiftOf: startMixing(mixed),
    intercept(sandbox, call, service) {
      const result = failureOf(sandbox, call, service) ?? service.respond();
      const wrong = answerWrongly(sandbox, call, result);
      if (wrong === undefined) return result;
      markHit(call, result.outcome);
      // Nobody gets the response that varied.
      call.trace?.points.splice(0);
      return wrong;
    },
  };
}

function markHit({ trace }: ApiCall, outcome: OutcomeId): void {
  if (trace !== undefined) trace.hit = outcome;
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

/** Returns the fault of the run that hits a call. */
type FireFault = (sandbox: SandboxState, call: ApiCall, facts: FaultFacts) => FiredFault | undefined;

/** Starts the faults of a run, which count their requests again with each start of a scenario. */
function startFaults({ faults = [], once }: RunConditions, claim: ClaimOnce): FireFault {
  const faultsIn = cachedBy(
    (_registry: SandboxState["registry"], { seed, startedAt }: SandboxState): readonly ActiveFault[] =>
      activateFaults(faults, seed, startedAt),
  );
  return (sandbox, call, facts) => {
    if (faults.length === 0) return undefined;
    if (once !== undefined) {
      const { method } = call.request;
      // A response to HEAD has no body that could break.
      const isMeant = isIdempotent(method) && method !== "HEAD" && facts.expectedOutcome() === once.outcome;
      if (!isMeant || !claim("fault")) return undefined;
    }
    return fireFault(faultsIn(sandbox.registry, sandbox), call.number, facts);
  };
}
