import type { PromisedPathId } from "../domain/outcomes.js";
import { describeAnswer } from "./answer.js";
import { type Attempt, judgeAttempt } from "./judge.js";
import { assumptionsYaml, type InferredAssumption } from "./learn.js";
import { type CheckedRule, checkedRules, type Difference, isDifference, type Observation } from "./rules.js";

export type Verdict = "agrees" | "differs" | "not_tried";

export interface VerdictRow {
  readonly verdict: Verdict;
  /** Why it was not tried. */
  readonly reason?: string | undefined;
}

interface PathRow extends VerdictRow {
  readonly pathId: PromisedPathId;
  /** The variable that the key came from. */
  readonly variable?: string | undefined;
  /** Status and code that came: `401 unauthorized`. */
  readonly got?: string | undefined;
}

interface RuleRow extends VerdictRow {
  readonly rule: CheckedRule;
  readonly title: string;
}

/** The findings of a check; holds no key. */
export interface CheckReport {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  readonly verdict: "agrees" | "differs" | "stopped";
  /** Why nothing could be compared, a sentence or two. */
  readonly stopped: string | undefined;
  readonly paths: readonly PathRow[];
  readonly rules: readonly RuleRow[];
  readonly differences: readonly Difference[];
  readonly assumptions: readonly InferredAssumption[];
  /** The assumptions as a block for a scenario. */
  readonly assumptionsYaml: string;
  readonly notes: readonly string[];
}

/** The results that a run has gathered. */
interface Gathered
  extends Pick<CheckReport, "url" | "requests" | "maxRequests" | "stopped" | "assumptions" | "notes"> {
  readonly attempts: readonly Attempt[];
  /** The results of comparing answers with one another. */
  readonly compared: readonly Observation[];
}

/** Judges and sums up what a run has gathered. */
export function reportOf({ attempts, compared, ...rest }: Gathered): CheckReport {
  const observations = [...attempts.flatMap(judgeAttempt), ...compared];
  const differences = observations.filter(isDifference);
  const differing = new Set(differences.map(({ pathId }) => pathId));
  const verdict = differences.length > 0 ? "differs" : "agrees";
  return {
    ...rest,
    verdict: rest.stopped === undefined ? verdict : "stopped",
    paths: attempts.map((attempt) => pathRow(attempt, differing.has(attempt.pathId))),
    rules: (Object.keys(checkedRules) as CheckedRule[]).map((rule) => ruleRow(rule, observations)),
    differences,
    assumptionsYaml: assumptionsYaml(rest.assumptions),
  };
}

function pathRow({ pathId, variable, answer, noAnswer, reason }: Attempt, differs: boolean): PathRow {
  return {
    pathId,
    variable,
    verdict: differs ? "differs" : reason === undefined ? "agrees" : "not_tried",
    got: answer === undefined ? noAnswer && "no answer" : describeAnswer(answer),
    reason,
  };
}

function ruleRow(rule: CheckedRule, observations: readonly Observation[]): RuleRow {
  const { title, never }: { title: string; never?: string } = checkedRules[rule];
  const about = observations.filter(({ rules }) => rules.includes(rule));
  if (about.some(isDifference)) return { rule, title, verdict: "differs" };
  if (about.length > 0) return { rule, title, verdict: "agrees" };
  return { rule, title, verdict: "not_tried", reason: never ?? "no answer shows it" };
}
