import { type Findings, noFindings, type Unjudged } from "../contract/findings.js";
import { contractOutcomes, findKey, isLimit, plannedSuccesses } from "../contract/keys-of-outcomes.js";
import { isOfTheApi, whyNoneIsOfTheApi } from "./api-recognition.js";
import { type PlannedRequest, rightful200s } from "./attempt.js";
import { send } from "./send.js";
import type { Session } from "./session.js";

/** Sends a request for each outcome that needs no limit to be reached, and a second one with a key that works. */
export async function tryOutcomes(session: Session): Promise<Findings> {
  const { attempts, options } = session;
  const unjudged: Unjudged[] = [];
  const withoutKey: PlannedRequest[] = [];
  const withKey: PlannedRequest[] = [];
  for (const row of contractOutcomes) {
    const { outcome } = row;
    if (isLimit(outcome)) continue;
    const key = findKey(row, options.env);
    if (key.kind === "no_key") unjudged.push({ outcomes: [outcome], why: key.why });
    else if (key.variable === undefined) withoutKey.push({ outcome });
    else withKey.push({ outcome, variable: key.variable });
  }

  const sendAll = async (requests: readonly PlannedRequest[]) => {
    for (const request of requests) {
      const result = await send(session, request);
      if (result.kind === "not_sent") unjudged.push({ outcomes: [request.outcome], why: result.why });
    }
  };
  // A host gets a key only if its responses to the requests without one could be the API's. As soon as one is, a working key
  // comes before the keys that are rejected: these can lead to a lock.
  const [first, ...otherWithoutKey] = withoutKey;
  if (first !== undefined) await sendAll([first]);
  const [working] = attempts.some(isOfTheApi) ? plannedSuccesses(options.env) : [];
  if (working !== undefined) await sendAll([working]);
  await sendAll(otherWithoutKey);
  const message = whyNoneIsOfTheApi(attempts, options.url);
  session.endIfNotTheApi(message, "nothing was sent after the requests without a working key");
  await sendAll(withKey.filter(({ outcome }) => outcome !== working?.outcome));

  // The second response to the same key shows whether requests are counted, and whether the rejected keys led to a lock.
  const [success] = rightful200s(attempts);
  if (success !== undefined) {
    const { outcome, variable } = success;
    const result = await send(session, { outcome, variable });
    if (result.kind === "not_sent") {
      unjudged.push({ outcomes: [outcome], rule: "R24", at: "$.data.usage.today", why: result.why });
    }
  }
  return { ...noFindings, unjudged };
}
