import { isFault } from "../../rules/fault-effects.js";
import { listed } from "../../schema/words.js";
import { fixHiddenDependency, type Reason, runTooLate } from "../checks/judgment.js";
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { type ClientRun, isBroken, plainRunRequest, type SentKey } from "./client-run.js";
import type { Runs } from "./runs.js";

// What does a run show?
// - The command passed although something was tried: nothing, if it did less than in the plain run (`findDoubtOfPass`).
// - The command failed, as it should with a wrong answer, and a check holds because of it. But a run may fail by chance. If all seeds are
//   tried, one failure is enough: the varied runs show whether the command fails at random. If not, the run must fail twice, next to plain
//   runs that pass (`findDoubtOfFailure`).
// - The command failed, and that is a problem: only if it fails again each time (`repeatFailures`).

/**
 * Why a run that passed shows nothing: it did not end, nothing was tried, or the command did not send what it sent in the plain run. Keys of
 * requests that were hit may be missing. `whatWasTried`: responses that vary, or a response that the run replaces.
 */
export function findDoubtOfPass(
  plain: Pick<ClientRun, "sentKeys">,
  run: Pick<ClientRun, "result" | "sentKeys" | "ownSeed" | "points" | "replacedCount">,
  whatWasTried: "varied" | "replaced",
): Reason | undefined {
  if (run.result === "timed_out") return runTooLate;

  // A run in which the command does less than in the plain run, as with a cache of tests, passes whatever the sandbox does.
  const missing = missingRequests(plain, run);
  if (run.sentKeys.length === 0 && missing.length > 0) {
    return { why: "the command sent no request (a cache of your test runner?)", whatToDo: turnOffCaches };
  }
  if (whatWasTried === "replaced") {
    if (run.replacedCount === 0) return noRequestReplaced;
  } else if (run.ownSeed !== undefined) {
    const why = `your code sets the seed ${run.ownSeed}`;
    return { why, whatToDo: "Leave the seed out: the sandbox then has the run's." };
  } else if (run.points.length === 0) {
    const whatToDo = "Leave out what your tests set themselves, such as assumptions.";
    return { why: "no response varied", whatToDo };
  }
  if (missing.length === 0) return undefined;

  const named = missing.length > 3 ? [...missing.slice(0, 3), "others"] : missing;
  return {
    why: `the command did not send what it sent in the plain run: ${listed(named, "and")}`,
    whatToDo: `Send the same keys to the same endpoints in each run. ${turnOffCaches}`,
  };
}

const turnOffCaches =
  "Turn off what runs only some of your tests, or none, such as `--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx, or `--no-cache`, and leave out `--onlyChanged`.";

export const noRequestReplaced: Reason = {
  why: "no request was hit",
  whatToDo: "Send the requests of the plain run again: without a cache of your client's own on disk.",
};

/** What the plain run sent and this run did not, as in "`active` (200.test)". A key of which a request was hit is left out: what follows may change with it. */
function missingRequests(plain: Pick<ClientRun, "sentKeys">, run: Pick<ClientRun, "sentKeys">): string[] {
  const keysHit = new Set<string>();
  const missing = new Set<string>();
  for (const { key, requests } of run.sentKeys) {
    if (requests.some(({ isReplaced }) => isReplaced)) keysHit.add(key);
  }
  for (const sentKey of plain.sentKeys) {
    if (keysHit.has(sentKey.key)) continue;
    for (const request of requestWords(sentKey)) missing.add(request);
  }
  for (const sentKey of run.sentKeys) {
    for (const request of requestWords(sentKey)) missing.delete(request);
  }
  return [...missing];
}

/** The requests with one key in words, without those that a fault of the client's own tests hit. */
function requestWords({ key, isUnknown, requests }: SentKey): string[] {
  const words: string[] = [];
  for (const { outcome } of requests) {
    if (isFault(outcome)) continue;
    words.push(isUnknown ? `a request that ends on ${outcome}` : `\`${key}\` (${outcome})`);
  }
  return words;
}

/** With fewer seeds than all, so many runs under the same conditions must fail, and so many plain runs must pass next to them. */
const failuresWithFewSeeds = 2;
const plainRunsWithFewSeeds = 3;

/** How often a command must fail under the same conditions before that shows something. */
export function failuresNeeded(plan: CertifyPlan): 1 | 2 {
  const areAllSeedsTried = variedSeeds(plan).length >= seedCount;
  return areAllSeedsTried ? 1 : failuresWithFewSeeds;
}

/** Why no check may rest on this failure, of a run that `makeOnce` has made. */
export async function findDoubtOfFailure(runs: Runs, run: ClientRun): Promise<Reason | undefined> {
  if (failuresNeeded(runs.plan) === 1) return undefined;

  // The run itself has what it takes to ask for it again, and is the first of these runs.
  const [, runsAlike] = await Promise.all([
    makePlainRunsNextToFailures(runs),
    runs.makeUpTo(run, failuresWithFewSeeds),
  ]);
  if (runsAlike.every(isBroken)) return undefined;
  return { why: "the command fails, but only in some runs", whatToDo: fixHiddenDependency };
}

/** Makes the plain runs next to failures, if they are needed. One that fails is a contradiction, after which no failure counts anyway. */
export async function makePlainRunsNextToFailures(runs: Runs): Promise<void> {
  if (failuresNeeded(runs.plan) > 1) await runs.makeUpTo(plainRunRequest, plainRunsWithFewSeeds);
}

/** So many repetitions must fail, at least one of each failure: a suite that fails at random is likely to pass one of them. */
const minRepetitions = 5;

/** Repeats each of these failures. Throws `Inconclusive` if they show nothing: one of the repetitions has passed. */
export async function repeatFailures(runs: Runs, failures: readonly ClientRun[]): Promise<undefined> {
  // A command that does not end takes long, and does so by no chance.
  const ended = failures.filter(({ result }) => result === "failed");
  if (ended.length === 0) return;
  runs.throwIfNoFailureCounts();

  // Of fewer failures than repetitions, each is repeated by turns: alone, if it may have failed because of a run next to it.
  const repetitionCount = Math.max(ended.length, minRepetitions);
  const repetitions: Promise<ClientRun>[] = [];
  while (repetitions.length < repetitionCount) {
    const run = ended[repetitions.length % ended.length] as ClientRun; // there is one
    repetitions.push(runs.makeAnother({ ...run, isAlone: run.isShared === true }));
  }
  await Promise.all(repetitions);
  runs.throwIfNoFailureCounts();
}
