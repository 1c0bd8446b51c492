import type { Report } from "../report/report-shape.js";
import type { Profile } from "../rules/assumptions.js";
import { outcomeRow } from "../rules/outcomes.js";
import { findDependency, notJudged, type Reason, type RunEvidence, runNotMade } from "./checks/judgment.js";
import type { ClientRun } from "./client-runs/client-run.js";
import { plainRun, type Runs } from "./client-runs/runs.js";
import { coverageEvidence } from "./coverage.js";

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const maxPairs = 4;

/** How many resends after one rejection show a client that never ends. */
const manyResends = 100;

/** Whether the plain run shows enough for any check. */
export async function plainEvidence(plain: ClientRun, runs: Runs): Promise<RunEvidence> {
  const { result, code, report } = plain;
  if (result === "passed") return coverageEvidence(report);
  if (result === "timed_out") return notJudged(whyEndless(report));
  return notJudged(await whyPlainFails(`the command fails in the plain run with exit code ${code}`, runs));
}

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  for (let pair = 1; pair <= maxPairs; pair++) {
    if (await passesWith("minimal", runs)) {
      return { why: `${why}, and passes when it runs again`, whatToDo: findDependency };
    }
    if (await passesWith("typical", runs)) continue;

    // A run that was not made leaves open whether the command always fails.
    if (runs.isStopped) return { why, whatToDo: runNotMade.whatToDo };
    if (pair === 1) {
      return {
        why,
        whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
      };
    }
    return { why: `${why}, and passes and fails with \`--profile typical\``, whatToDo: findDependency };
  }
  return {
    why: `${why}, and passes with \`--profile typical\``,
    whatToDo:
      "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
  };
}

/** Whether another plain run passes, in which the sandbox has this profile. */
async function passesWith(profile: Profile, runs: Runs): Promise<boolean> {
  const run = await runs.makeAnother({ ...plainRun, conditions: { profile } });
  return run.kind === "ended" && run.result === "passed";
}

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
