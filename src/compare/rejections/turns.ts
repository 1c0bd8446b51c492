import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import type { Contrast } from "./contrasts.js";

// A balancer may give its requests to its nodes in turn. If all turns were alike, each request of a suspect could meet one
// node, and no request of its baseline could: the words of that node would look like those of the suspect. So the turns
// differ in two ways: each is one request longer than the turn before, and every second turn has the suspects in the reversed
// order. The unit test proves for up to 12 nodes that this is enough.

/** The requests of a turn: the first baseline alone, the baselines twice, the suspects, and the baselines again. */
interface SuspectTurn {
  /** How many times the first baseline is sent alone, before everything else. */
  readonly leadingBaselines: number;
  /** The order of the suspects. */
  readonly order: "forward" | "reversed";
}

export const allTurns: readonly SuspectTurn[] = [
  { leadingBaselines: 0, order: "forward" },
  { leadingBaselines: 1, order: "reversed" },
  { leadingBaselines: 2, order: "forward" },
  { leadingBaselines: 3, order: "reversed" },
];

/** Returns the causes to send in a turn, in their order; none if no contrast is left. */
export function planTurn(turn: SuspectTurn, contrasts: readonly Contrast[]): PromisedOutcomeId[] {
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline))];
  const [firstBaseline] = baselines;
  if (firstBaseline === undefined) return [];

  const suspects = [...new Set(contrasts.map(({ cause }) => cause))];
  if (turn.order === "reversed") suspects.reverse();
  const leading = new Array<PromisedOutcomeId>(turn.leadingBaselines).fill(firstBaseline);
  // The baselines come twice in a row: a balancer that alternates gives them different nodes.
  return [...leading, ...baselines, ...baselines, ...suspects, ...baselines];
}

/** The number of requests in these turns, if all contrasts stay. */
export function countTurnRequests(planned: readonly SuspectTurn[], contrasts: readonly Contrast[]): number {
  let count = 0;
  for (const turn of planned) count += planTurn(turn, contrasts).length;
  return count;
}
