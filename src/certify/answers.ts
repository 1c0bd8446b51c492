import { isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { RunConditions, WhichRequest } from "../runs/conditions.js";
import type { ClientRun } from "./client-run.js";
import { failed, held, type Judgment, joined, judged, notJudged, notMade, tooLate } from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, type CertifyPlan, isWanted } from "./plan.js";
import type { Runs } from "./runs.js";

/** Gives each covered outcome the wrong answer, which the command must notice. */
export async function judgeAnswers(runs: Runs): Promise<Judgment> {
  const outcomes = runs.covered.filter((outcome) => isWanted(runs.plan, `answer.${outcome}`));
  return joined(await Promise.all(outcomes.map((outcome) => judgeAnswer(runs, outcome))));
}

/** Whether a run gives the first request with this outcome the wrong answer. */
export function isAnswerWanted(plan: Pick<CertifyPlan, "only" | "allow">, outcome: OutcomeId): boolean {
  return isWanted(plan, `answer.${outcome}`) && !plan.allow.includes(outcome);
}

/** The run in which only the first request with this outcome gets the wrong answer: faults read it, too. */
export function firstWrong(runs: Runs, outcome: OutcomeId): Promise<ClientRun | undefined> {
  return runs.make(`answer.${outcome}`, wrongAnswerTo({ kind: "first", outcome }));
}

function wrongAnswerTo(which: WhichRequest): RunConditions {
  return { onRequest: { which, gets: { kind: "wrong_answer" } } };
}

export function isNoticed({ result, replacedCount }: ClientRun): boolean {
  return result === "failed" && replacedCount > 0;
}

/** If the wrong answer to the first request is not noticed, or if that is allowed, each request gets it. */
async function judgeAnswer(runs: Runs, outcome: OutcomeId): Promise<Judgment> {
  const name = `answer.${outcome}`;
  const { plain, plan } = runs;
  const isAllowed = plan.allow.includes(outcome);
  let run = isAllowed ? undefined : await firstWrong(runs, outcome);
  if (run === undefined || !isNoticed(run))
    run = await runs.make(name, wrongAnswerTo({ kind: "each", outcome }));
  if (run === undefined) return judged(name, notJudged(notMade));

  if (isNoticed(run)) {
    const unsure = await runs.whyUnsure(run);
    return judged(name, unsure === undefined ? held : notJudged(unsure));
  }
  if (isAllowed) return judged(name, { kind: "allowed" });
  if (run.result === "timed_out") return judged(name, notJudged(tooLate));
  const reason = whyNotJudged(plain, run, "replaced");
  if (reason !== undefined) return judged(name, notJudged(reason));

  const { status, when } = outcomeOf(outcome);
  const wrong = isSuccess(outcome) ? "401" : "200";
  return judged(name, failed, {
    name,
    sentence: `Passes with the wrong answer: ${wrong} in place of ${status} for ${when}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againWith(plan, "certify", "--only", name),
    runs: [name],
  });
}
