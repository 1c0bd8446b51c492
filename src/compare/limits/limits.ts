import { textOfVariable } from "../contract/key-variables.js";
import { type ContractOutcome, contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import type { PromisedOutcomeId, WhyByOutcome } from "../contract/promised-outcome.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { type Attempt, got200, rightful200s } from "../sending/attempt.js";
import { tryOutcome } from "../sending/send-attempt.js";
import type { Session } from "../sending/session.js";
import { confirmLimit } from "./confirm-limit.js";
import { type TriedLimit, useUpMinute } from "./use-up-minute.js";

/** What came of trying the limits. */
interface TriedLimits {
  readonly differences: readonly ContractDifference[];
  readonly whyNotTried: WhyByOutcome;
}

/** Reaches the limits: with keys at their limits, or by using up a working key's minute if enough requests are left. */
export async function tryLimits(session: Session): Promise<TriedLimits> {
  const differences: ContractDifference[] = [];
  const whyNotTried = new Map<PromisedOutcomeId, string>();
  for (const row of contractOutcomes.filter(({ outcome }) => isLimit(outcome))) {
    const tried = await tryLimit(session, row);
    if (tried.kind === "tried") differences.push(...tried.differences);
    else whyNotTried.set(row.outcome, tried.why);
  }
  return { differences, whyNotTried };
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<TriedLimit> {
  if (!session.options.probeLimits) {
    return { kind: "not_tried", why: "limits are only reached on purpose with --probe-limits" };
  }

  // The key of the variable should be at its limit.
  const result = await tryOutcome(session, row);
  if (result.kind === "sent" && result.attempt.response?.status === 429) {
    return { kind: "tried", differences: await confirmLimit(session, result.attempt) };
  }

  // A working key reaches the limit of a minute by its requests: that of the variable or, if none is set, the first that works.
  if (row.outcome === "429.per_minute") {
    const working = result.kind === "sent" ? result.attempt : findInstead(session, row);
    if (working !== undefined && got200(working)) return useUpMinute(session, working);
  }
  return result.kind === "sent" ? { kind: "tried", differences: [] } : { kind: "not_tried", why: result.why };
}

/** Returns a 200 of the first key that works; `undefined` if there is none, or if a variable of the row is set. */
function findInstead({ attempts, options }: Session, { variables }: ContractOutcome): Attempt | undefined {
  const isAnySet = variables.some((variable) => textOfVariable(variable, options.env) !== "");
  return isAnySet ? undefined : rightful200s(attempts)[0];
}
