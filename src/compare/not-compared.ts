import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions/assumptions.js";
import type { Comparison } from "./comparison.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import type { PromisedOutcomeId } from "./contract/promised-outcome.js";
import { judgeOutcomes } from "./judge-outcomes.js";
import type { NotTheApi } from "./sending/progress.js";
import type { Session } from "./sending/session.js";

/** The comparison of a host whose first responses are not the API's: nothing differs from the contract. */
export function describeNotCompared(session: Session, { why, message }: NotTheApi): Comparison {
  const { options, budget } = session;
  const whyNotTried = new Map<PromisedOutcomeId, string>();
  for (const { outcome } of contractOutcomes) {
    whyNotTried.set(outcome, session.whyNotTried.get(outcome) ?? why);
  }

  const { assumptions, unseenAssumptions } = learnAssumptions([]);
  return {
    url: options.url,
    comparedAt: isoTime(session.startedAt),
    requests: budget.sent,
    maxRequests: budget.maximum,
    whyNotCompared: message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: judgeOutcomes({
      attempts: [],
      differences: [],
      whyNotTried,
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
