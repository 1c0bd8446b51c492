import { endpointsIn } from "../api/endpoints.js";
import { isSuccess, type Outcome, type OutcomeId, outcomeRow, outcomes } from "../rules/outcomes.js";
import { type Endpoint, successOutcomesOf } from "../sandbox/call.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** The outcomes that a client of a scenario can be expected to cover: the promised ones, and the successes of its endpoints. */
export function outcomesToCover(scenario: Pick<Scenario, "endpoints">): OutcomeId[] {
  const rows = allOutcomesOf(endpointsIn(scenario));
  return rows.filter(({ id, promised }) => promised || isSuccess(id)).map(({ id }) => id);
}

/** The rows of all outcomes of these endpoints: their successes, of which those of announced endpoints are not promised, then the rejections and faults. */
export function allOutcomesOf(endpoints: readonly Endpoint[]): readonly Outcome[] {
  const successes = endpoints.flatMap(successOutcomesOf).map(outcomeRow);
  return [...successes, ...outcomes.filter(({ id }) => !isSuccess(id))];
}
