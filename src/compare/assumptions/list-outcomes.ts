import type { CompletedAttempt } from "../sending/attempt.js";

/**
 * Names the outcomes of the attempts that show one value: `each 401` in place of several, if all attempts with this status
 * show it. `all` are the attempts that show any value.
 */
export function listOutcomes(
  ofValue: readonly CompletedAttempt[],
  all: readonly CompletedAttempt[],
): string[] {
  const words: string[] = [];
  for (const status of new Set(ofValue.map(({ response }) => response.status))) {
    const ofStatus = ofValue.filter(({ response }) => response.status === status);
    const allOfStatus = all.filter(({ response }) => response.status === status);
    const outcomes = new Set(ofStatus.map(({ outcome }) => outcome));
    const isEach = ofStatus.length === allOfStatus.length;
    if (isEach && outcomes.size > 1) words.push(`each ${status}`);
    else words.push(...outcomes);
  }
  return words;
}
