import type { PathId } from "../domain/outcomes.js";
import { type Answer, type Attempt, isNoAnswer, memberAt, type NoAnswer, shown } from "./answer.js";
import { judgeAttempt, whyUntried } from "./judge.js";
import { assumptionsYaml, type InferredAssumption } from "./learn.js";
import { type CheckedRule, checkedRules, type Difference, isDifference, type Observation } from "./rules.js";

/** The result of comparing answers with the contract. */
export type Verdict = "agrees" | "differs" | "not_tried";

/** The result for a path. */
export interface PathRow {
  readonly pathId: PathId;
  readonly verdict: Verdict;
  /** The variable that the key came from. */
  readonly variable?: string | undefined;
  /** Status and code that came: `401 unauthorized`. */
  readonly got?: string;
  /** Why it was not tried. */
  readonly reason?: string;
}

/** The result for a rule. */
export interface RuleRow {
  readonly rule: CheckedRule;
  readonly title: string;
  readonly verdict: Verdict;
  /** Why it was not tried. */
  readonly reason?: string;
}

/** The findings of a check; holds no key. */
export interface CheckReport {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly requests: number;
  readonly maxRequests: number;
  readonly verdict: "agrees" | "differs" | "stopped";
  /** Why nothing could be compared, a sentence or two. */
  readonly stopped?: string;
  readonly paths: readonly PathRow[];
  readonly rules: readonly RuleRow[];
  readonly differences: readonly Difference[];
  readonly assumptions: readonly InferredAssumption[];
  /** The assumptions as a block for a scenario. */
  readonly assumptionsYaml: string;
  readonly notes: readonly string[];
}

/** The results that a run has gathered. */
interface Gathered extends Pick<CheckReport, "url" | "requests" | "maxRequests" | "assumptions" | "notes"> {
  readonly stopped: string | undefined;
  readonly attempts: readonly Attempt[];
  /** The results of comparing answers with one another. */
  readonly compared: readonly Observation[];
}

/** Judges and sums up what a run has gathered. */
export function reportOf({ attempts, compared, stopped, ...rest }: Gathered): CheckReport {
  const observations = [...attempts.flatMap(judgeAttempt), ...compared];
  const differences = observations.filter(isDifference);
  const differing = new Set(differences.map(({ pathId }) => pathId));
  return {
    ...rest,
    verdict: stopped !== undefined ? "stopped" : differences.length > 0 ? "differs" : "agrees",
    ...(stopped !== undefined && { stopped }),
    paths: attempts.map((attempt) => pathRow(attempt, differing.has(attempt.probe.pathId))),
    rules: (Object.keys(checkedRules) as CheckedRule[]).map((rule) => ruleRow(rule, observations)),
    differences,
    assumptionsYaml: assumptionsYaml(rest.assumptions),
  };
}

function pathRow({ probe: { pathId, variable }, reply, reason }: Attempt, differs: boolean): PathRow {
  const why = reason ?? (reply === undefined || isNoAnswer(reply) ? undefined : whyUntried(pathId, reply));
  return {
    pathId,
    ...(variable !== undefined && { variable }),
    verdict: differs ? "differs" : why === undefined ? "agrees" : "not_tried",
    ...(reply !== undefined && { got: describeReply(reply) }),
    ...(why !== undefined && { reason: why }),
  };
}

function describeReply(reply: Answer | NoAnswer): string {
  if (isNoAnswer(reply)) return "no answer";
  const code = memberAt(reply, "error", "code");
  return typeof code === "string" ? `${reply.status} ${shown(code)}` : String(reply.status);
}

function ruleRow(rule: CheckedRule, observations: readonly Observation[]): RuleRow {
  const { title, never }: { title: string; never?: string } = checkedRules[rule];
  const about = observations.filter(({ rules }) => rules.includes(rule));
  if (about.some(isDifference)) return { rule, title, verdict: "differs" };
  if (about.length > 0) return { rule, title, verdict: "agrees" };
  return { rule, title, verdict: "not_tried", reason: never ?? "no answer shows it" };
}
