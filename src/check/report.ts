import type { SeenResponse } from "./against.js";
import { describeAnswer } from "./answer.js";
import { type Attempt, judgeAttempt } from "./judge.js";
import { assumptionsYaml, type InferredAssumption } from "./learn.js";
import type { LiveChange } from "./live-changes.js";
import { type CheckedRule, checkedRules, isDifference, type Observation } from "./rules.js";

export type Verdict = "agrees" | "differs" | "not_tried";

export interface VerdictRow {
  readonly verdict: Verdict;
  /** Why it was not tried. */
  readonly reason?: string | undefined;
}

/** The collected results of a run. */
interface Gathered {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** Why nothing could be compared, in one or two sentences. */
  readonly stopped: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly responses: readonly SeenResponse[];
  /** The results of comparing responses with each other. */
  readonly compared: readonly Observation[];
  readonly assumptions: readonly InferredAssumption[];
  /** Announced changes, if any are looked for. */
  readonly changes?: readonly LiveChange[] | undefined;
  readonly notes: readonly string[];
  /** Everything new since an earlier check. */
  readonly newFacts?: readonly string[] | undefined;
}

/** The findings of a check; contains no key. */
export type CheckReport = ReturnType<typeof reportOf>;

/** Judges and summarizes the results of a run. */
export function reportOf({ attempts, compared, ...rest }: Gathered) {
  const observations = [...attempts.flatMap(judgeAttempt), ...compared];
  const differences = observations.filter(isDifference);
  const inComparison = compared.filter(isDifference);
  const verdict: Verdict = differences.length > 0 ? "differs" : "agrees";
  return {
    ...rest,
    verdict: rest.stopped === undefined ? verdict : ("stopped" as const),
    paths: attempts.map((attempt) => {
      const isOf = ({ pathId }: Observation) => pathId === attempt.pathId;
      return pathRow(attempt, judgeAttempt(attempt).some(isDifference) || inComparison.some(isOf));
    }),
    rules: (Object.keys(checkedRules) as CheckedRule[]).map((rule) => ruleRow(rule, observations)),
    differences,
    /** The assumptions as a block for a scenario. */
    assumptionsYaml: assumptionsYaml(rest.assumptions),
  };
}

function pathRow({ pathId, variable, answer, noAnswer, reason }: Attempt, differs: boolean) {
  const verdict: Verdict = differs ? "differs" : reason === undefined ? "agrees" : "not_tried";
  return {
    pathId,
    variable,
    verdict,
    /** The response's status and code: `401 unauthorized`. */
    got: answer === undefined ? noAnswer && "no response" : describeAnswer(answer),
    reason,
  };
}

function ruleRow(rule: CheckedRule, observations: readonly Observation[]) {
  const { title, never }: { title: string; never?: string } = checkedRules[rule];
  const about = observations.filter(({ rules }) => rules.includes(rule));
  const row = (verdict: Verdict, reason?: string) => ({ rule, title, verdict, reason });
  if (about.some(isDifference)) return row("differs");
  return about.length > 0 ? row("agrees") : row("not_tried", never ?? "no response shows it");
}
