import type { Profile } from "../rules/assumptions.js";
import { surePairs } from "./checks/chance.js";
import type { Reason } from "./checks/judgment.js";
import type { EndedRun } from "./client-runs/client-run.js";
import { plainRunRequest, type Runs } from "./client-runs/runs.js";
import { findDoubtOfCoverage } from "./coverage.js";
import {
  alwaysFails,
  passesAgain,
  stoppedBeforeDecided,
  typicalPasses,
  typicalPassesSometimes,
  whyEndless,
} from "./plain-run-words.js";

/** Why the plain run shows too little for any check. A plain run that failed is made again first, to tell why. */
export async function findDoubtOfPlainRun(plain: EndedRun, runs: Runs): Promise<Reason | undefined> {
  const { result, code, report } = plain;
  if (result === "passed") return findDoubtOfCoverage(report);
  if (result === "timed_out") return whyEndless(report);
  return whyPlainFails(`the command fails in the plain run with exit code ${code}`, runs);
}

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  for (let pair = 1; pair <= surePairs; pair++) {
    const minimal = await resultWith("minimal", runs);
    if (minimal === "not_made") return stoppedBeforeDecided(why);
    if (minimal === "passed") return passesAgain(why);

    const typical = await resultWith("typical", runs);
    if (typical === "not_made") return stoppedBeforeDecided(why);
    if (typical === "passed") continue;
    // In the pairs before this one, if any, `typical` passed.
    const isFirstPair = pair === 1;
    return isFirstPair ? alwaysFails(why) : typicalPassesSometimes(why);
  }
  return typicalPasses(why);
}

/** How another plain run ends, in which the sandbox has this profile. */
async function resultWith(profile: Profile, runs: Runs): Promise<"passed" | "failed" | "not_made"> {
  const { result } = await runs.makeAnother({ ...plainRunRequest, conditions: { profile } });
  return result === "timed_out" ? "failed" : result;
}
