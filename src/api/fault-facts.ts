import { type ApiOutcomeId, isSuccess } from "../rules/outcomes.js";
import type { RoutedCall } from "../sandbox/api-call.js";
import type { FaultFacts } from "../sandbox/fire-faults.js";

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
      // Each error has a body. Of successes, only some endpoints' have none.
      if (endpoint === undefined || endpoint.hasBody) return true;
      return !isSuccess(expectedOutcome());
    },
  };
}
