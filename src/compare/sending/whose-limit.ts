import { pluralize } from "../../report/plain-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { numberText, perDayPath, perMinutePath, readDayUse, wholeNumberIn } from "../response/members.js";
import { type Attempt, type Evidence, got200 } from "./attempt.js";

// Whose limit a 429 is: it shows the limit of its outcome only if it is the key's own. A lock of the address, and a limiter
// before the API, send 429, too. The earlier requests tell:
//
// | 429 to a request for | with a key that has had | evidence |
// |---|---|---|
// | a limit | no 200 | `judged`: by the name of its variable, the key is at its limit |
// | a 200 | no 200 | `minute_used_before`: an earlier comparison may have used up the key's minute |
// | a 401 or a 403 | no 200 | `limit_in_doubt`: a rejected key has no limits |
// | a limit | 200s that used up this limit | `judged` |
// | any other | 200s | `limit_in_doubt` |
//
// A later request without a key, or with another one, can show more: `waits.ts` sends it after a 429 that was not asked for,
// and `confirm-limit.ts` after one that is judged.

/** Weighs a 429 by the requests before it. */
export function weighLimit(
  { outcome, apiKey, sentAt }: Pick<Attempt, "outcome" | "apiKey" | "sentAt">,
  earlier: readonly Attempt[],
): Evidence {
  const successes = earlier.filter(got200).filter((success) => success.apiKey === apiKey);
  const last = successes.at(-1)?.response;
  if (last === undefined) return weighFirstLimit(outcome, earlier.length);

  const use = readDayUse(last);
  const isDayUsedUp = use !== undefined && use.today >= use.perDay;
  if (outcome === "429.per_day" && isDayUsedUp) return { kind: "judged" };

  const perMinute = wholeNumberIn(last, perMinutePath);
  const inMinute = successes.filter(({ receivedAt }) => receivedAt >= sentAt - minute);
  const isMinuteUsedUp = perMinute !== undefined && inMinute.length >= perMinute;
  if (outcome === "429.per_minute" && isMinuteUsedUp) return { kind: "judged" };

  const limit = perMinute === undefined ? "no number" : numberText(last, perMinutePath, perMinute);
  let why = `after ${pluralize(successes.length, "request")} of the key; its per_minute is ${limit}`;
  if (isDayUsedUp) why += `, and its day is used up: per_day is ${numberText(last, perDayPath, use.perDay)}`;
  return { kind: "limit_in_doubt", why };
}

/** Weighs the 429 to a key that has had no 200: its limits are not known. */
function weighFirstLimit(outcome: PromisedOutcomeId, requestsBefore: number): Evidence {
  const before = `after ${pluralize(requestsBefore, "request")}`;
  switch (outcomeRow(outcome).status) {
    case 429:
      return { kind: "judged" };
    case 200:
      return { kind: "minute_used_before", why: `${before}, the first one with this key` };
    default:
      return { kind: "limit_in_doubt", why: `${before}; a rejected key has no limits` };
  }
}
