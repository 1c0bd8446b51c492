import { perDayPath, perMinutePath, todayPath, wholeNumberIn } from "../response/members.js";
import { type Attempt, type CompletedAttempt, completedWith } from "../sending/attempt.js";

/**
 * Finds the latest 200 of another key that can still get 200: it has had fewer 200s in the whole comparison than its limit of
 * a minute, and its day is not used up.
 */
export function findOtherKey(attempts: readonly Attempt[], limited: Attempt): CompletedAttempt | undefined {
  const successes = completedWith(attempts, 200);
  return successes.findLast(({ apiKey, response }) => {
    if (apiKey === limited.apiKey) return false;
    const ofKey = successes.filter((success) => success.apiKey === apiKey);
    const perMinute = wholeNumberIn(response, perMinutePath) ?? Number.POSITIVE_INFINITY;
    const perDay = wholeNumberIn(response, perDayPath) ?? Number.POSITIVE_INFINITY;
    const today = wholeNumberIn(response, todayPath) ?? 0;
    return ofKey.length < perMinute && today < perDay;
  });
}
