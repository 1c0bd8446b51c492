import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { RunConditions, WhichRequest } from "../runs/conditions.js";
import type { ClientRun } from "./client-run.js";
import {
  failedResult,
  heldResult,
  type Judgment,
  mergeJudgments,
  notJudged,
  runNotMade,
  runTooLate,
  singleCheck,
} from "./judgment.js";
import { whyRunShowsNothing } from "./not-judged.js";
import { againCommand, type CertifyPlan, isWanted } from "./plan.js";
import type { Runs } from "./runs.js";

/** Gives each covered outcome the wrong answer, which the command must notice. */
export async function judgeAnswers(runs: Runs): Promise<Judgment> {
  const outcomes = runs.covered.filter((outcome) => isWanted(runs.plan, `answer.${outcome}`));
  return mergeJudgments(await Promise.all(outcomes.map((outcome) => judgeAnswer(runs, outcome))));
}

/** Whether {@link runFirstWrongAnswer} is made for this outcome anyway: a part that only reads it must not add a run. */
export function isAnswerWanted(plan: Pick<CertifyPlan, "only" | "allow">, outcome: OutcomeId): boolean {
  return isWanted(plan, `answer.${outcome}`) && !plan.allow.includes(outcome);
}

/** Makes the run in which only the first request with this outcome gets the wrong answer. Resends and faults read it, too. */
export function runFirstWrongAnswer(runs: Runs, outcome: OutcomeId): Promise<ClientRun | undefined> {
  return runs.make(`answer.${outcome}`, wrongAnswerTo({ kind: "first", outcome }));
}

/** The wrong answer is a 401 in place of a success, and a 200 in place of a rejection. */
function wrongAnswerTo(which: WhichRequest): RunConditions {
  return { onRequest: { which, gets: { kind: "wrong_answer" } } };
}

/** Whether the command failed because of what the run put in place of a response. */
export function isNoticed({ result, replacedCount }: ClientRun): boolean {
  return result === "failed" && replacedCount > 0;
}

/** Judges one outcome. If the wrong answer to its first request is not noticed, each of its requests gets it: one test may not look. */
async function judgeAnswer(runs: Runs, outcome: OutcomeId): Promise<Judgment> {
  const name = `answer.${outcome}`;
  const { plain, plan } = runs;
  const isAllowed = plan.allow.includes(outcome);

  // If the client may survive it, only the stronger form is tried: each request gets it.
  let run = isAllowed ? undefined : await runFirstWrongAnswer(runs, outcome);
  if (run === undefined || !isNoticed(run))
    run = await runs.make(name, wrongAnswerTo({ kind: "each", outcome }));
  if (run === undefined) return singleCheck(name, notJudged(runNotMade));

  if (isNoticed(run)) {
    const unsure = await runs.whyFailureMayBeChance(run);
    return singleCheck(name, unsure === undefined ? heldResult : notJudged(unsure));
  }
  if (isAllowed) return singleCheck(name, { kind: "allowed" });
  if (run.result === "timed_out") return singleCheck(name, notJudged(runTooLate));
  const reason = whyRunShowsNothing(plain, run, "replaced");
  if (reason !== undefined) return singleCheck(name, notJudged(reason));

  const { status, when } = outcomeRow(outcome);
  const wrong = isSuccess(outcome) ? "401" : "200";
  return singleCheck(name, failedResult, {
    name,
    sentence: `Passes with the wrong answer: ${wrong} in place of ${status} for ${when}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againCommand(plan, "certify", "--only", name),
    runs: [name],
  });
}
