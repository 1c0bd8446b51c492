import { isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { Finding } from "./certificate.js";
import type { Client } from "./client.js";
import {
  checkOf,
  failedCheck,
  heldCheck,
  type Judgment,
  judgment,
  type NotJudged,
  notJudged,
} from "./judgment.js";
import { againWith, type CertifyPlan, isWanted, minPasses } from "./plan.js";
import { notMade, type Reason, tooLate, whyNotJudged } from "./run.js";

/** Whether the command fails when an outcome has the wrong answer: already once, or only always. */
type Answer = { readonly is: "noticed once" | "noticed" | "unnoticed" } | NotJudged;

/** Breaks an outcome: first its first request alone, which shows whether a test uses that one, and then all of them. */
export async function answerOn(client: Client, outcome: OutcomeId): Promise<Answer> {
  const name = `answer.${outcome}`;
  const isAllowed = client.plan.allow.includes(outcome);
  const once = isAllowed ? undefined : await client.run(name, { answer: { outcome, once: true } });
  if (once?.result === "failed" && once.hits > 0) return { is: "noticed once" };
  const run = await client.run(name, { answer: { outcome } });
  if (run === undefined) return notJudged(notMade);
  if (run.result === "timed_out") return notJudged(tooLate);
  if (run.result === "failed" && run.hits > 0) return { is: "noticed" };
  const reason = whyNotJudged(run.hits === 0 ? { sent: [] } : client.plain, run, "hit");
  return reason === undefined ? { is: "unnoticed" } : notJudged(reason);
}

/** Whether the command passes when one request with this outcome gets a 404, which no client keeps as an accepted response. */
export async function survives404(client: Client, outcome: OutcomeId): Promise<boolean> {
  const answer = { outcome, once: true, as: "404.unknown_path" } as const;
  for (let time = 1; time <= minPasses; time++) {
    const run = await client.run(`answer.${outcome}`, { answer }, { time });
    if (run?.result !== "failed") return true;
  }
  return false;
}

/** The command must notice a wrong answer on each covered outcome. */
export function judgeAnswers(client: Client): Promise<Judgment[]> {
  const { plan } = client;
  const judge = async (outcome: OutcomeId): Promise<Judgment> => {
    const name = `answer.${outcome}`;
    const answer = await answerOn(client, outcome);
    if (answer.is === "noticed" || answer.is === "noticed once") return heldCheck(name);
    if (plan.allow.includes(outcome)) return judgment([checkOf(name, { is: "allowed" })]);
    return answer.is === "not judged"
      ? judgment([checkOf(name, answer)])
      : failedCheck(name, unnoticed(outcome, plan));
  };
  return Promise.all(answersAsked(client).map(judge));
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
export async function whyHidden(client: Client): Promise<Reason | undefined> {
  let count = 0;
  for (const outcome of client.covered.filter((one) => [401, 403].includes(outcomeOf(one).status))) {
    const { is } = await answerOn(client, outcome);
    if (is === "noticed") return repeats(outcome, 200);
    count += is === "noticed once" ? 1 : 0;
    if (count === maxNoticed) return undefined;
  }
  if (count > 0) return undefined;
  return {
    why: "the command fails in no run where a rejected key is accepted",
    whatToDo: "Make a test fail when a rejected key is accepted.",
  };
}

/** Why a failure that comes once stays unseen: the command has passed with one such response. */
export function repeats(outcome: OutcomeId, instead: 200 | 404): Reason {
  const { status, when } = outcomeOf(outcome);
  return {
    why: `the command also passes when it gets ${instead} once in place of ${status} for ${when}`,
    whatToDo:
      "Turn off what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
  };
}
