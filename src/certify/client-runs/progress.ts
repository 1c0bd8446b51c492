import { pluralize } from "../../report/plain-text.js";
import { nameOf, type RunPurpose } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { EndedRun, RunEnd } from "./client-run.js";
import { findDoubtOfPass } from "./doubt-of-pass.js";

/** What the line of a run shows of it. */
interface Progress {
  /** `none`: only other runs can show whether this one is good, as in a search. */
  readonly mark: "ok" | "problem" | "none";
  readonly word: keyof typeof progressWords;
}

const progressWords = {
  passed: "passed",
  failed: "failed",
  noticed: "noticed",
  unnoticed: "unnoticed",
  timed_out: "timed out",
} as const;

/** The line of a run that has ended; none if it could not start. That of the plain run which all others are compared with shows how many requests the command sends. */
export function progressLines(
  run: EndedRun,
  { allow }: Pick<CertifyPlan, "allow">,
  plain: Pick<RunEnd, "sentKeys">,
): string[] {
  const { purpose, report, number } = run;
  const isFirstOfPass = run === plain;
  const name = nameOf(purpose);
  if (run.failure !== undefined) return [];
  if (isFirstOfPass) return [`${name}  ${pluralize(report.requests, "request")}`];

  const { mark, word } = isNamedByAllow(purpose, allow) ? unmarkedProgress(run) : progressOf(run, plain);
  const shownMark = mark === "none" ? "" : mark;
  return [`${shownMark.padEnd(7)}  ${progressWords[word].padEnd(9)}  ${name.padEnd(30)}  ${number}`];
}

/** Whether --allow names what the run tries: a wrong answer or a fault. */
function isNamedByAllow(purpose: RunPurpose, allow: readonly string[]): boolean {
  if (purpose.kind !== "answer" && purpose.kind !== "fault") return false;
  return allow.includes(purpose.outcome);
}

function unmarkedProgress({ result }: EndedRun): Progress {
  return { mark: "none", word: result };
}

function progressOf(run: EndedRun, plain: Pick<RunEnd, "sentKeys">): Progress {
  const { result, conditions, replacedCount } = run;
  const { rows, onRequest } = conditions;
  // A run of a search, which is judged by all its runs.
  if (rows !== undefined) return unmarkedProgress(run);
  if (onRequest === undefined) return progressWithoutReplacement(run, plain);
  // Nothing was put in place of a response: the run shows nothing.
  if (replacedCount === 0) return unmarkedProgress(run);

  switch (onRequest.gets.kind) {
    case "fault":
      return { mark: result === "passed" ? "ok" : "problem", word: result };
    case "wrong_answer":
      if (result === "failed") return { mark: "ok", word: "noticed" };
      if (result === "timed_out") return unmarkedProgress(run);
      // After the first request, another run follows, in which each request on this outcome gets the wrong answer.
      if (onRequest.which.kind === "first") return { mark: "none", word: "unnoticed" };
      return { mark: "problem", word: "unnoticed" };
    case "rejection":
      return result === "failed" ? { mark: "ok", word: "noticed" } : unmarkedProgress(run);
    case "late":
      return unmarkedProgress(run);
  }
}

/** The progress of a plain run or a varied one. */
function progressWithoutReplacement(run: EndedRun, plain: Pick<RunEnd, "sentKeys">): Progress {
  const { purpose, result } = run;
  if (result !== "passed") return { mark: "problem", word: result };
  // A varied run that passed shows nothing if the client's tests set the seed, or sent less than in the plain run.
  const isInDoubt = purpose.kind === "varied" && findDoubtOfPass(plain, run, "varied") !== undefined;
  return isInDoubt ? unmarkedProgress(run) : { mark: "ok", word: result };
}
