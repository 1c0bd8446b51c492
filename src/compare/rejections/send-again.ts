import { outcomeRow } from "../../rules/outcomes.js";
import type { PromisedOutcomeId, WhyByOutcome } from "../contract/promised-outcome.js";
import { type Attempt, describeAttempt } from "../sending/attempt.js";
import { repeatAttempt } from "../sending/send-attempt.js";
import type { Session } from "../sending/session.js";
import { type Contrast, findContrasts, findRemaining } from "./contrasts.js";
import { tabulateRejections } from "./rejection-table.js";
import { allTurns, countTurnRequests, planTurn } from "./turns.js";

/** What came of sending the causes of 401 again. */
export interface RepeatedRejections {
  /** All attempts until then. Later ones, such as the controls of a limit, are not compared with each other. */
  readonly attempts: readonly Attempt[];
  /** Why causes have no two 401s, or no other cause to be compared with. */
  readonly whyNotInTable: WhyByOutcome;
  readonly turns: SentTurns;
}

/** The contrasts that remain after the turns. If not all turns could be sent, each can come from one node. */
export type SentTurns =
  | { readonly kind: "all_sent"; readonly contrasts: readonly Contrast[] }
  | { readonly kind: "broken_off"; readonly contrasts: readonly Contrast[]; readonly why: string };

/** Sends each cause of 401 a second time, and then the suspects in turns. */
export async function sendRejectionsAgain(session: Session): Promise<RepeatedRejections> {
  const firstRequests = firstRequestsOfCauses(session.attempts);
  const whyNotInTable = await sendSecondRound(session, firstRequests);
  const table = tabulateRejections(session.attempts);
  if (table.causes.length === 1) {
    for (const cause of table.causes) whyNotInTable.set(cause, "no other cause has two 401s");
  }
  const turns = await sendTurns(session, firstRequests, findContrasts(table));
  return { attempts: [...session.attempts], whyNotInTable, turns };
}

/** The first request of each cause. */
type FirstRequests = ReadonlyMap<PromisedOutcomeId, Attempt>;

/** Finds the first request of each cause, without the requests that met a limit that was waited for, and their controls. */
function firstRequestsOfCauses(attempts: readonly Attempt[]): FirstRequests {
  const firstRequests = new Map<PromisedOutcomeId, Attempt>();
  for (const attempt of attempts) {
    const { outcome, evidence } = attempt;
    if (outcomeRow(outcome).status !== 401 || evidence.kind === "waited_for") continue;
    if (!firstRequests.has(outcome)) firstRequests.set(outcome, attempt);
  }
  return firstRequests;
}

/** Sends each cause that got a 401 again. Returns why causes have no two 401s. */
async function sendSecondRound(
  session: Session,
  firstRequests: FirstRequests,
): Promise<Map<PromisedOutcomeId, string>> {
  const whyByCause = new Map<PromisedOutcomeId, string>();
  const rejected: Attempt[] = [];
  for (const [cause, attempt] of firstRequests) {
    if (attempt.response?.status === 401) rejected.push(attempt);
    else whyByCause.set(cause, `the first request got ${describeAttempt(attempt)}`);
  }

  // All causes with a 401 are sent again, or none.
  const permission = session.mayStillSend(rejected.length);
  for (const attempt of rejected) {
    if (permission.kind === "refused") {
      whyByCause.set(attempt.outcome, permission.why);
      continue;
    }
    const second = await repeatAttempt(session, attempt);
    if (second.kind === "not_sent") {
      whyByCause.set(attempt.outcome, second.why);
    } else if (second.attempt.response?.status !== 401) {
      whyByCause.set(attempt.outcome, `the second request got ${describeAttempt(second.attempt)}`);
    }
  }
  return whyByCause;
}

/** Sends the suspects and their baselines in turns. After each turn, only the contrasts that remain go on. */
async function sendTurns(
  session: Session,
  firstRequests: FirstRequests,
  contrastsOfRounds: readonly Contrast[],
): Promise<SentTurns> {
  const { budget } = session;
  let contrasts = contrastsOfRounds;
  for (const [index, turn] of allTurns.entries()) {
    const { progress } = session;
    if (progress.kind !== "running") return { kind: "broken_off", contrasts, why: progress.why };

    // A turn is sent whole, or not at all. What is missing is told for all turns that are left.
    const causes = planTurn(turn, contrasts);
    if (causes.length > budget.left) {
      const count = countTurnRequests(allTurns.slice(index), contrasts);
      return { kind: "broken_off", contrasts, why: budget.describeLack(count) };
    }

    const sent = await sendTurn(session, firstRequests, causes);
    contrasts = findRemaining(contrasts, tabulateRejections(session.attempts));
    if (sent.kind === "broken_off") return { kind: "broken_off", contrasts, why: sent.why };
  }
  return { kind: "all_sent", contrasts };
}

type TurnEnd = { readonly kind: "all_sent" } | { readonly kind: "broken_off"; readonly why: string };

/** Sends these causes, until a request cannot be sent. */
async function sendTurn(
  session: Session,
  firstRequests: FirstRequests,
  causes: readonly PromisedOutcomeId[],
): Promise<TurnEnd> {
  for (const cause of causes) {
    const first = firstRequests.get(cause);
    if (first === undefined) continue;
    const result = await repeatAttempt(session, first);
    if (result.kind === "not_sent") return { kind: "broken_off", why: result.why };
  }
  return { kind: "all_sent" };
}
