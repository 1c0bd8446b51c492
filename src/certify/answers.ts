import { isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { Finding } from "./certificate.js";
import {
  type Answer,
  type Context,
  checkOf,
  failedCheck,
  heldCheck,
  type Judgment,
  judgment,
  notJudgedCheck,
  type Runs,
} from "./context.js";
import { againWith, type CertifyPlan, isWanted, minPasses } from "./plan.js";
import { type ClientRun, notMade, type Reason, tooLate, whyNotJudged } from "./run.js";

/** Breaks an outcome: first its first request alone, which shows whether a test uses that one, and then all of them. */
export function createAnswers(
  plan: CertifyPlan,
  runs: Runs,
  plain: ClientRun,
): Pick<Context, "answerOn" | "survives404"> {
  const answerOn = keptByOutcome(async (outcome): Promise<Answer> => {
    const name = `answer.${outcome}`;
    const isAllowed = plan.allow.includes(outcome);
    const once = isAllowed ? undefined : await runs.make(name, { answer: { outcome, once: true } });
    if (once?.result === "failed" && once.hits > 0) return { kind: "noticed once" };
    const run = await runs.make(name, { answer: { outcome } });
    if (run === undefined) return { kind: "not judged", reason: notMade };
    if (run.result === "timed_out") return { kind: "not judged", reason: tooLate };
    if (run.result === "failed" && run.hits > 0) return { kind: "noticed" };
    const reason = whyNotJudged(run.hits === 0 ? { sent: [] } : plain, run, "hit");
    return reason === undefined ? { kind: "unnoticed" } : { kind: "not judged", reason };
  });
  const survives404 = keptByOutcome(async (outcome) => {
    for (let left = minPasses; left > 0; left--) {
      const run = await runs.make(`answer.${outcome}`, {
        answer: { outcome, once: true, as: "404.unknown_path" },
      });
      if (run?.result !== "failed") return true;
    }
    return false;
  });
  return { answerOn, survives404 };
}

/** Makes the runs of each outcome once. */
function keptByOutcome<Result>(
  make: (outcome: OutcomeId) => Promise<Result>,
): (outcome: OutcomeId) => Promise<Result> {
  const results = new Map<OutcomeId, Promise<Result>>();
  return (outcome) => {
    const result = results.get(outcome) ?? make(outcome);
    results.set(outcome, result);
    return result;
  };
}

/** The command must notice a wrong answer on each covered outcome. */
export async function judgeAnswers({ plan, covered, answerOn }: Context): Promise<Judgment[]> {
  const judge = async (outcome: OutcomeId): Promise<Judgment> => {
    const name = `answer.${outcome}`;
    const answer = await answerOn(outcome);
    const isNoticed = answer.kind === "noticed" || answer.kind === "noticed once";
    if (!isNoticed && plan.allow.includes(outcome)) return judgment([checkOf(name, { is: "allowed" })]);
    if (answer.kind === "not judged") return notJudgedCheck(name, answer.reason);
    if (isNoticed) return heldCheck(name);
    return failedCheck(name, unnoticed(outcome, plan));
  };
  return Promise.all(covered.filter((outcome) => isWanted(plan, `answer.${outcome}`)).map(judge));
}

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

/** A command must fail when a rejected key is accepted once, on up to three outcomes, or something repeats what fails. */
export async function whyUnnoticed(
  covered: readonly OutcomeId[],
  answerOn: Context["answerOn"],
): Promise<Reason | undefined> {
  let count = 0;
  for (const outcome of covered.filter((outcome) => [401, 403].includes(outcomeOf(outcome).status))) {
    const { kind } = await answerOn(outcome);
    if (kind === "noticed") return repeats(outcome, 200);
    count += kind === "noticed once" ? 1 : 0;
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
