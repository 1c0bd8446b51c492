import type { CompletedAttempt } from "../sending/attempt.js";

/** A reading of a value, as far as its outcome is named: the attempt with the response that has the value. */
interface ReadAttempt {
  readonly attempt: CompletedAttempt;
}

/** Names the outcomes of the readings with one value: `each 401` for several, if no other reading has this status. */
export function listOutcomes(ofValue: readonly ReadAttempt[], all: readonly ReadAttempt[]): string[] {
  const words: string[] = [];
  for (const status of new Set(ofValue.map(({ attempt }) => attempt.response.status))) {
    const ofStatus = ofValue.filter(({ attempt }) => attempt.response.status === status);
    const allOfStatus = all.filter(({ attempt }) => attempt.response.status === status);
    const outcomes = new Set(ofStatus.map(({ attempt }) => attempt.outcome));
    const isEach = ofStatus.length === allOfStatus.length;
    if (isEach && outcomes.size > 1) words.push(`each ${status}`);
    else words.push(...outcomes);
  }
  return words;
}
