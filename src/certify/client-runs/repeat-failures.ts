import { minRepetitions } from "../checks/chance.js";
import type { Reason } from "../checks/judgment.js";
import type { ClientRun } from "./client-run.js";
import type { Runs } from "./runs.js";

// A run that fails may do so by chance. So it becomes a problem only after it was made again and failed again: one that passes contradicts it.

/**
 * Repeats each of these failures that ended, and returns why they show nothing; `undefined` if all failed again. A suite that fails at
 * random is likely to pass one of so many repetitions.
 */
export async function repeatFailures(
  runs: Runs,
  failures: readonly ClientRun[],
): Promise<Reason | undefined> {
  // A command that does not end takes long, and does so by no chance.
  const ended = failures.filter(({ result }) => result === "failed");
  if (ended.length === 0) return undefined;
  const doubtBefore = runs.findDoubtOfFailures();
  if (doubtBefore !== undefined) return doubtBefore;

  // Of fewer failures than repetitions, each is repeated by turns: alone, if it may have failed because of a run next to it.
  const repetitionCount = Math.max(ended.length, minRepetitions);
  const repetitions: Promise<ClientRun>[] = [];
  while (repetitions.length < repetitionCount) {
    const run = ended[repetitions.length % ended.length] as ClientRun; // there is one
    repetitions.push(runs.makeAnother({ ...run, isAlone: run.isShared === true }));
  }
  await Promise.all(repetitions);
  return runs.findDoubtOfFailures();
}
