import { pluralize } from "../../report/plain-text.js";
import type { OnRequest } from "../../runs/conditions.js";
import { nameOf } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun } from "./client-run.js";
import { findDoubtOfPass } from "./doubt-of-pass.js";

/** The line of a run that has ended; none if it could not start. The first plain run, which all others are compared with, shows how many requests the command sends. */
export function progressLines(
  run: ClientRun,
  { allow }: Pick<CertifyPlan, "allow">,
  plain: Pick<ClientRun, "sentKeys">,
): string[] {
  const name = nameOf(run.purpose);
  if (run.failure !== undefined) return [];
  if (run === plain) return [`${name}  ${pluralize(run.report.requests, "request")}`];

  const [mark, word] = markAndWord(run, allow, plain);
  return [`${mark.padEnd(7)}  ${word.padEnd(9)}  ${name.padEnd(30)}  ${run.number}`];
}

/** Whether the run is good or bad by itself, and its result in a word. The mark is empty if only other runs can show it, or if it shows nothing. */
type Mark = readonly [mark: "ok" | "problem" | "", word: string];

function markAndWord(run: ClientRun, allow: readonly string[], plain: Pick<ClientRun, "sentKeys">): Mark {
  const { purpose, result, conditions } = run;
  const { rows, onRequest } = conditions;
  const word = result === "timed_out" ? "timed out" : result;
  const isOfAnswerOrFault = purpose.kind === "answer" || purpose.kind === "fault";
  if (isOfAnswerOrFault && allow.includes(purpose.outcome)) return ["", word];
  // A run of a search, which is judged by all its runs.
  if (rows !== undefined) return ["", word];

  if (onRequest === undefined) {
    if (result !== "passed") return ["problem", word];
    // A varied run that passed shows nothing if the client's tests set the seed, or sent less than in the plain run.
    const isInDoubt = purpose.kind === "varied" && findDoubtOfPass(plain, run, "varied") !== undefined;
    return [isInDoubt ? "" : "ok", word];
  }
  return markOfReplaced(run, onRequest, word);
}

function markOfReplaced(
  { result, replacedCount }: ClientRun,
  { which, gets }: OnRequest,
  word: string,
): Mark {
  // Nothing was put in place of a response: the run shows nothing.
  if (replacedCount === 0) return ["", word];
  switch (gets.kind) {
    case "fault":
      return [result === "passed" ? "ok" : "problem", word];
    case "wrong_answer":
      if (result === "failed") return ["ok", "noticed"];
      if (result === "timed_out") return ["", word];
      // After the first request, another run follows, in which each request on this outcome gets the wrong answer.
      return [which.kind === "first" ? "" : "problem", "unnoticed"];
    case "rejection":
      return result === "failed" ? ["ok", "noticed"] : ["", word];
    case "late":
      return ["", word];
  }
}
