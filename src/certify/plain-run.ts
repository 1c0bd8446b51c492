import type { Profile } from "../rules/assumptions.js";
import { notJudged, type Reason, type RunEvidence } from "./checks/judgment.js";
import type { ClientRun } from "./client-runs/client-run.js";
import { plainRun, type Runs } from "./client-runs/runs.js";
import { coverageEvidence } from "./coverage.js";
import {
  alwaysFails,
  passesAgain,
  staysOpen,
  typicalPasses,
  typicalPassesSometimes,
  whyEndless,
} from "./plain-run-words.js";

/**
 * How often the plain run must fail again, and next to it a run with the profile `typical` pass, before the profile is the reason: a command
 * may fail at random. One that fails in half of its runs is then told so falsely in 1 of 256 cases, with three pairs in 1 of 64. A pair
 * takes two runs.
 */
const maxPairs = 4;

/** Whether the plain run shows enough for any check. */
export async function plainEvidence(plain: ClientRun, runs: Runs): Promise<RunEvidence> {
  const { result, code, report } = plain;
  if (result === "passed") return coverageEvidence(report);
  if (result === "timed_out") return notJudged(whyEndless(report));
  return notJudged(await whyPlainFails(`the command fails in the plain run with exit code ${code}`, runs));
}

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  if (await passesWith("minimal", runs)) return passesAgain(why);
  if (!(await passesWith("typical", runs))) {
    return runs.isStopped ? staysOpen(why) : alwaysFails(why);
  }

  // The profile explains the two runs, and so does chance. More pairs of runs tell them apart.
  for (let pair = 2; pair <= maxPairs; pair++) {
    if (await passesWith("minimal", runs)) return passesAgain(why);
    if (await passesWith("typical", runs)) continue;
    return runs.isStopped ? staysOpen(why) : typicalPassesSometimes(why);
  }
  return typicalPasses(why);
}

/** Whether another plain run passes, in which the sandbox has this profile. */
async function passesWith(profile: Profile, runs: Runs): Promise<boolean> {
  const run = await runs.makeAnother({ ...plainRun, conditions: { profile } });
  return run.kind === "ended" && run.result === "passed";
}
