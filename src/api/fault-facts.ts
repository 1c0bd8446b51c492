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
  let outcome: ApiOutcomeId | undefined;
  const expectedOutcome = () => {
    outcome ??= findOutcome();
    return outcome;
  };

  return {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now,
    expectedOutcome,
    isHead: method === "HEAD",
    hasUsualBody() {
      // The 404 or 405 of a call without an endpoint has a body, as each error does.
      if (endpoint === undefined) return true;
      // A success may have none, such as a 204. A rejection by the endpoint's checks is an error, too.
      return endpoint.hasBody || !isSuccess(expectedOutcome());
    },
  };
}

/** A fault that may hit requests that are still to come. */
interface FaultAhead {
  readonly outcome: FaultOutcomeId;
  /** Whether it hits each of them that no fault before it hits. */
  readonly isCertain: boolean;
}

/**
 * The faults that may hit a request with this outcome, the next one or a later one like it: `every: 2` hits the second. The first
 * that fires hits it, so that only the last can be certain.
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
