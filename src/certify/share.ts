import type { Check } from "./checks/check.js";
import type { JudgedCheck, Reason } from "./checks/judgment.js";
import { type ClientRun, countRequests } from "./client-runs/client-run.js";
import type { Runs } from "./client-runs/runs.js";

/** Of the varied runs and of the wrong answers, so many must be judged before a client passes. */
const neededShare = 3 / 4;

/**
 * Why too few varied runs or wrong answers are judged for a client to pass. Faults and resends do not stop it: with a runner that repeats
 * failing tests, they show nothing, and the client is not to blame.
 */
export function findDoubtOfShare({ ended, plain }: Runs, checks: readonly JudgedCheck[]): Reason | undefined {
  return findDoubtOfGroup("varied") ?? findDoubtOfGroup("answer");

  function findDoubtOfGroup(kind: Check["kind"]): Reason | undefined {
    const group = checks.filter(({ check }) => check.kind === kind);
    const reasons: Reason[] = [];
    for (const { result } of group) {
      if (result.kind === "not_judged") reasons.push(result.reason);
    }
    const [first] = reasons;
    if (first === undefined || group.length - reasons.length >= neededShare * group.length) return undefined;

    const { why, whatToDo } = whyRunsSendLess(ended, plain) ?? first;
    const groupWords = kind === "varied" ? "varied runs" : "wrong answers";
    return { why: `${reasons.length} of ${group.length} ${groupWords} show nothing: ${why}`, whatToDo };
  }
}

/** Each run after a certain one sent fewer requests than the plain run, whatever its conditions. `undefined` if that is not so. */
function whyRunsSendLess(ended: readonly ClientRun[], plain: ClientRun): Reason | undefined {
  const countInPlain = countRequests(plain, () => true);
  const counts = ended.map((run) => countRequests(run, () => true));
  const lastIndex = counts.findLastIndex((count) => count >= countInPlain);
  const laterCounts = counts.slice(lastIndex + 1);
  const last = ended[lastIndex];
  if (laterCounts.length < counts.length / 2 || last === undefined) return undefined;
  const most = Math.max(...laterCounts);
  return {
    why: `the plain run sent ${countInPlain} requests, and each run after run ${last.number} sent ${most} or fewer`,
    whatToDo:
      "Let the command send the same requests each time it runs: turn off what keeps results from one run to the next, such as a cache of tests or a quota.",
  };
}
