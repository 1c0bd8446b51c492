import type { CompletedAttempt } from "../sending/attempt.js";

/**
 * Names the outcomes of the attempts that show one value: `each 401` in place of several, if all attempts with this status
 * that were read show it.
 */
export function listOutcomes(
  attempts: readonly CompletedAttempt[],
  attemptsRead: readonly CompletedAttempt[] = attempts,
): string[] {
  const words: string[] = [];
  for (const status of new Set(attempts.map(({ response }) => response.status))) {
    const attemptsOfStatus = attempts.filter(({ response }) => response.status === status);
    const allOfStatus = attemptsRead.filter(({ response }) => response.status === status);
    const outcomes = new Set(attemptsOfStatus.map(({ outcome }) => outcome));
    const isEach = attemptsOfStatus.length === allOfStatus.length;
    if (isEach && outcomes.size > 1) words.push(`each ${status}`);
    else words.push(...outcomes);
  }
  return words;
}
