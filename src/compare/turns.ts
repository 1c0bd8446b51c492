import type { PromisedOutcomeId } from "../rules/outcomes.js";
import type { Contrast } from "./contrasts.js";

/** The requests of a turn: the usual cause, then the suspects and their baselines. */
interface SuspectTurn {
  /** So many more requests for the usual cause come first. */
  readonly more: number;
  readonly order: "forward" | "reversed";
}

/**
 * A balancer that gives requests to its nodes in turn must not give a suspect a node each time that its baseline never
 * gets: so each turn is one request longer than the one before, and the suspects are reversed every other time. In the
 * order forward, reversed, reversed, forward, two suspects would meet one of seven nodes in each turn.
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
  const [usual] = baselines;
  if (usual === undefined) return [];

  const suspects = [...new Set(contrasts.map(({ cause }) => cause))];
  if (order === "reversed") suspects.reverse();
  const usualFirst = new Array<PromisedOutcomeId>(more).fill(usual);
  // The baselines come twice in a row: a balancer that alternates gives them different nodes.
  return [...usualFirst, ...baselines, ...baselines, ...suspects, ...baselines];
}

/** The number of requests in these turns, if all contrasts stay. */
export function countTurnRequests(planned: readonly SuspectTurn[], contrasts: readonly Contrast[]): number {
  let count = 0;
  for (const turn of planned) count += planTurn(turn, contrasts).length;
  return count;
}
