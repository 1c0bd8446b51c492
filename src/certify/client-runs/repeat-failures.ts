import { minRepetitions } from "../checks/chance.js";
import { type NotJudged, notAllMade, notJudged } from "../checks/judgment.js";
import type { ClientRun } from "./client-run.js";
import type { NothingShown, Runs } from "./runs.js";

// A run that fails may do so by chance. So it becomes a problem only after it was made again and failed again.

/** What failures did when they were repeated: all failed again, or need not; two runs contradict each other; or a repetition was not made. */
type RepeatResult = { readonly kind: "failed_again" | "contradicted" } | NotJudged;

/** Repeats each of these failures that ended. A suite that fails at random is likely to pass one of so many repetitions. */
export async function repeatFailures(runs: Runs, failures: readonly ClientRun[]): Promise<RepeatResult> {
  // A command that does not end takes long, and does so by no chance.
  const ended = failures.filter(({ result }) => result === "failed");
  if (ended.length === 0) return { kind: "failed_again" };

  // Of fewer failures than repetitions, each is repeated by turns.
  const repetitionCount = Math.max(ended.length, minRepetitions);
  const repetitions: Promise<ClientRun | NothingShown>[] = [];
  while (repetitions.length < repetitionCount) {
    const run = ended[repetitions.length % ended.length] as ClientRun; // there is one
    repetitions.push(repeat(runs, run));
  }
  return resultOfRepetitions(failures.length, await Promise.all(repetitions));
}

/** Makes the run again: alone, if it may have failed because of a run next to it. */
function repeat(runs: Runs, run: ClientRun): Promise<ClientRun | NothingShown> {
  return runs.repeatFailure(run, { isAlone: run.isShared === true });
}

function resultOfRepetitions(
  failureCount: number,
  repetitions: readonly (ClientRun | NothingShown)[],
): RepeatResult {
  let notMadeCount = 0;
  let isContradicted = false;
  for (const repetition of repetitions) {
    if (repetition.kind !== "nothing_shown") continue;
    if (repetition.because === "stopped") notMadeCount += 1;
    else isContradicted = true;
  }

  // Each failure is a run, and each repetition another one.
  const neededCount = failureCount + repetitions.length;
  if (notMadeCount > 0) return notJudged(notAllMade(neededCount - notMadeCount, neededCount));
  return { kind: isContradicted ? "contradicted" : "failed_again" };
}
