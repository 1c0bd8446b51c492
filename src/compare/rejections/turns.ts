import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import type { Contrast } from "./contrasts.js";

/** The requests of a turn: more for the first baseline, then the suspects between their baselines. */
interface SuspectTurn {
  /** So many more requests for the first baseline come first. */
  readonly more: number;
  readonly order: "forward" | "reversed";
}

/**
 * The turns differ because a balancer may give its requests to its nodes in turn. If all turns were alike, a suspect could
 * meet one node each time, and its baseline never: the node's own words would look like those of the suspect. So each turn is
 * one request longer than the one before, and every other one has the suspects in the reversed order. Forward, reversed,
 * reversed, forward is not enough: of seven nodes, two suspects would meet the same one in each turn.
 */
export const turns: readonly SuspectTurn[] = [
  { more: 0, order: "forward" },
  { more: 1, order: "reversed" },
  { more: 2, order: "forward" },
  { more: 3, order: "reversed" },
];

/** Returns the causes to send in a turn, in their order; none if no contrast is left. */
export function planTurn({ more, order }: SuspectTurn, contrasts: readonly Contrast[]): PromisedOutcomeId[] {
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline))];
  const [firstBaseline] = baselines;
  if (firstBaseline === undefined) return [];

  const suspects = [...new Set(contrasts.map(({ cause }) => cause))];
  if (order === "reversed") suspects.reverse();
  const moreFirst = new Array<PromisedOutcomeId>(more).fill(firstBaseline);
  // The baselines come twice in a row: a balancer that alternates gives them different nodes.
  return [...moreFirst, ...baselines, ...baselines, ...suspects, ...baselines];
}

/** The number of requests in these turns, if all contrasts stay. */
export function countTurnRequests(planned: readonly SuspectTurn[], contrasts: readonly Contrast[]): number {
  let count = 0;
  for (const turn of planned) count += planTurn(turn, contrasts).length;
  return count;
}
