import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import type { Finding } from "../checks/judgment.js";
import type { CertifyPlan } from "../checks/plan.js";
import { againCommand } from "../client-runs/again-command.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { lastLineOf } from "../client-runs/last-line.js";
import { countRequests, type FaultTarget } from "./fault-target.js";
import type { NotSurvived } from "./fault-trial.js";
import { type FaultWords, wordsIfNotSurvived, wordsIfSentAgain, wordsIfTooLate } from "./fault-words.js";

/** The problems of faults. All runs that failed are one, since one flaw breaks them. Each that did not end is another one: a client without a timeout. */
export function problemsOfFaults(
  notSurvived: readonly NotSurvived[],
  target: FaultTarget,
  plan: CertifyPlan,
): Finding[] {
  const late = notSurvived.filter(({ run }) => run.result === "timed_out");
  const failed = notSurvived.filter(({ run }) => run.result === "failed");

  const problems: Finding[] = [];
  const [first, ...others] = failed;
  if (first !== undefined) {
    let words = wordsIfNotSurvived(first.fault, namesOf(others));
    if (failed.every(({ run }) => isSentAgain(run, target))) words = wordsIfSentAgain(namesOf(failed));
    problems.push(faultProblem(first, namesOf(failed), words, plan));
  }
  for (const single of late) {
    problems.push(faultProblem(single, [single.fault], wordsIfTooLate(single.fault), plan));
  }
  return problems;
}

function namesOf(notSurvived: readonly NotSurvived[]): FaultOutcomeId[] {
  return notSurvived.map(({ fault }) => fault);
}

/** Whether more requests came than without a fault. Then the client did well, and a test failed that counts requests. */
function isSentAgain(run: ClientRun, target: FaultTarget): boolean {
  return target.whyNotUsed === undefined && countRequests(run, target.outcome) > target.requestsWithoutFault;
}

/** The problem of faults with these names, of which `first` is shown. */
function faultProblem(
  first: NotSurvived,
  names: readonly FaultOutcomeId[],
  words: FaultWords,
  plan: CertifyPlan,
): Finding {
  const only: string[] = [];
  for (const name of names) only.push("--only", name);
  return {
    name: first.fault,
    ...words,
    again: againCommand(plan, "certify", ...only),
    ...lastLineOf(first.run),
    runs: names,
  };
}
