import { rerunCommand } from "../../report/curl-line.js";
import { pluralize } from "../../report/plain-text.js";
import { nameOf } from "../checks/check.js";
import { type Finding, isProblemOf, type JudgedCheck } from "../checks/judgment.js";
import type { CertifyResult } from "./certificate.js";

// The words that all formats of a certificate have.

/** The first line of a certificate, without its full stop: the verdict, and how much was judged. */
export function conclusionLine(certified: CertifyResult): string {
  const { verdict, checks, problems, judged, notJudged, why } = certified;
  const limits = limitWords(certified);
  const problemCount = pluralize(problems.length + failedWithoutProblem(checks, problems).length, "problem");
  const notJudgedWords = notJudged === 0 ? "" : `, ${notJudged} of ${judged + notJudged} checks not judged`;
  switch (verdict) {
    case "passed":
      if (notJudged === 0) return `Passed${limits}: ${pluralize(judged, "check")}`;
      return `Passed${limits}: ${judged} of ${judged + notJudged} checks, ${notJudged} not judged`;
    case "failed":
      return `Failed${limits}: ${problemCount}${notJudgedWords}`;
    case "stopped":
      return `Stopped${limits}: ${problemCount} in the runs that were made${notJudgedWords}`;
    case "no_request":
      return `Not judged${limits}: the command sent no request`;
    case "not_judged":
      return `Not judged${limits}: ${why ?? "a part of the runs shows nothing"}`;
  }
}

export function failedWithoutProblem(checks: readonly JudgedCheck[], problems: readonly Finding[]): string[] {
  const names: string[] = [];
  for (const { check, result } of checks) {
    const hasProblem = problems.some((problem) => isProblemOf(problem, check));
    if (result.kind === "failed" && !hasProblem) names.push(nameOf(check));
  }
  return names;
}

/** As in " (only resend.401; allowed fault.status)"; empty if every run was made, and nothing is allowed. */
function limitWords({ only, allow }: Pick<CertifyResult, "only" | "allow">): string {
  const limits: string[] = [];
  if (only !== undefined) limits.push(`only ${only.join(", ")}`);
  if (allow.length > 0) limits.push(`allowed ${allow.join(", ")}`);
  return limits.length === 0 ? "" : ` (${limits.join("; ")})`;
}

/** How the user starts svc-sandbox, with the scenario if it was given. */
export interface Program {
  readonly program?: string;
  readonly scenario?: string | undefined;
}

export function againLine(
  { again: [by = "exec", ...flags] }: Pick<Finding, "again">,
  command: readonly string[],
  { program, scenario }: Program,
): string {
  const words = scenario === undefined ? flags : [scenario, ...flags];
  return rerunCommand(by, words, command, program);
}
