import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { RunConditions, WhichRequest } from "../runs/conditions.js";
import { type AnswerCheck, nameOf } from "./checks/check.js";
import {
  failedResult,
  heldUnless,
  type Judgment,
  mergeJudgments,
  notJudged,
  type ResultOfCheck,
  singleCheck,
} from "./checks/judgment.js";
import { isWanted } from "./checks/plan.js";
import { againCommand } from "./client-runs/again-command.js";
import { type ClientRun, isNoticed } from "./client-runs/client-run.js";
import { findDoubtOfFailure } from "./client-runs/doubt-of-failure.js";
import { findDoubtOfPass } from "./client-runs/doubt-of-pass.js";
import type { Runs } from "./client-runs/runs.js";

/** Gives each covered outcome the wrong answer, which the command must notice. */
export async function judgeAnswers(runs: Runs): Promise<Judgment> {
  const outcomes = runs.outcomesToJudge.filter((outcome) => isWanted(runs.plan, answerCheck(outcome)));
  return mergeJudgments(await Promise.all(outcomes.map((outcome) => judgeAnswer(runs, outcome))));
}

function answerCheck(outcome: OutcomeId): AnswerCheck {
  return { kind: "answer", outcome };
}

/** Whether judging the answers makes the run of {@link makeFirstWrongAnswerOnce} anyway: another part may then ask for it without adding a run. */
export function isFirstWrongAnswerMade({ plan, outcomesToJudge }: Runs, outcome: OutcomeId): boolean {
  if (!outcomesToJudge.includes(outcome) || plan.allow.includes(outcome)) return false;
  return isWanted(plan, answerCheck(outcome));
}

/** Makes the run in which only the first request with this outcome gets the wrong answer, once for all: resends and faults read it, too. */
export function makeFirstWrongAnswerOnce(runs: Runs, outcome: OutcomeId): Promise<ClientRun> {
  return runs.makeOnce({
    purpose: answerCheck(outcome),
    conditions: wrongAnswerTo({ kind: "first", outcome }),
  });
}

/** The wrong answer is a 401 in place of a success, and a 200 in place of a rejection. */
function wrongAnswerTo(which: WhichRequest): RunConditions {
  return { onRequest: { which, gets: { kind: "wrong_answer" } } };
}

/** Judges one outcome. If the wrong answer to its first request is not noticed, each of its requests gets it: one test may not look. */
async function judgeAnswer(runs: Runs, outcome: OutcomeId): Promise<Judgment> {
  const check = answerCheck(outcome);
  const result = await resultOfAnswer(runs, outcome);
  if (result.kind !== "failed") return singleCheck(check, result);

  const name = nameOf(check);
  const { status, when } = outcomeRow(outcome);
  const wrong = isSuccess(outcome) ? "401" : "200";
  return singleCheck(check, failedResult, {
    name,
    sentence: `Passes with the wrong answer: ${wrong} in place of ${status} for ${when}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${outcome}.`,
    again: againCommand(runs.plan, "certify", "--only", name),
    runs: [name],
  });
}

async function resultOfAnswer(runs: Runs, outcome: OutcomeId): Promise<ResultOfCheck> {
  // If the client may survive it, only the stronger form is tried: each request gets it.
  const isAllowed = runs.plan.allow.includes(outcome);
  if (!isAllowed) {
    const first = await makeFirstWrongAnswerOnce(runs, outcome);
    if (isNoticed(first)) return heldUnless(await findDoubtOfFailure(runs, first));
  }

  const conditions = wrongAnswerTo({ kind: "each", outcome });
  const each = await runs.makeOnce({ purpose: answerCheck(outcome), conditions });
  if (isNoticed(each)) return heldUnless(await findDoubtOfFailure(runs, each));
  if (isAllowed && each.result !== "not_made") return { kind: "allowed" };

  const doubt = findDoubtOfPass(runs.plain, each, "replaced");
  return doubt === undefined ? failedResult : notJudged(doubt);
}
