import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { nameOf } from "./checks/check.js";
import {
  failedResult,
  heldUnless,
  type Judgment,
  mergeJudgments,
  notJudged,
  type ResultOfCheck,
  shownOr,
  singleCheck,
} from "./checks/judgment.js";
import { isWanted } from "./checks/plan.js";
import { isNoticed } from "./client-runs/client-run.js";
import { findDoubtOfPass } from "./client-runs/doubt-of-pass.js";
import { findDoubtOfFailure } from "./client-runs/failures.js";
import { againWithOnly } from "./client-runs/finding-parts.js";
import type { Runs } from "./client-runs/runs.js";

/** Gives each covered outcome the wrong answer, which the command must notice. */
export async function judgeAnswers(runs: Runs): Promise<Judgment> {
  const wanted = runs.outcomesToJudge.filter((outcome) => isWanted(runs.plan, { kind: "answer", outcome }));
  return mergeJudgments(await Promise.all(wanted.map((outcome) => judgeAnswer(runs, outcome))));
}

/** Judges one outcome. If the wrong answer to its first request is not noticed, each of its requests gets it: one test may not look. */
async function judgeAnswer(runs: Runs, outcome: OutcomeId): Promise<Judgment> {
  const check = { kind: "answer", outcome } as const;
  const result = await shownOr(resultOfAnswer(runs, outcome), notJudged);
  if (result.kind !== "failed") return singleCheck(check, result);

  const name = nameOf(check);
  const { status, when } = outcomeRow(outcome);
  const wrong = isSuccess(outcome) ? "401" : "200";
  return singleCheck(check, failedResult, {
    name,
    sentence: `Passes with the wrong answer: ${wrong} in place of ${status} for ${when}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againWithOnly(runs.plan, [name]),
    runs: [name],
  });
}

async function resultOfAnswer(runs: Runs, outcome: OutcomeId): Promise<ResultOfCheck> {
  // If the client may survive it, only the stronger form is tried: each request gets it.
  const isAllowed = runs.plan.allow.includes(outcome);
  if (!isAllowed) {
    const first = await runs.makeWrongAnswer("first", outcome);
    if (isNoticed(first)) return heldUnless(await findDoubtOfFailure(runs, first));
  }

  const each = await runs.makeWrongAnswer("each", outcome);
  if (isNoticed(each)) return heldUnless(await findDoubtOfFailure(runs, each));
  if (isAllowed) return { kind: "allowed" };

  const doubt = findDoubtOfPass(runs.plain, each, "replaced");
  return doubt === undefined ? failedResult : notJudged(doubt);
}
