import { perMinutePath, readDayUse, wholeNumberIn } from "../response/members.js";
import { type Attempt, type CompletedAttempt, rightful200s } from "../sending/attempt.js";

/** Another key that can still get 200, with its latest 200, or why there is none. */
type OtherKey =
  | { readonly kind: "key"; readonly latestSuccess: CompletedAttempt }
  | { readonly kind: "no_key"; readonly why: string };

/** Finds another key than the one of an attempt that can still get 200. */
export function findOtherKey(attempts: readonly Attempt[], { apiKey }: Attempt): OtherKey {
  const successes = rightful200s(attempts).filter((success) => success.apiKey !== apiKey);
  if (successes.length === 0) return { kind: "no_key", why: "it needs another working key" };

  const latestSuccess = successes.findLast((success) => hasRequestLeft(success, successes));
  if (latestSuccess === undefined) {
    return { kind: "no_key", why: "each other working key is at its limit" };
  }
  return { kind: "key", latestSuccess };
}

/** Whether a key has had fewer 200s in the whole comparison than its limit of a minute, and its day is not used up. */
function hasRequestLeft(
  { apiKey, response }: CompletedAttempt,
  successes: readonly CompletedAttempt[],
): boolean {
  const day = readDayUse(response);
  if (day !== undefined && day.today >= day.perDay) return false;

  const perMinute = wholeNumberIn(response, perMinutePath);
  if (perMinute === undefined) return true;
  return successes.filter((success) => success.apiKey === apiKey).length < perMinute;
}
