import { outcomeRow } from "../../rules/outcomes.js";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { type Attempt, completedWith, describeAttempt } from "../sending/attempt.js";
import { repeatAttempt } from "../sending/send-attempt.js";
import type { SendResult, Session } from "../sending/session.js";
import { type Contrast, findContrasts, findRemaining } from "./contrasts.js";
import { tabulateRejections } from "./rejection-table.js";
import { allTurns, countTurnRequests, planTurn } from "./turns.js";

/** Why causes of 401 are not compared with each other. */
export type WhyByCause = ReadonlyMap<PromisedOutcomeId, string>;

/** What came of sending the causes of 401 again. */
export interface SentAgain {
  /** All attempts until then. Later ones, such as the controls of a limit, are not compared with each other. */
  readonly attempts: readonly Attempt[];
  /** Why causes have no two 401s, or no other cause to be compared with. */
  readonly afterRounds: WhyByCause;
  readonly turns: SentTurns;
}

/** The contrasts that remain after the turns. If not all turns could be sent, each can come from one node. */
export type SentTurns =
  | { readonly kind: "all_sent"; readonly contrasts: readonly Contrast[] }
  | { readonly kind: "broken_off"; readonly contrasts: readonly Contrast[]; readonly why: string };

/** Sends each cause of 401 a second time, and then the suspects in turns. */
export async function sendRejectionsAgain(session: Session): Promise<SentAgain> {
  const afterRounds = await sendSecondRound(session);
  const suspected = findContrasts(tabulateRejections(session.attempts));
  const turns = await sendTurns(session, suspected);
  return { attempts: [...session.attempts], afterRounds, turns };
}

/** Sends each cause that got a 401 again. Returns why causes have no two 401s, or nothing to be compared with. */
async function sendSecondRound(session: Session): Promise<WhyByCause> {
  const whyByCause = new Map<PromisedOutcomeId, string>();
  const firsts = firstRequestsOfCauses(session.attempts);
  for (const attempt of firsts) {
    if (attempt.response?.status === 401) continue;
    whyByCause.set(attempt.outcome, `the first request got ${describeAttempt(attempt)}`);
  }

  // All causes with a 401 are sent again, or none.
  const rejected = completedWith(firsts, 401);
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

  const [only, ...others] = tabulateRejections(session.attempts).causes;
  if (only !== undefined && others.length === 0) whyByCause.set(only, "no other cause has two 401s");
  return whyByCause;
}

/** Returns the first request of each cause; a request that a limit was waited for is not its first. */
function firstRequestsOfCauses(attempts: readonly Attempt[]): Attempt[] {
  const firstByCause = new Map<PromisedOutcomeId, Attempt>();
  for (const attempt of attempts) {
    const { outcome, evidence } = attempt;
    if (outcomeRow(outcome).status !== 401 || evidence.kind === "earlier_limit") continue;
    if (!firstByCause.has(outcome)) firstByCause.set(outcome, attempt);
  }
  return [...firstByCause.values()];
}

/** Sends the suspects and their baselines in turns. After each turn, only the contrasts that remain go on. */
async function sendTurns(session: Session, suspected: readonly Contrast[]): Promise<SentTurns> {
  let contrasts = suspected;
  for (const [index, turn] of allTurns.entries()) {
    const causes = planTurn(turn, contrasts);
    const permission = session.mayStillSend(
      causes.length,
      countTurnRequests(allTurns.slice(index), contrasts),
    );
    if (permission.kind === "refused") return { kind: "broken_off", contrasts, why: permission.why };

    const results = await sendTurn(session, causes);
    contrasts = findRemaining(contrasts, tabulateRejections(session.attempts));
    const latest = results.at(-1);
    if (latest?.kind === "not_sent") return { kind: "broken_off", contrasts, why: latest.why };
  }
  return { kind: "all_sent", contrasts };
}

/** Sends these causes, until a request cannot be sent. */
async function sendTurn(session: Session, causes: readonly PromisedOutcomeId[]): Promise<SendResult[]> {
  const results: SendResult[] = [];
  for (const cause of causes) {
    const first = session.attempts.find(({ outcome }) => outcome === cause);
    if (first === undefined) continue;
    const result = await repeatAttempt(session, first);
    results.push(result);
    if (result.kind === "not_sent") break;
  }
  return results;
}
