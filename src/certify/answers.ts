import { cachedBy } from "../rules/cached-by.js";
import { isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { Client } from "./client.js";
import {
  type Finding,
  failed,
  held,
  type Judgment,
  joined,
  judged,
  type NotJudged,
  notJudged,
  notMade,
  type Reason,
  tooLate,
} from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, type CertifyPlan, isWanted, minPasses } from "./plan.js";

/** Whether the command fails when an outcome has the wrong answer: already once, or only always. */
type Notice = { readonly kind: "noticed_once" | "noticed" | "unnoticed" } | NotJudged;

/** The run in which only the first request with an outcome gets the wrong answer. */
export const firstWrong = (client: Client, outcome: OutcomeId) =>
  client.run(`answer.${outcome}`, { answer: { outcome, once: true } });

/** Breaks an outcome: first its first request alone, which shows whether a test uses that one, and then all of them. */
export async function noticeOf(client: Client, outcome: OutcomeId): Promise<Notice> {
  const name = `answer.${outcome}`;
  const isAllowed = client.plan.allow.includes(outcome);
  const once = isAllowed ? undefined : await firstWrong(client, outcome);
  if (once?.result === "failed" && once.hits > 0) return { kind: "noticed_once" };
  const run = await client.run(name, { answer: { outcome } });
  if (run === undefined) return notJudged(notMade);
  if (run.result === "timed_out") return notJudged(tooLate);
  if (run.result === "failed" && run.hits > 0) return { kind: "noticed" };
  const reason = whyNotJudged(run.hits === 0 ? { sent: [] } : client.plain, run, "hit");
  return reason === undefined ? { kind: "unnoticed" } : notJudged(reason);
}

/** Whether the command passes when one request with this outcome gets a 404, which no client keeps as an accepted response. */
export async function survives404(client: Client, outcome: OutcomeId): Promise<boolean> {
  const answer = { outcome, once: true, as: "404.unknown_path" } as const;
  for (let time = 1; time <= minPasses; time++) {
    const run = await client.run(`answer.${outcome}`, { answer }, { time });
    if (run?.result !== "failed") return run !== undefined;
  }
  return false;
}

/** The command must notice a wrong answer on each covered outcome. */
export async function judgeAnswers(client: Client): Promise<Judgment> {
  const { plan } = client;
  const judge = async (outcome: OutcomeId): Promise<Judgment> => {
    const name = `answer.${outcome}`;
    const notice = await noticeOf(client, outcome);
    if (notice.kind === "noticed" || notice.kind === "noticed_once") return judged(name, held);
    const isMade = notice.kind !== "not_judged" || notice.reason !== notMade;
    if (isMade && plan.allow.includes(outcome)) return judged(name, { kind: "allowed" });
    if (notice.kind === "not_judged") return judged(name, notice);
    return judged(name, failed, unnoticed(outcome, plan));
  };
  return joined(await Promise.all(answersAsked(client).map(judge)));
}

export const answersAsked = ({ plan, covered }: Client) =>
  covered.filter((outcome) => isWanted(plan, `answer.${outcome}`));

function unnoticed(outcome: OutcomeId, plan: CertifyPlan): Finding {
  const { status, when } = outcomeOf(outcome);
  const name = `answer.${outcome}`;
  const instead = isSuccess(outcome) ? "401" : "200";
  return {
    name,
    sentence: `Passes with the wrong answer: ${instead} in place of ${status} for ${when}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againWith(plan, "certify", "--only", name),
    runs: [name],
  };
}

const maxNoticed = 3;

/** Why a failure that comes only once may not show: a command must fail when a rejected key is accepted once, on up to three outcomes. */
export const whyHidden = cachedBy(async (client: Client): Promise<Reason | undefined> => {
  let count = 0;
  for (const outcome of client.covered.filter((one) => [401, 403].includes(outcomeOf(one).status))) {
    const notice = await noticeOf(client, outcome);
    if (notice.kind === "not_judged" && notice.reason === notMade) return notMade;
    if (notice.kind === "noticed") return repeats(outcome, 200);
    count += notice.kind === "noticed_once" ? 1 : 0;
    if (count === maxNoticed) return undefined;
  }
  if (count > 0) return undefined;
  return {
    why: "the command fails in no run where a rejected key is accepted",
    whatToDo: "Make a test fail when a rejected key is accepted.",
  };
});

/** Why a failure that comes once stays unseen: the command has passed with one such response. */
export function repeats(outcome: OutcomeId, instead: 200 | 404): Reason {
  const { status, when } = outcomeOf(outcome);
  return {
    why: `the command also passes when it gets ${instead} once in place of ${status} for ${when}`,
    whatToDo:
      "Turn off what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
  };
}
