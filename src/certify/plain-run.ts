import type { Report } from "../report/report-shape.js";
import type { Profile } from "../rules/assumptions.js";
import { outcomeRow } from "../rules/outcomes.js";
import { fixHiddenDependency, type Reason } from "./checks/judgment.js";
import { plainRunRequest } from "./client-runs/client-run.js";
import { type Runs, shownOr } from "./client-runs/runs.js";
import { findDoubtOfCoverage } from "./coverage.js";

/** Why the plain run shows too little for any check. A plain run that failed is made again first, to tell why. */
export async function findDoubtOfPlainRun(runs: Runs): Promise<Reason | undefined> {
  const { result, code, report } = runs.plain;
  if (result === "passed") return findDoubtOfCoverage(report);
  if (result === "timed_out") return whyEndless(report);

  const why = `the command fails in the plain run with exit code ${code}`;
  // Without all of these runs, nobody knows whether the command always fails.
  return shownOr(whyPlainFails(why, runs), ({ whatToDo }) => ({ why, whatToDo }));
}

/** How many resends after one rejection show a client that never ends. */
const manyResends = 100;

/** Why a plain run that did not end shows nothing. A client that resends without an end is named. */
function whyEndless({ resends }: Report): Reason {
  const why = "the command does not end in time in the plain run";
  const whatToDo =
    "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.";
  const [mostOften] = resends.toSorted((left, right) => right.count - left.count);
  if (mostOften === undefined || mostOften.count <= manyResends) return { why, whatToDo };

  const key = mostOften.key ?? mostOften.fingerprint;
  const { status } = outcomeRow(mostOften.outcome);
  return { why: `${why}. It still resends \`${key}\` after ${status} (${mostOften.count} times)`, whatToDo };
}

/** So many pairs in a row, in which `minimal` fails and `typical` passes, show that the plain run fails because of its profile. */
const surePairs = 4;

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  for (let pair = 1; pair <= surePairs; pair++) {
    if (await passesWith("minimal", runs)) {
      return { why: `${why}, and passes when it runs again`, whatToDo: fixHiddenDependency };
    }
    if (await passesWith("typical", runs)) continue;

    // In the pairs before this one, if any, `typical` passed.
    if (pair > 1) {
      return {
        why: `${why}, and passes and fails with \`--profile typical\``,
        whatToDo: fixHiddenDependency,
      };
    }
    return {
      why,
      whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
    };
  }
  return {
    why: `${why}, and passes with \`--profile typical\``,
    whatToDo:
      "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
  };
}

/** Whether another plain run passes, in which the sandbox has this profile. */
async function passesWith(profile: Profile, runs: Runs): Promise<boolean> {
  const { result } = await runs.makeAnother({ ...plainRunRequest, conditions: { profile } });
  return result === "passed";
}
