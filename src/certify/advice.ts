import { adviceTable } from "../rules/advice.js";
import { nameOf } from "./checks/check.js";
import {
  type Finding,
  failedResult,
  heldResult,
  type JudgedCheck,
  type Judgment,
  singleCheck,
} from "./checks/judgment.js";
import { againCommandOfRun } from "./client-runs/finding-parts.js";
import type { Runs } from "./client-runs/runs.js";

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
export function judgeAdvice({ endedInBothPasses, plan }: Runs): Judgment {
  const checks: JudgedCheck[] = [];
  const problems: Finding[] = [];
  for (const { id, level } of adviceTable) {
    if (level !== "error") continue;
    const runsWithAdvice = endedInBothPasses.filter(({ report }) =>
      report.advice.some((row) => row.id === id),
    );
    const [first] = runsWithAdvice;
    const advice = first?.report.advice.find((row) => row.id === id);
    if (first === undefined || advice === undefined) continue;

    const check = { kind: "advice", id } as const;
    const firstName = nameOf(first.purpose);
    const names = new Set(runsWithAdvice.map(({ purpose }) => nameOf(purpose)));
    checks.push({ check, result: failedResult });
    problems.push({
      name: nameOf(check),
      sentence: `${advice.meaning.replace(/\.$/, "")} (run ${firstName})`,
      whatToDo: advice.whatToDo,
      again: againCommandOfRun(first, plan),
      runs: first.purpose.kind === "plain" ? [firstName] : [...names],
    });
  }
  if (problems.length === 0) return singleCheck({ kind: "advice" }, heldResult);
  return { checks, problems, notes: [] };
}
