import { type FaultOutcomeId, faultOutcomeId } from "../rules/fault-effects.js";
import { type ApiOutcomeId, isSuccess } from "../rules/outcomes.js";
import type { RoutedCall } from "../sandbox/api-call.js";
import { effectsAhead, type FaultFacts } from "../sandbox/fire-faults.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

/** The part of a call that faults can match. */
type MatchedCall = Pick<RoutedCall, "entry" | "endpoint" | "now">;

/** What faults see of a call. `findOutcome` is called once, and only if a fault asks for the outcome. */
export function faultFacts(
  { entry, endpoint, now }: MatchedCall,
  method: string | undefined,
  findOutcome: () => ApiOutcomeId,
): FaultFacts {
  let foundOutcome: ApiOutcomeId | undefined;
  function expectedOutcome(): ApiOutcomeId {
    foundOutcome ??= findOutcome();
    return foundOutcome;
  }

  function hasUsualBody(): boolean {
    // Each error has a body: also the 404 or 405 of a call without an endpoint.
    if (endpoint === undefined || endpoint.hasBody) return true;
    // The endpoint's success has none, such as a 204. The endpoint's checks may still reject the call.
    const isError = !isSuccess(expectedOutcome());
    return isError;
  }

  return {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now,
    expectedOutcome,
    isHead: method === "HEAD",
    hasUsualBody,
  };
}

/** A fault that may hit requests that are still to come. */
interface FaultAhead {
  readonly outcome: FaultOutcomeId;
  /** Whether it hits each of them that no fault before it hits. */
  readonly isCertain: boolean;
}

/**
 * The faults that may hit a request with this outcome, the next one or a later one like it: `every: 2` hits the second. The list
 * ends at a certain fault, because none after it gets its turn.
 */
export function faultsAhead(
  sandbox: SandboxState,
  call: MatchedCall,
  method: string | undefined,
  outcome: ApiOutcomeId,
): FaultAhead[] {
  const facts = faultFacts(call, method, () => outcome);
  const effects = effectsAhead(sandbox.faults, facts);
  return effects.map(({ effect, isCertain }) => ({ outcome: faultOutcomeId(effect), isCertain }));
}
