import { type NotJudged, notAllMade, notJudged } from "../checks/judgment.js";
import type { ClientRun } from "./client-run.js";
import type { NotRepeated, Runs } from "./runs.js";

// A run that fails may do so by chance. So it becomes a problem only after it was made again and failed again.

/** How many runs repeat failures at least, in all. With one less, twice as many suites that fail in half of their runs are searched for causes. */
const minRepetitions = 5;

/** What failures did when they were repeated: all failed again, or two runs contradict each other; not judged if one was not made. */
type RepeatResult = { readonly kind: "failed_again" | "contradicted" } | NotJudged;

/** Repeats each of these failures that ended, and makes so many runs in all that a suite which fails at random passes one. */
export async function repeatFailures(runs: Runs, failures: readonly ClientRun[]): Promise<RepeatResult> {
  // A command that does not end takes long, and does so by no chance.
  const ended = failures.filter(({ result }) => result === "failed");
  const repetitions = ended.map((run) => repeat(runs, run));
  // As often as needed, the first ones are repeated once more.
  while (repetitions.length < minRepetitions) {
    const run = ended[repetitions.length % ended.length];
    if (run === undefined) break;
    repetitions.push(repeat(runs, run));
  }
  return resultOfRepetitions(failures.length, await Promise.all(repetitions));
}

/** Makes the run again: alone, if it may have failed because of a run next to it. */
function repeat(runs: Runs, run: ClientRun): Promise<ClientRun | NotRepeated> {
  return runs.repeatFailure(run, { isAlone: run.isShared === true });
}

function resultOfRepetitions(
  failureCount: number,
  repetitions: readonly (ClientRun | NotRepeated)[],
): RepeatResult {
  let notMadeCount = 0;
  let isContradicted = false;
  for (const repetition of repetitions) {
    if (repetition.kind !== "not_repeated") continue;
    if (repetition.why === "stopped") notMadeCount += 1;
    else isContradicted = true;
  }

  const neededCount = failureCount + repetitions.length;
  if (notMadeCount > 0) return notJudged(notAllMade(neededCount - notMadeCount, neededCount));
  return { kind: isContradicted ? "contradicted" : "failed_again" };
}
