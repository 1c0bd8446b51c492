import { type ContractOutcome, contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { got200, rightful200s } from "../sending/attempt.js";
import { tryOutcome } from "../sending/send-attempt.js";
import type { Session } from "../sending/session.js";
import { confirmLimit } from "./confirm-limit.js";
import { useUpMinute } from "./use-up-minute.js";

/** Reaches the limits: with keys at their limits, or by using up a working key's minute if enough requests are left. */
export async function tryLimits(session: Session): Promise<ContractDifference[]> {
  const differences: ContractDifference[] = [];
  for (const row of contractOutcomes.filter(({ outcome }) => isLimit(outcome))) {
    if (session.options.probeLimits) differences.push(...(await tryLimit(session, row)));
    else session.whyNotTried.set(row.outcome, "limits are only reached on purpose with --probe-limits");
  }
  return differences;
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<ContractDifference[]> {
  // The key of the variable should be at its limit.
  const result = await tryOutcome(session, row);
  if (result.kind === "sent" && result.attempt.response?.status === 429) {
    return confirmLimit(session, result.attempt);
  }
  if (row.outcome !== "429.per_minute") return [];

  // A working key reaches the limit of a minute by its requests: that of the variable or, without one, the first that works.
  if (result.kind === "sent") {
    return got200(result.attempt) ? useUpMinute(session, result.attempt) : [];
  }
  const [firstSuccess] = rightful200s(session.attempts);
  return firstSuccess === undefined ? [] : useUpMinute(session, firstSuccess);
}
