import { judgeAdvice } from "./advice.js";
import type { JudgedClient } from "./certificate/certification.js";
import { isProblemOf } from "./certificate/conclusion.js";
import type { Check } from "./checks/check.js";
import {
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  notJudged,
  type Reason,
} from "./checks/judgment.js";
import { type Contradiction, whyUnstable } from "./client-runs/contradiction.js";
import type { Runs } from "./client-runs/runs.js";
import { findDoubtOfOnly } from "./doubt-of-only.js";
import { noteRepeatedRejections } from "./resends/repeated-rejections.js";

/** What each part of the runs has shown. */
export interface JudgmentsByGroup {
  readonly answers: Judgment;
  readonly resends: Judgment;
  readonly faults: Judgment;
  readonly varied: Judgment;
}

/** Joins the groups. Their problems are in this order, the most serious first. */
function joinGroups({ resends, varied, faults, answers }: JudgmentsByGroup): Judgment {
  return mergeJudgments([resends, varied, faults, answers]);
}

/** Whether a check has its result because runs failed: it would have another one if the command no longer passed at all. */
export function anyResultNeedsFailure(groups: JudgmentsByGroup): boolean {
  return joinGroups(groups).checks.some(needsFailure);
}

/**
 * The result that a check of each kind has only because the command failed in some run. An answer and a resend hold because it failed: the
 * client noticed them. A varied run and a fault fail because of it.
 */
const resultThatNeedsFailure: Readonly<Record<Check["kind"], "held" | "failed" | "none">> = {
  answer: "held",
  resend: "held",
  varied: "failed",
  fault: "failed",
  // Advice is about requests and output, however the run ended.
  advice: "none",
};

function needsFailure({ check, result }: JudgedCheck): boolean {
  return result.kind === resultThatNeedsFailure[check.kind];
}

/** Nothing contradicts what the runs have shown. */
export async function clientAsJudged(runs: Runs, groups: JudgmentsByGroup): Promise<JudgedClient> {
  // What a named resend explains needs no note.
  const notes = groups.resends.problems.length > 0 ? [] : await noteRepeatedRejections(runs);
  const judgment = mergeJudgments([judgeAdvice(runs), joinGroups(groups), { ...nothingJudged, notes }]);
  if (runs.isStopped) return judgedClient(runs, judgment);

  return judgedClient(runs, judgment, findDoubtOfOnly(runs.plan, judgment.checks, runs.plain.report));
}

/** After a contradiction, no failure shows anything: what needs one is not judged, and the rest stays. */
export function clientAfterContradiction(
  runs: Runs,
  groups: JudgmentsByGroup,
  contradiction: Contradiction,
): JudgedClient {
  const unstable = whyUnstable(contradiction);
  const { checks, problems, notes } = joinGroups(groups);
  const withoutFailures = checks.map((judged) =>
    needsFailure(judged) ? { check: judged.check, result: notJudged(unstable) } : judged,
  );

  // A problem stays if one of its checks still fails: a client passes that resends, or that accepts a wrong answer.
  const stillFailed = withoutFailures.filter(({ result }) => result.kind === "failed");
  const problemsLeft = problems.filter((problem) =>
    stillFailed.some(({ check }) => isProblemOf(problem, check)),
  );
  const judgment = { checks: withoutFailures, problems: problemsLeft, notes };
  return judgedClient(runs, mergeJudgments([judgeAdvice(runs), judgment]), unstable);
}

/** The runs show nothing but advice of level error, such as a key in the output, which is a problem all the same. Without one, there is no check of advice. */
export function clientNotJudged(runs: Runs, whyNotJudged?: Reason): JudgedClient {
  const advice = judgeAdvice(runs);
  return judgedClient(runs, advice.problems.length > 0 ? advice : nothingJudged, whyNotJudged);
}

/** The client with what its runs have shown. `whyNotJudged`: why they show nothing, or not all. */
function judgedClient(runs: Runs, judgment: Judgment, whyNotJudged?: Reason): JudgedClient {
  const { endedInBothPasses, plain, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of endedInBothPasses) {
    for (const name of run.scenarios) scenarios.add(name);
  }

  return {
    kind: "judged",
    ...judgment,
    runCount: endedInBothPasses.length,
    plain,
    scenarios: [...scenarios],
    isStopped,
    ...(whyNotJudged && { whyNotJudged }),
  };
}
