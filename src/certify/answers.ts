import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { nameOf } from "./checks/check.js";
import type { Finding, Judgment, ResultOfCheck } from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";
import { resultOfPass, wrongAnswerRun } from "./client-runs/client-run.js";
import { againWithOnly } from "./client-runs/finding-parts.js";
import { judgeEach, type Runs, timesToNotice } from "./client-runs/runs.js";

/** Gives each covered outcome the wrong answer, which the command must notice. */
export async function judgeAnswers(runs: Runs): Promise<Judgment> {
  const wanted = runs.checks.answer;
  const times = timesToNotice(wanted);
  const judged = await judgeEach(wanted, ({ outcome }) => judgeAnswer(runs, outcome, times));
  const problems: Finding[] = [];
  for (const { check, result } of judged) {
    if (result.kind === "failed") problems.push(answerProblem(check.outcome, runs.plan));
  }
  return { checks: judged, problems, notes: [] };
}

/** If the wrong answer to its first request is not noticed, each of its requests gets it: one test may not look. */
async function judgeAnswer(runs: Runs, outcome: OutcomeId, times: number): Promise<ResultOfCheck> {
  const noticed = { kind: "held", byFailure: true } as const;
  if (await runs.isNoticed(wrongAnswerRun("first", outcome), times)) return noticed;
  const toEach = wrongAnswerRun("each", outcome);
  if (await runs.isNoticed(toEach, times)) return noticed;

  const run = await runs.makeOnce(toEach);
  const shown = resultOfPass(runs.plain, run, "replaced");
  if (shown.kind === "not_judged") return shown;
  const seen = `the command passes with a wrong answer to each request that ends on ${outcome}`;
  return runs.judgeAgainst(toEach.purpose, run, ({ result }) => result === "passed", seen);
}

function answerProblem(outcome: OutcomeId, plan: CertifyPlan): Finding {
  const name = nameOf({ kind: "answer", outcome });
  const { status, when } = outcomeRow(outcome);
  const wrong = isSuccess(outcome) ? "401" : "200";
  return {
    name,
    sentence: `Passes with the wrong answer: ${wrong} in place of ${status} for ${when} (3 of 3 runs)`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againWithOnly(plan, [name]),
    runs: [name],
  };
}
