import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { nameOf } from "./checks/check.js";
import {
  heldResult,
  type Judgment,
  mergeJudgments,
  type ResultOfCheck,
  singleCheck,
} from "./checks/judgment.js";
import { isWanted } from "./checks/plan.js";
import { resultOfPass, wrongAnswerRun } from "./client-runs/client-run.js";
import { againWithOnly } from "./client-runs/finding-parts.js";
import { type Runs, timesToNotice, unlessStopped } from "./client-runs/runs.js";

/** Gives each covered outcome the wrong answer, which the command must notice. */
export async function judgeAnswers(runs: Runs): Promise<Judgment> {
  const wanted = runs.outcomesToJudge.filter((outcome) => isWanted(runs.plan, { kind: "answer", outcome }));
  const times = timesToNotice(wanted);
  const judged = wanted.map((outcome) => judgeAnswer(runs, outcome, times));
  return mergeJudgments(await Promise.all(judged));
}

async function judgeAnswer(runs: Runs, outcome: OutcomeId, times: number): Promise<Judgment> {
  const check = { kind: "answer", outcome } as const;
  const result = await unlessStopped(resultOfAnswer(runs, outcome, times));
  if (result.kind !== "failed") return singleCheck(check, result);

  const name = nameOf(check);
  const { status, when } = outcomeRow(outcome);
  const wrong = isSuccess(outcome) ? "401" : "200";
  return singleCheck(check, result, {
    name,
    sentence: `Passes with the wrong answer: ${wrong} in place of ${status} for ${when} (3 of 3 runs)`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againWithOnly(runs.plan, [name]),
    runs: [name],
  });
}

/** If the wrong answer to its first request is not noticed, each of its requests gets it: one test may not look. */
async function resultOfAnswer(runs: Runs, outcome: OutcomeId, times: number): Promise<ResultOfCheck> {
  if (await runs.isNoticed(wrongAnswerRun("first", outcome), times)) return heldResult;
  const toEach = wrongAnswerRun("each", outcome);
  if (await runs.isNoticed(toEach, times)) return heldResult;

  const run = await runs.makeOnce(toEach);
  const shown = resultOfPass(runs.plain, run, "replaced");
  if (shown.kind === "not_judged") return shown;
  const seen = `the command passes with a wrong answer to each request that ends on ${outcome}`;
  return runs.judgeAgainst(toEach.purpose, run, ({ result }) => result === "passed", seen);
}
