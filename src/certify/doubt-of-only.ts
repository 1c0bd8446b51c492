import type { Report } from "../report/report-shape.js";
import { asksFor, asksForOutcome } from "./checks/check.js";
import type { JudgedCheck, Reason } from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";
import { keysToSend } from "./coverage.js";

/** Why nothing of a name of `--only` is judged. It is the first name whose checks are all not judged; `undefined` if there is no such name. */
export function findDoubtOfOnly(
  { only = [] }: Pick<CertifyPlan, "only">,
  checks: readonly JudgedCheck[],
  report: Report,
): Reason | undefined {
  for (const name of only) {
    if (name === "plain") continue;
    const checksOfName = checks.filter(({ check }) => asksFor(name, check));
    if (checksOfName.length === 0) return coversNoOutcome(name, report);

    const reasons: Reason[] = [];
    for (const { result } of checksOfName) {
      if (result.kind === "not_judged") reasons.push(result.reason);
    }
    const isAnyJudged = reasons.length < checksOfName.length;
    const [firstReason] = reasons;
    if (isAnyJudged || firstReason === undefined) continue;
    return { why: `${name}: ${firstReason.why}`, whatToDo: firstReason.whatToDo };
  }
  return undefined;
}

/** Why there is no check of this name: the client covers none of the outcomes that it begins with, such as `answer.401`. */
function coversNoOutcome(name: string, report: Report): Reason {
  const keys = keysToSend(report.outcomes.filter(({ outcome }) => asksForOutcome(name, outcome)));

  // Some outcomes need no key of the scenario, such as `401.missing`.
  let whatToDo = "Send a request that ends there, and check its response.";
  if (keys !== "") whatToDo = `Send a key that ends there, and check its response: ${keys}`;
  return { why: `the client covers no outcome of ${name}`, whatToDo };
}
