import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions/assumptions.js";
import type { Comparison } from "./comparison.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import type { PromisedOutcomeId, WhyByOutcome } from "./contract/promised-outcome.js";
import { judgeOutcomes } from "./judge-outcomes.js";
import type { NotTheApi } from "./sending/progress.js";
import type { Session } from "./sending/session.js";

/** The comparison of a host whose first responses are not the API's: nothing differs from the contract. */
export function describeNotCompared(
  { options, budget, startedAt }: Session,
  { why, message }: NotTheApi,
  whyNotTried: WhyByOutcome,
): Comparison {
  // An outcome whose request was sent has no reason of its own.
  const whyNotCompared = new Map<PromisedOutcomeId, string>();
  for (const { outcome } of contractOutcomes) {
    whyNotCompared.set(outcome, whyNotTried.get(outcome) ?? why);
  }

  const { assumptions, unseenAssumptions } = learnAssumptions([]);
  return {
    url: options.url,
    comparedAt: isoTime(startedAt),
    requests: budget.sent,
    maxRequests: budget.maximum,
    whyNotCompared: message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: judgeOutcomes({
      attempts: [],
      differences: [],
      whyNotTried: whyNotCompared,
      openCounts: new Map(),
      openCauses: new Map(),
      openPlaces: [],
    }),
    openCauses: [],
    openPlaces: [],
    assumptions,
    unseenAssumptions,
    unlikeKeyStates: {},
    differences: [],
  };
}
