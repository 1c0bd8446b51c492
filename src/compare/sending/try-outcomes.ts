import { contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import type { PromisedOutcomeId, WhyByOutcome } from "../contract/promised-outcome.js";
import { recognizeApiInAll } from "./api-recognition.js";
import { rightful200s } from "./attempt.js";
import { repeatAttempt, tryOutcome } from "./send-attempt.js";
import type { Session } from "./session.js";

/** What was not sent of the requests for the outcomes that need no limit to be reached. */
interface TriedOutcomes {
  readonly whyNotTried: WhyByOutcome;
  /** Why a working key has not had its second request. */
  readonly whyNotRepeated: WhyByOutcome;
}

/** Sends a request for each outcome that needs no limit to be reached, and a second one with a key that works. */
export async function tryOutcomes(session: Session): Promise<TriedOutcomes> {
  const whyNotTried = new Map<PromisedOutcomeId, string>();
  const rows = contractOutcomes.filter(({ outcome }) => !isLimit(outcome));
  const rowsWithoutKey = rows.filter(({ variables }) => variables.length === 0);
  const rowsWithKey = rows.filter(({ variables }) => variables.length > 0);

  // A host gets a key only if its responses to the requests without one could be the API's.
  for (const row of rowsWithoutKey) {
    const result = await tryOutcome(session, row);
    if (result.kind === "not_sent") whyNotTried.set(row.outcome, result.why);
  }
  const recognition = recognizeApiInAll(session.attempts, session.options.url);
  session.endIfNotTheApi(recognition, "nothing was sent after the requests without a working key");
  for (const row of rowsWithKey) {
    const result = await tryOutcome(session, row);
    if (result.kind === "not_sent") whyNotTried.set(row.outcome, result.why);
  }

  // The second response to the same key shows whether requests are counted, and whether the rejected keys led to a lock.
  const whyNotRepeated = new Map<PromisedOutcomeId, string>();
  const [working] = rightful200s(session.attempts);
  if (working !== undefined) {
    const result = await repeatAttempt(session, working);
    if (result.kind === "not_sent") whyNotRepeated.set(working.outcome, result.why);
  }
  return { whyNotTried, whyNotRepeated };
}
