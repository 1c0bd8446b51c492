import type { Report } from "../report/report-shape.js";
import { outcomeRow } from "../rules/outcomes.js";
import { certifyStopped, fixHiddenDependency, type Reason } from "./checks/judgment.js";

// The reasons why a plain run that did not pass shows nothing. `why` is how it failed, as in "the command fails in the plain run with exit
// code 1".

/** How many resends after one rejection show a client that never ends. */
const manyResends = 100;

/** Why a plain run that did not end shows nothing. A client that resends without an end is named. */
export function whyEndless({ resends }: Report): Reason {
  const why = "the command does not end in time in the plain run";
  const whatToDo =
    "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.";
  const [mostOften] = resends.toSorted((left, right) => right.count - left.count);
  if (mostOften === undefined || mostOften.count <= manyResends) return { why, whatToDo };

  const key = mostOften.key ?? mostOften.fingerprint;
  const { status } = outcomeRow(mostOften.outcome);
  return { why: `${why}. It still resends \`${key}\` after ${status} (${mostOften.count} times)`, whatToDo };
}

export const passesAgain = (why: string): Reason => ({
  why: `${why}, and passes when it runs again`,
  whatToDo: fixHiddenDependency,
});

export const alwaysFails = (why: string): Reason => ({
  why,
  whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
});

/** A run that was not made leaves open whether the command always fails. */
export const stoppedBeforeDecided = (why: string): Reason => ({ why, whatToDo: certifyStopped.whatToDo });

export const typicalPassesSometimes = (why: string): Reason => ({
  why: `${why}, and passes and fails with \`--profile typical\``,
  whatToDo: fixHiddenDependency,
});

export const typicalPasses = (why: string): Reason => ({
  why: `${why}, and passes with \`--profile typical\``,
  whatToDo:
    "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
});
