import { pluralize } from "../../report/plain-text.js";
import type { OnRequest } from "../../runs/conditions.js";
import { nameOf } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import { type ClientRun, requestsWith } from "./client-run.js";
import { findDoubtOfPass } from "./doubt-of-pass.js";

// Each run prints a line when it ends, which can be read without the others:
//
//     ok       passed      varied.3                                      4
//     ok       noticed     answer.401.revoked                            12
//     open     sent again  resend.503.seconds, request 3 of 3            27
//     problem  failed      varied.5                                      6
//     open     failed      varied.5, again, only etag on a 200           33
//
// `ok` and `problem` are what the run shows by itself, and `open` is one that only other runs decide, or that shows nothing. Behind the name
// of what it is made for is what was special about it.

/** The line of a run that has ended; none if it could not start. The first plain run, which all others are compared with, shows how many requests the command sends. */
export function progressLines(
  run: ClientRun,
  { allow }: Pick<CertifyPlan, "allow">,
  plain: Pick<ClientRun, "sentKeys">,
  isAgain = false,
): string[] {
  const name = nameOf(run.purpose);
  if (run.failure !== undefined) return [];
  if (run === plain) return [`${name}  ${pluralize(run.report.requests, "request")}`];

  const [mark, word] = markAndWord(run, allow, plain);
  const what = [name, ...(isAgain ? ["again"] : []), ...specialOf(run, plain)].join(", ");
  return [`${mark.padEnd(7)}  ${word.padEnd(10)}  ${what.padEnd(44)}  ${run.number}`];
}

/** What was special about a run, besides what its name has, in words: the request that was replaced, or what varied alone. */
function specialOf({ conditions }: ClientRun, plain: Pick<ClientRun, "sentKeys">): string[] {
  const { rows, onRequest } = conditions;
  if (rows !== undefined) {
    const [first, ...others] = rows;
    if (first === undefined) return ["nothing varied"];
    if (others.length > 0) return [`only ${rows.length} rows`];
    return [first.status === undefined ? `only ${first.row}` : `only ${first.row} on a ${first.status}`];
  }
  if (onRequest === undefined) return [];

  const { which, gets } = onRequest;
  if (which.kind === "every_other") return ["every other request"];
  if (which.kind !== "nth") return which.kind === "each" ? ["each request"] : [];
  const words = [`request ${which.nth} of ${requestsWith(plain, which.key).length}`];
  if (which.isTwice) words.push("and the next one");
  if (gets.kind === "late") words.push("late");
  else if (gets.kind === "rejection" && gets.as === "404.unknown_path") words.push("a 404");
  return words;
}

type Mark = readonly [mark: "ok" | "problem" | "open", word: string];

function markAndWord(run: ClientRun, allow: readonly string[], plain: Pick<ClientRun, "sentKeys">): Mark {
  const { purpose, result, conditions } = run;
  const { rows, onRequest } = conditions;
  const word = result === "timed_out" ? "timed out" : result;
  const isOfAnswerOrFault = purpose.kind === "answer" || purpose.kind === "fault";
  if (isOfAnswerOrFault && allow.includes(purpose.outcome)) return ["open", word];
  // A run of a search, which is judged by all its runs.
  if (rows !== undefined) return ["open", word];

  if (onRequest === undefined) {
    if (result !== "passed") return ["problem", word];
    // A varied run that passed shows nothing if the client's tests set the seed, or sent less than in the plain run.
    const isInDoubt = purpose.kind === "varied" && findDoubtOfPass(plain, run, "varied") !== undefined;
    return [isInDoubt ? "open" : "ok", word];
  }

  return markOfReplaced(run, onRequest, word, plain);
}

function markOfReplaced(
  run: ClientRun,
  { which, gets }: OnRequest,
  word: string,
  plain: Pick<ClientRun, "sentKeys">,
): Mark {
  const { result, replacedCount } = run;
  // Nothing was put in place of a response: the run shows nothing.
  if (replacedCount === 0) return ["open", word];
  switch (gets.kind) {
    case "fault":
      return [result === "passed" ? "ok" : "problem", word];
    case "wrong_answer":
      if (result === "failed") return ["ok", "noticed"];
      if (result === "timed_out") return ["open", word];
      // After the first request, another run follows, in which each request on this outcome gets the wrong answer.
      return [which.kind === "first" ? "open" : "problem", "unnoticed"];
    case "rejection":
    case "late": {
      const key = "key" in which ? which.key : "";
      const isSentAgain = requestsWith(run, key).length > requestsWith(plain, key).length;
      if (isSentAgain) return ["open", result === "failed" ? "sent, fails" : "sent again"];
      return result === "failed" && gets.kind === "rejection" ? ["ok", "noticed"] : ["open", word];
    }
  }
}
