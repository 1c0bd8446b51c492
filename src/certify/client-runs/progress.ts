import { pluralize } from "../../report/plain-text.js";
import { nameOf } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { EndedRun, RunEnd } from "./client-run.js";
import { findDoubtOfPass } from "./doubt-of-pass.js";

/** What the line of a run shows of it. */
interface Progress {
  /** Empty if only other runs can show whether this one is good, as in a search. */
  readonly mark: "ok" | "problem" | "";
  readonly word: keyof typeof progressWords;
}

const progressWords = {
  passed: "passed",
  failed: "failed",
  noticed: "noticed",
  unnoticed: "unnoticed",
  timed_out: "timed out",
} as const;

/** The line of a run that has ended; none if it could not start. That of the first run shows how many requests the command sends. */
export function progressLines(
  run: EndedRun,
  { allow }: Pick<CertifyPlan, "allow">,
  plain: Pick<RunEnd, "sentKeys">,
): string[] {
  const { purpose, report, number } = run;
  const name = nameOf(purpose);
  if (run.failure !== undefined) return [];
  if (number === 1) return [`${name}  ${pluralize(report.requests, "request")}`];

  const isAllowed = "outcome" in purpose && purpose.kind !== "resend" && allow.includes(purpose.outcome);
  const { mark, word } = isAllowed ? { mark: "", word: run.result } : progressOf(run, plain);
  return [`${mark.padEnd(7)}  ${progressWords[word].padEnd(9)}  ${name.padEnd(30)}  ${number}`];
}

function progressOf(run: EndedRun, plain: Pick<RunEnd, "sentKeys">): Progress {
  const { purpose, result, conditions, replacedCount } = run;
  const { rows, onRequest } = conditions;
  const unmarked: Progress = { mark: "", word: result };
  // A run of a search, which is judged by all its runs.
  if (rows !== undefined) return unmarked;
  // Nothing was put in place of a response: the run shows nothing.
  if (onRequest !== undefined && replacedCount === 0) return unmarked;

  // A varied run that passed shows nothing if the client's tests set the seed, or sent less than in the plain run.
  const hasPassed = result === "passed";
  if (hasPassed && purpose.kind === "varied") {
    if (findDoubtOfPass(plain, run, "varied") !== undefined) return unmarked;
  }

  switch (onRequest?.gets.kind) {
    case undefined:
    case "fault":
      return { mark: hasPassed ? "ok" : "problem", word: result };
    case "wrong_answer":
      if (result === "failed") return { mark: "ok", word: "noticed" };
      if (result === "timed_out") return unmarked;
      // After the first request, another run follows, in which each request on this outcome gets the wrong answer.
      return { mark: onRequest?.which.kind === "first" ? "" : "problem", word: "unnoticed" };
    case "rejection":
      return result === "failed" ? { mark: "ok", word: "noticed" } : unmarked;
    case "late":
      return unmarked;
  }
}
