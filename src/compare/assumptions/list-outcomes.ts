import type { CompletedAttempt } from "../sending/attempt.js";

/**
 * Names the outcomes of the attempts that show one value: `each 401` in place of several, if all attempts with this status
 * that were read show it.
 */
export function listOutcomes(
  ofValue: readonly CompletedAttempt[],
  attemptsRead: readonly CompletedAttempt[],
): string[] {
  const words: string[] = [];
  for (const status of new Set(ofValue.map(({ response }) => response.status))) {
    const ofStatus = ofValue.filter(({ response }) => response.status === status);
    const readOfStatus = attemptsRead.filter(({ response }) => response.status === status);
    const outcomes = new Set(ofStatus.map(({ outcome }) => outcome));
    const isEach = ofStatus.length === readOfStatus.length;
    if (isEach && outcomes.size > 1) words.push(`each ${status}`);
    else words.push(...outcomes);
  }
  return words;
}
