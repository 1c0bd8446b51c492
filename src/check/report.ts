import type { PathId } from "../domain/outcomes.js";
import { assumptionsYaml } from "./assumptions-yaml.js";
import { type CheckedRule, checkedRules } from "./checked-rules.js";
import type { Lesson } from "./learn.js";
import type { Difference, Observation } from "./observation.js";

/** Whether what was seen is what the contract says. */
export type Verdict = "agrees" | "differs" | "not_tried";

/** What became of a path. */
export interface PathRow {
  readonly pathId: PathId;
  readonly verdict: Verdict;
  /** The variable that the key came from. */
  readonly variable?: string;
  /** What it got: `401 unauthorized`. */
  readonly got?: string;
  /** Why it was not tried. */
  readonly reason?: string;
}

/** What became of a rule. */
export interface RuleRow {
  readonly rule: CheckedRule;
  readonly title: string;
  readonly verdict: Verdict;
  readonly reason?: string;
}

/** Everything that a check found; no key is in it. */
export interface CheckReport {
  /** The URL that was asked. */
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  readonly verdict: "agrees" | "differs" | "stopped";
  /** Why nothing could be compared, a sentence or two. */
  readonly stopped?: string;
  readonly paths: readonly PathRow[];
  readonly rules: readonly RuleRow[];
  readonly differences: readonly Difference[];
  readonly lessons: readonly Lesson[];
  /** The lessons as a block for a scenario. */
  readonly assumptions: string;
  readonly notes: readonly string[];
}

/** What a run has gathered. */
export interface Gathered {
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  readonly stopped: string | undefined;
  readonly tried: readonly PathRow[];
  readonly observations: readonly Observation[];
  readonly lessons: readonly Lesson[];
  readonly notes: readonly string[];
}

/** Sums up what a run has gathered. */
export function reportOf({ tried, observations, stopped, lessons, ...rest }: Gathered): CheckReport {
  const differences = observations.flatMap(({ difference }) => difference ?? []);
  const verdict = stopped !== undefined ? "stopped" : differences.length > 0 ? "differs" : "agrees";
  return {
    ...rest,
    verdict,
    ...(stopped !== undefined && { stopped }),
    paths: tried.map((row) => withVerdict(row, differences)),
    rules: (Object.keys(checkedRules) as CheckedRule[]).map((rule) => ruleRow(rule, observations)),
    differences,
    lessons,
    assumptions: assumptionsYaml(lessons),
  };
}

function withVerdict(row: PathRow, differences: readonly Difference[]): PathRow {
  const differs = differences.some(({ pathId }) => pathId === row.pathId);
  return differs ? { ...row, verdict: "differs" } : row;
}

function ruleRow(rule: CheckedRule, observations: readonly Observation[]): RuleRow {
  const row: { title: string; never?: string } = checkedRules[rule];
  const about = observations.filter(({ rules }) => rules.includes(rule));
  const base = { rule, title: row.title };
  if (about.some(({ difference }) => difference !== undefined)) return { ...base, verdict: "differs" };
  if (about.length > 0) return { ...base, verdict: "agrees" };
  return { ...base, verdict: "not_tried", reason: row.never ?? "no answer shows it" };
}
